"""What a router can tell of wrong connections, and inputs of no run or another question: nothing else would say it."""

from collections.abc import Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

from haystack import Document, Pipeline, logging
from haystack.dataclasses import ChatMessage, ChatRole

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import crag_meta, grade_of
from haystack_integrations.crag.passes import needs_of, waiting
from haystack_integrations.crag.sockets import leads_back, leads_nowhere, leads_on, pipeline_of, untold_of
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.vocabulary import LOOP_ACTIONS

logger = logging.getLogger(__name__)

# By the graph of a pipeline, which has no hash itself: its connections then, and what was found.
_waited: Final[WeakKeyDictionary[Any, tuple[int, str | None]]] = WeakKeyDictionary()


def tell_of_other_question(documents: Sequence[Document], question: str, not_asked: int) -> None:
    """
    Warn where a grader was asked something else than the router, such as the search query of this pass, or nothing, or
    not of all documents.

    No grade counts then, and the run looks like one whose grader was down, or like one that found nothing.

    :param documents: What the router got.
    :param question: `question_id` of its own question.
    :param not_asked: How many documents the grader says that it left without a grade, as `max_documents` lets it.
    """
    grades = [grade_of(document) for document in documents]
    asked = {grade.question for grade in grades if grade is not None}
    if documents and not any("score" in crag_meta(document) for document in documents):
        logger.warning(
            "none of the {count} documents has a grade, so that none can be judged; put a grader before the router, "
            "and nothing between the two that brings documents of its own",
            count=len(documents),
        )
    before = grades[: max((at for at, grade in enumerate(grades) if grade is not None), default=0)]
    if None in before and grades.count(None) > not_asked:
        # A grader that takes so many documents only, and does not say so, leaves the last ones without a grade.
        logger.warning(
            "{count} of {all} documents have no grade and stand before others that have one: they do not count; put "
            "what brings or joins documents before the grader, and nothing of that kind between it and the router",
            count=grades.count(None),
            all=len(documents),
        )
    if asked and not asked & {question, ""} and None not in grades:
        logger.warning(
            "all {count} documents were graded for another question than the router's, so that no grade counts; give "
            "grader and router the same `query`, the user's question",
            count=len(documents),
        )


def check_ways(router: Any, action: str) -> None:
    """
    Look at where a correction leads: a router in a pipeline of the user's own is told of its connections by Haystack.

    Where nothing is connected to it, which `load` refuses, the run ends there without an answer: that is warned of.

    :param router: The component.
    :param action: What it is about to do.
    :raises ConfigurationError: As `check_state`.
    """
    if action not in LOOP_ACTIONS:
        return
    if leads_nowhere(router, action, "generate", "outcome"):
        logger.warning(
            "the action {action} leads nowhere, so this run ends without answer and record; connect a correction to "
            "the router's output {action}, or choose another action: on_ambiguous='generate', on_incorrect='abstain'",
            action=action,
        )
    if (why := _waiting_in(pipeline_of(router))) is not None:
        logger.warning("a part of this pipeline may end the next pass: {why}", why=why)
    check_state(router, action)


def check_state(router: Any, action: str) -> None:
    """
    Refuse a correction that leads back to the router without its state.

    :param router: The component.
    :param action: What it is about to do, or may do.
    :raises ConfigurationError: Where each pass would be the first, so that no limit holds, and most runs end after a
        hundred of them, by Haystack's error.
    """
    if leads_back(router, action, "state"):
        msg = (
            f"the action {action} leads back to the router, but brings no state, so that each pass would be its first "
            "and no limit held; connect the state of what makes the correction, such as expander.state or web.state, "
            "to router.state"
        )
        raise ConfigurationError(msg)


def _waiting_in(pipeline: Pipeline | None) -> str | None:
    """Tell what may end the next pass of a pipeline; looked for once, unless connections were added since."""
    if pipeline is None:
        return None
    graph = pipeline.graph
    size, why = _waited.get(graph, (-1, None))
    if size != graph.number_of_edges():
        # What has no sender, each run has to give: Haystack sees to it.
        everything = needs_of(pipeline)
        needs = {
            name: {key: socket for key, socket in sockets.items() if socket.senders}
            for name, sockets in everything.items()
        }
        begins = {name for name in needs if needs[name] != everything[name] or not graph.in_degree(name)}
        why = waiting(pipeline, needs, begins)
        _waited[graph] = (graph.number_of_edges(), why)
    return why


def check_handed_on(joiner: Any, refined: CragState | None) -> None:
    """
    Look at what a joiner leads on of a correction beside which something is refined.

    :param joiner: The component, with outputs `state` and inputs `refined_state`.
    :param refined: What came there.
    :raises ConfigurationError: Where its `state` leads on and there is none to give: as in `check_ways`.
    """
    if refined is None and leads_on(joiner, "state"):
        msg = (
            "the output state of EvidenceJoiner leads on, but it got no refined_state, so that each pass behind it "
            "would be the first and no limit held; connect what is refined beside the web: router.web_and_refine to "
            "refine.state, and refine.state to join.refined_state. Where nothing is, lead web.state past the joiner"
        )
        raise ConfigurationError(msg)


def tell_of_unread_answer(record: Any) -> None:
    """
    Warn where an answer is written and the record is not told of it: it would say that no model was asked.

    :param record: The component, with inputs `outcome` and `replies`.
    """
    if writers := untold_of(record, "outcome", "generate", "replies"):
        logger.warning(
            "RecordBuilder is not told of the answer that {writers} writes, so that the record says that no model was "
            "asked, and leaves out what it cost; connect {writer}.replies to the record's replies, with router.abstain "
            "by way of a BranchJoiner",
            writers=" and ".join(writers),
            writer=writers[0],
        )


def check_replies(replies: Sequence[ChatMessage]) -> None:
    """
    Refuse a whole conversation in the place of an answer: the first text of it, a prompt, would be the answer.

    :param replies: What the record got. The text of an abstention alone comes as a message of a user, by Haystack.
    :raises ConfigurationError: For messages of others than a model beside its own.
    """
    if len(replies) > 1 and replies[0].role != ChatRole.ASSISTANT:
        roles = ", ".join(reply.role.value for reply in replies)
        msg = (
            f"RecordBuilder got a conversation for replies ({roles}), wanted what the model answered; of an "
            "Agent connect last_message, and not messages, to record and answer"
        )
        raise ConfigurationError(msg)


def begun(query: str, state: CragState | None) -> CragState:
    """
    Start a run where nobody did.

    :param query: The user's question.
    :param state: What the run knows, or None.
    :returns: A state in which something was searched for.
    :raises ConfigurationError: For one without, as a bare `CragState()` is: no decision could be written down.
    """
    if state is not None and not state.queries:
        msg = (
            "the router got a state in which nothing was searched for, wanted one that a run began with; make it by "
            "CragState.start(question), or leave it to QuestionGuard"
        )
        raise ConfigurationError(msg)
    return state or CragState.start(query)
