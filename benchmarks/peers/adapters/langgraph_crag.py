"""
LangGraph: corrective RAG as its own example describes it, as an adapter of the comparison.

Written from LangGraph's example "Corrective RAG" (langchain-ai/langgraph, examples/rag/langgraph_crag.ipynb) and the
documentation of LangGraph and langchain-openai. No code and no prompt is copied: prompts have their own wording with
the same meaning. The structure of the calls is the example's: retrieve; grade one document after another with
structured output, yes or no; when any is not relevant, rewrite the question and search the web; generate once. As in
the example the rewritten question replaces the user's, also for the answer.

What differs from the example, and why:
- retriever and web search are the comparison's own, in place of a vector store and Tavily (3 results, as there);
- the prompt for the answer stands here, since the example loads it from an online hub;
- documents reach the answer's prompt as their texts, which the example's `format_docs` is for; the example hands over
  the list of objects, whose printed form is longer and would cost it more tokens;
- the chat model is named `gpt-4o-mini`, for which this langchain-openai asks for structured output by JSON schema, its
  default; for the example's `gpt-3.5-turbo-0125` it warns and falls back to a tool call.
"""

import os
from typing import Any, TypedDict

os.environ["LANGSMITH_TRACING"] = "false"  # nothing may leave this machine

from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel, Field
from worker import Answer, search, serve, url, web

WEB_RESULTS = 3
PACKAGES = ("langgraph", "langchain-core", "langchain-openai", "openai")

GRADE_PROMPT = (
    "You check whether a retrieved document is relevant to a question. Words or a meaning in common with the question "
    "make it relevant. Reply with a binary score, 'yes' or 'no'."
)
REWRITE_PROMPT = (
    "You rewrite questions so that {target} finds more. Think about what the asker means and say that in better words."
)
ANSWER_PROMPT = (
    "Answer the question from the retrieved context below. Say that you do not know when the context does not answer "
    "it. Be brief: at most three sentences.\n\nQuestion: {question}\n\nContext:\n{context}\n\nAnswer:"
)


class DocumentGrade(BaseModel):
    """Whether a retrieved document is relevant."""

    binary_score: str = Field(description="'yes' when the document is relevant to the question, otherwise 'no'")


class State(TypedDict, total=False):
    """What the nodes of the graph share."""

    question: str
    documents: list[Document]
    web_search: bool
    generation: str
    k: int


def chat_model() -> ChatOpenAI:
    """The world's chat model, with the client's own retries and time limit."""
    return ChatOpenAI(model="gpt-4o-mini", temperature=0, base_url=f"{url()}/v1", api_key="none")


def grader(instruction: str, asked: str, reply: type[BaseModel]) -> Runnable[Any, Any]:
    """A prompt, and the model's reply to it in a given form."""
    prompt = ChatPromptTemplate.from_messages([("system", instruction), ("human", asked)])
    return prompt | chat_model().with_structured_output(reply)


def document_grader(instruction: str = GRADE_PROMPT) -> Runnable[Any, Any]:
    """Grade one document."""
    return grader(instruction, "Document:\n\n{document}\n\nQuestion: {question}", DocumentGrade)


def rewriter(target: str) -> Runnable[Any, str]:
    """Rewrite a question for a web search or for the retriever."""
    asked = "The first question:\n\n{question}\n\nGive an improved question."
    prompt = ChatPromptTemplate.from_messages([("system", REWRITE_PROMPT), ("human", asked)])
    return prompt.partial(target=target) | chat_model() | StrOutputParser()


def answerer() -> Runnable[Any, str]:
    """Answer a question from texts."""
    return ChatPromptTemplate.from_template(ANSWER_PROMPT) | chat_model() | StrOutputParser()


def texts(documents: list[Document]) -> str:
    """The texts of documents, as they stand in a prompt."""
    return "\n\n".join(document.page_content for document in documents)


def retrieved(question: str, k: int) -> list[Document]:
    """Ask the comparison's retriever."""
    return [Document(id=found["id"], page_content=found["text"]) for found in search(question, k)]


def searched(question: str) -> Document:
    """Ask the comparison's web search; as in the example all results make one document."""
    return Document(page_content="\n".join(found["text"] for found in web(question, WEB_RESULTS)))


def kept(documents: list[Document]) -> list[str]:
    """Name the retrieved documents among these; what the web gave has no id."""
    return [document.id for document in documents if document.id is not None]


def build() -> Any:
    """Build the graph."""
    grade, rewrite, answer = document_grader(), rewriter("a web search"), answerer()

    def grade_documents(state: State) -> State:
        relevant, missing = [], False
        for document in state["documents"]:
            reply = grade.invoke({"question": state["question"], "document": document.page_content})
            if reply.binary_score == "yes":
                relevant.append(document)
            else:
                missing = True
        return {"documents": relevant, "web_search": missing}

    graph = StateGraph(State)
    graph.add_node("retrieve", lambda state: {"documents": retrieved(state["question"], state["k"])})
    graph.add_node("grade_documents", grade_documents)
    graph.add_node("rewrite", lambda state: {"question": rewrite.invoke({"question": state["question"]})})
    graph.add_node("search_web", lambda state: {"documents": [*state["documents"], searched(state["question"])]})
    graph.add_node("generate", lambda state: {"generation": answer.invoke(_asked(state))})
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "grade_documents")
    graph.add_conditional_edges("grade_documents", lambda state: "rewrite" if state["web_search"] else "generate")
    graph.add_edge("rewrite", "search_web")
    graph.add_edge("search_web", "generate")
    graph.add_edge("generate", END)
    return graph.compile()


def _asked(state: State) -> dict[str, str]:
    return {"question": state["question"], "context": texts(state["documents"])}


def prepare() -> Answer:
    """Build the graph and give a function that asks it."""
    app = build()

    def answer(question: str, k: int) -> dict[str, Any]:
        state = app.invoke({"question": question, "k": k})
        route = "web" if state["web_search"] else "generate"
        return {"answer": state["generation"], "route": route, "kept": kept(state["documents"])}

    return answer


if __name__ == "__main__":
    serve(prepare(), PACKAGES)
