"""
LangGraph: the adaptive loop (route, grade, generate, check the answer twice) as its own example describes it.

Written from LangGraph's example "Adaptive RAG" (langchain-ai/langgraph, examples/rag/langgraph_adaptive_rag.ipynb) and
the documentation of LangGraph and langchain-openai. No code and no prompt is copied: prompts have their own wording
with the same meaning. The structure of the calls is the example's: route the question to retriever or web; grade one
document after another; when none is relevant, rewrite the question and retrieve again; else generate, ask whether the
answer is grounded in the documents (no: generate again) and whether it resolves the question (no: rewrite and
retrieve again). As in the example the rewritten question replaces the user's.

What differs from the example, and why: as in `langgraph_crag.py`, whose parts are used here; and
- the router's prompt says that the collection is about such questions, since it cannot name the topics of each corpus;
- the recursion limit is given: 25 steps, long LangGraph's documented default. The one of the installed version is
  10007, with which a question that nothing answers takes thousands of calls. At the limit LangGraph raises
  GraphRecursionError, and the example has no answer then.

Its route is `web` when it asked the web, `retry` when it rewrote the question and retrieved again, else `generate`;
what it kept is of its last retrieval.
"""

from collections.abc import Callable
from typing import Any, Literal

from langchain_core.documents import Document
from langgraph.graph import END, START, StateGraph
from langgraph_crag import (
    PACKAGES,
    State,
    answerer,
    document_grader,
    grader,
    kept,
    retrieved,
    rewriter,
    searched,
    texts,
)
from pydantic import BaseModel, Field
from worker import Answer, serve

RECURSION_LIMIT = 25

ROUTE_PROMPT = (
    "You decide where a question is looked up: in a vectorstore or on the web. The vectorstore holds a collection of "
    "documents about the questions' subject. Choose it for questions on that subject, otherwise web_search."
)
GRADE_PROMPT = (
    "You check whether a retrieved document is relevant to a question. Words or a meaning in common with the question "
    "make it relevant. Do not be strict: only what was retrieved by mistake is to go. Reply with a binary score, "
    "'yes' or 'no'."
)
GROUNDING_PROMPT = (
    "You check whether a model's generation is grounded in a set of facts, that is, supported by them. Reply with a "
    "binary score: 'yes' when it is, otherwise 'no'."
)
USEFULNESS_PROMPT = (
    "You check whether an answer resolves the question it was given to. Reply with a binary score: 'yes' when it "
    "addresses and resolves the question, otherwise 'no'."
)


class Datasource(BaseModel):
    """Where a question is looked up."""

    datasource: Literal["vectorstore", "web_search"] = Field(description="The source that fits the question")


class GroundingGrade(BaseModel):
    """Whether an answer stands in the documents."""

    binary_score: str = Field(description="'yes' when the answer is grounded in the facts, otherwise 'no'")


class AnswerGrade(BaseModel):
    """Whether an answer resolves the question."""

    binary_score: str = Field(description="'yes' when the answer addresses the question, otherwise 'no'")


class LoopState(State, total=False):
    """What the nodes of the loop share, and what the comparison wants to know of a run."""

    went: str


def choose_source() -> Callable[[LoopState], str]:
    """The edge that routes a question."""
    route = grader(ROUTE_PROMPT, "{question}", Datasource)

    def chosen(state: LoopState) -> str:
        source = route.invoke({"question": state["question"]}).datasource
        return "search_web" if source == "web_search" else "retrieve"

    return chosen


def check_answer() -> Callable[[LoopState], str]:
    """The edge that checks an answer against its documents and its question."""
    grounded = grader(GROUNDING_PROMPT, "Set of facts:\n\n{documents}\n\nGeneration: {generation}", GroundingGrade)
    useful = grader(USEFULNESS_PROMPT, "Question:\n\n{question}\n\nGeneration: {generation}", AnswerGrade)

    def checked(state: LoopState) -> str:
        generation = state["generation"]
        facts = {"documents": texts(state["documents"]), "generation": generation}
        if grounded.invoke(facts).binary_score != "yes":
            return "generate"
        asked = {"question": state["question"], "generation": generation}
        return END if useful.invoke(asked).binary_score == "yes" else "rewrite"

    return checked


def build() -> Any:
    """Build the graph."""
    grade, rewrite, answer = document_grader(GRADE_PROMPT), rewriter("a vectorstore"), answerer()

    def relevant(state: LoopState) -> list[Document]:
        asked = [{"question": state["question"], "document": one.page_content} for one in state["documents"]]
        grades = [grade.invoke(one).binary_score for one in asked]
        return [one for one, said in zip(state["documents"], grades, strict=True) if said == "yes"]

    def generated(state: LoopState) -> str:
        return answer.invoke({"question": state["question"], "context": texts(state["documents"])})

    again = {"generate": "retry", "retry": "retry", "web": "web"}
    graph = StateGraph(LoopState)
    graph.add_node("search_web", lambda state: {"documents": [searched(state["question"])], "went": "web"})
    graph.add_node("retrieve", lambda state: {"documents": retrieved(state["question"], state["k"])})
    graph.add_node("grade_documents", lambda state: {"documents": relevant(state)})
    graph.add_node("rewrite", lambda state: {"question": rewrite.invoke(state), "went": again[state["went"]]})
    graph.add_node("generate", lambda state: {"generation": generated(state)})
    graph.add_conditional_edges(START, choose_source(), ["search_web", "retrieve"])
    graph.add_edge("search_web", "generate")
    graph.add_edge("retrieve", "grade_documents")
    graph.add_conditional_edges("grade_documents", lambda state: "generate" if state["documents"] else "rewrite")
    graph.add_edge("rewrite", "retrieve")
    graph.add_conditional_edges("generate", check_answer(), ["generate", "rewrite", END])
    return graph.compile()


def prepare() -> Answer:
    """Build the graph and give a function that asks it."""
    app = build()

    def answer(question: str, k: int) -> dict[str, Any]:
        given = {"question": question, "k": k, "went": "generate"}
        state = app.invoke(given, {"recursion_limit": RECURSION_LIMIT})
        return {"answer": state["generation"], "route": state["went"], "kept": kept(state["documents"])}

    return answer


if __name__ == "__main__":
    serve(prepare(), PACKAGES)
