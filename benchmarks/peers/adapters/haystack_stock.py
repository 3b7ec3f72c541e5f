"""
Stock Haystack in its two recommended forms, each as small as its documentation shows it, in our own words.

`haystack_llm_ranker`: retriever, `LLMRanker`, `ChatPromptBuilder`, `OpenAIChatGenerator`. The ranker drops what its
model does not name, so it decides what the generator reads; there is no route.

`haystack_web_fallback`: the pattern of tutorial 36: the model is told to reply `no_answer` when the documents do not
answer; a `ConditionalRouter` looks for that word and then asks the web, whose results go to a second prompt.

Changed to run here: retriever and web are the world's; LLMRanker's default generator speaks OpenAI's Responses API,
which few other servers have, so it gets an `OpenAIChatGenerator` with the JSON schema that its page shows for one.
"""

from collections.abc import Callable
from typing import Any

from haystack import Document, Pipeline, component
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.rankers import LLMRanker
from haystack.components.routers import ConditionalRouter
from haystack.dataclasses import ChatMessage
from worker import Answer, search, serve, system, web

PACKAGES = ("haystack-ai", "openai")
MODEL = "gpt-4.1-mini"
_DOCUMENTS = "{% for document in documents %}\n{{ document.content }}\n{% endfor %}"
_CLOSED = {"type": "object", "additionalProperties": False}
_INDEX = {**_CLOSED, "properties": {"index": {"type": "integer"}}, "required": ["index"]}
_RANKING = {
    **_CLOSED,
    "properties": {"documents": {"type": "array", "items": _INDEX}},
    "required": ["documents"],
}
RANKED = {"type": "json_schema", "json_schema": {"name": "document_ranking", "schema": _RANKING}}


@component
class Retriever:
    """A retriever around the world's /search."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int = 10) -> dict[str, Any]:
        """
        Search.

        :param query: What to search for.
        :param top_k: Most documents.
        :returns: The documents.
        """
        return {"documents": [Document(id=one["id"], content=one["text"]) for one in search(query, top_k)]}


@component
class WebSearch:
    """A web search around the world's /web, with the size that SerperDevWebSearch has by default."""

    @component.output_types(documents=list[Document], links=list[str])
    def run(self, query: str) -> dict[str, Any]:
        """
        Search.

        :param query: What to search for.
        :returns: Documents and links.
        """
        found = web(query, 10)
        documents = [Document(content=one["text"], meta={"title": one["title"], "link": one["url"]}) for one in found]
        return {"documents": documents, "links": [one["url"] for one in found]}


def prompt(text: str) -> ChatPromptBuilder:
    """
    Build a prompt of one message in which nothing may be missing.

    :param text: Its template.
    :returns: The builder.
    """
    return ChatPromptBuilder(template=[ChatMessage.from_user(text)], required_variables="*")


def llm_ranker() -> Answer:
    """
    Build retriever, ranker, prompt and generator.

    :returns: What answers a question.
    """
    judge = OpenAIChatGenerator(model=MODEL, generation_kwargs={"temperature": 0.0, "response_format": RANKED})
    pipeline = Pipeline()
    pipeline.add_component("retriever", Retriever())
    pipeline.add_component("ranker", LLMRanker(chat_generator=judge))
    pipeline.add_component(
        "prompt", prompt(f"Answer the question from these documents.\n\n{_DOCUMENTS}\n\nQuestion: {{{{ question }}}}")
    )
    pipeline.add_component("llm", OpenAIChatGenerator(model=MODEL))
    pipeline.connect("retriever.documents", "ranker.documents")
    pipeline.connect("ranker.documents", "prompt.documents")
    pipeline.connect("prompt.prompt", "llm.messages")

    def answer(question: str, k: int) -> dict[str, Any]:
        given = {"retriever": {"query": question, "top_k": k}, "ranker": {"query": question}}
        result = pipeline.run({**given, "prompt": {"question": question}}, include_outputs_from={"ranker"})
        kept = [document.id for document in result["ranker"]["documents"]]
        return {"answer": result["llm"]["replies"][0].text, "kept": kept}

    return answer


def web_fallback() -> Answer:
    """
    Build the pattern of tutorial 36.

    :returns: What answers a question.
    """
    pipeline = Pipeline()
    pipeline.add_component("retriever", Retriever())
    pipeline.add_component(
        "prompt",
        prompt(
            "Use only the documents to answer the question. When they do not hold the answer, reply 'no_answer'.\n\n"
            f"Documents:\n{_DOCUMENTS}\n\nQuestion: {{{{ query }}}}"
        ),
    )
    pipeline.add_component("llm", OpenAIChatGenerator(model=MODEL))
    pipeline.add_component("router", ConditionalRouter(_ROUTES))
    pipeline.add_component("websearch", WebSearch())
    pipeline.add_component(
        "web_prompt",
        prompt(
            "Use these documents from the web to answer the question, and say that the answer is from the web.\n\n"
            f"Documents:\n{_DOCUMENTS}\n\nQuestion: {{{{ query }}}}"
        ),
    )
    pipeline.add_component("web_llm", OpenAIChatGenerator(model=MODEL))
    pipeline.connect("retriever.documents", "prompt.documents")
    pipeline.connect("prompt.prompt", "llm.messages")
    pipeline.connect("llm.replies", "router.replies")
    pipeline.connect("router.go_to_web", "websearch.query")
    pipeline.connect("router.go_to_web", "web_prompt.query")
    pipeline.connect("websearch.documents", "web_prompt.documents")
    pipeline.connect("web_prompt.prompt", "web_llm.messages")

    def answer(question: str, k: int) -> dict[str, Any]:
        given = {"retriever": {"query": question, "top_k": k}, "prompt": {"query": question}}
        result = pipeline.run({**given, "router": {"query": question}})
        if "web_llm" in result:
            return {"answer": result["web_llm"]["replies"][0].text, "route": "web"}
        return {"answer": result["router"]["answer"], "route": "generate"}

    return answer


_ROUTES: list[Any] = [
    {
        "condition": "{{ 'no_answer' in replies[0].text }}",
        "output": "{{ query }}",
        "output_name": "go_to_web",
        "output_type": str,
    },
    {
        "condition": "{{ 'no_answer' not in replies[0].text }}",
        "output": "{{ replies[0].text }}",
        "output_name": "answer",
        "output_type": str,
    },
]
SYSTEMS: dict[str, Callable[[], Answer]] = {"haystack_llm_ranker": llm_ranker, "haystack_web_fallback": web_fallback}


def prepare(name: str) -> Answer:
    """
    Build one of the systems.

    :param name: Its name.
    :returns: What answers a question.
    """
    return SYSTEMS[name]()


if __name__ == "__main__":
    serve(prepare(system()), PACKAGES)
