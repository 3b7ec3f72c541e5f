"""An agent that searches the handbook with a judgement: `python app.py "When is a refund paid?"`."""

import sys
from pathlib import Path
from typing import Any

from haystack import Document
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.tools import ComponentTool

from haystack_integrations.crag.deciding.abstention import in_words
from haystack_integrations.crag.deciding.abstention_words import doubtful
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.indexing import index

HANDBOOK = Path(__file__).parents[1] / "existing_app" / "handbook"
ROLE = "Answer from the handbook only: search it, cite its pages as [refunds.md], and say so when it does not answer."
# A model that asks again and again what is not there would go on for Haystack's 100 steps.
STEPS = 6
# The model is offered the words to choose, and no filters, budget or mode. That is no lock: Haystack hands on what
# else a call holds; docs/permissions.md has one, for documents that not everyone may see.
QUESTION_ONLY = {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "A whole question, in the user's words."}},
    "required": ["query"],
}


def evidence_in_words(found: dict[str, Any]) -> str:
    """
    Give the agent's model the passages by their pages, since every search has a first one, or why there are none.

    Where it is in doubt that they answer, that is said above them.
    """
    if documents := found["documents"]:
        pages = (f"[{document.meta['source']}] {document.content}" for document in documents)
        return "\n".join([*filter(None, [doubtful(found["crag"], documents)]), *pages])
    return in_words("The handbook does not answer this.", found["crag"]["trail"][-1], explain=True)


def open_agent() -> Agent:
    """Index the handbook, and give an agent the search over it."""
    store = InMemoryDocumentStore(index="agent", embedding_similarity_function="cosine")
    index(HANDBOOK, store)
    search = ComponentTool(
        component=load("corrective_retrieval", store=store),
        name="search_handbook",
        description="Search the handbook: gives passages that answer the question, or says that there are none.",
        parameters=QUESTION_ONLY,
        outputs_to_string={"handler": evidence_in_words},
        outputs_to_state={"documents": {"source": "documents"}, "decisions": {"source": "crag"}},
    )
    state = {"documents": {"type": list[Document]}, "decisions": {"type": list[dict[str, Any]]}}
    model = OpenAIChatGenerator(model="gpt-5-mini")
    return Agent(chat_generator=model, tools=[search], system_prompt=ROLE, state_schema=state, max_agent_steps=STEPS)


if __name__ == "__main__":
    result = open_agent().run(messages=[ChatMessage.from_user(sys.argv[1])])
    print(result["last_message"].text or f"No answer after {STEPS} steps.")
    for record in result.get("decisions", []):
        print("Searched:", " | ".join(record["queries"]), "->", record["verdict"])
