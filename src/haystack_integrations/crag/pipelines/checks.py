"""What must hold for a pipeline before its first question."""

from collections.abc import Mapping
from itertools import product
from typing import Any, Final

from haystack import Pipeline

from haystack_integrations.crag.components.cascade_gate import CascadeGate
from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.components.evidence_joiner import EvidenceJoiner
from haystack_integrations.crag.components.evidence_prompt_builder import EvidencePromptBuilder
from haystack_integrations.crag.components.query_expander import QueryExpander
from haystack_integrations.crag.components.question_guard import QuestionGuard
from haystack_integrations.crag.components.record_builder import RecordBuilder
from haystack_integrations.crag.deciding.miswired import check_state
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.expansion.readers import tell_of_lost
from haystack_integrations.crag.pipelines.forms import settings_of
from haystack_integrations.crag.pipelines.reached import check_ends, check_reached, led_to
from haystack_integrations.crag.sockets import leads_on, sockets_of
from haystack_integrations.crag.vocabulary import LOOP_ACTIONS

CHAT_GENERATOR: Final = "chat_generator"
"""The parameter by which a component holds a chat model."""

OF_THE_SET: Final = {"aggregate": "set"}
"""The setting by which a router goes by a grader's word on the whole set."""


def check_loaded(pipeline: Pipeline, spec: Mapping[str, Any]) -> None:
    """
    Refuse a pipeline that would go wrong without a word, and say what an expander chooses in vain.

    :param pipeline: A loaded pipeline.
    :param spec: Its YAML, as `read` gives it.
    :raises ConfigurationError: Naming the part, what is wrong with it and the way out.
    """
    check_ends(pipeline, spec)
    check_actions(pipeline, spec["outputs"])
    check_reached(pipeline, spec)
    check_weights(pipeline)
    check_numbers(pipeline)
    for expander in (part for _, part in pipeline.walk() if isinstance(part, QueryExpander)):
        tell_of_lost(expander)


def check_actions(pipeline: Pipeline, outputs: Mapping[str, str]) -> None:
    """
    Refuse a router whose policy names an action that leads nowhere, or back without its state: such a run would end
    without a word, or by an error at the first question that is corrected.

    :param pipeline: A loaded pipeline.
    :param outputs: What it gives: of which part, by name. Where answers are among it, so are abstentions.
    :raises ConfigurationError: Naming the router, the action and the way out.
    """
    for name in pipeline.graph.nodes:
        router = pipeline.get_component(name)
        if not isinstance(router, CragRouter) or router.mode == "off":
            continue
        ladders = (router.on_ambiguous, router.on_incorrect, router.on_ungraded)
        wanted = {action for ladder in ladders for action in ([ladder] if isinstance(ladder, str) else ladder)}
        wanted |= {"web_and_refine"} if router.keep_good and "web" in wanted else set()
        for action in sorted(wanted & LOOP_ACTIONS):
            behind = led_to(pipeline, name, action)
            if not behind & {path.partition(".")[0] for path in outputs.values()}:
                ends = " and ".join(sorted(one for one in behind if not pipeline.graph.out_degree(one)))
                what = (
                    f"what is connected to {action!r} ends at {ends}" if ends else f"nothing is connected to {action!r}"
                )
                way = f"lead on from {ends} to where documents are judged" if ends else "connect a correction to it"
                msg = f"the policy of {name!r} may choose {action!r}, but {what}; {way}, or choose another action"
                raise ConfigurationError(msg)
            check_state(router, action)
        if "answers" in outputs:
            _check_answers(pipeline, name, outputs)


def _check_answers(pipeline: Pipeline, name: str, outputs: Mapping[str, str]) -> None:
    """Refuse a router behind which questions would get no answer, and no word on it."""
    router, last = pipeline.get_component(name), outputs["answers"].partition(".")[0]
    if not leads_on(router, "abstain") and f"{name}.abstain" not in outputs.values():
        msg = (
            f"where {name!r} abstains there would be no answers, as nothing is connected to 'abstain'; connect "
            f"{name}.abstain to where the replies are joined, or name it among the outputs"
        )
        raise ConfigurationError(msg)
    behind = led_to(pipeline, name, "generate")
    if behind and last not in behind:
        ends = " and ".join(sorted(one for one in behind if not pipeline.graph.out_degree(one)))
        msg = (
            f"where {name!r} has evidence there would be no answers, as what is connected to 'generate' ends at "
            f"{ends}; lead on from there to {last}"
        )
        raise ConfigurationError(msg)


def check_weights(pipeline: Pipeline) -> None:
    """
    Refuse a strategy that weighs a retriever which no joiner knows, or whose joiner gets no state: it has no effect.

    :param pipeline: A loaded pipeline.
    :raises ConfigurationError: Naming the part, the retriever and those that there are.
    """
    parts = {name: pipeline.get_component(name) for name in pipeline.graph.nodes}
    joiners = {name: part for name, part in parts.items() if isinstance(part, EvidenceJoiner)}
    known = {name for joiner in joiners.values() for name in joiner.weights}
    for name, part in parts.items():
        strategies = part.strategies if isinstance(part, QueryExpander) else []
        strategies = [part.strategy] if isinstance(part, QuestionGuard) and part.strategy else strategies
        for strategy in strategies or []:
            if known and (unknown := sorted(set(strategy.get("weights") or {}) - known)):
                msg = (
                    f"the strategy {strategy['name']!r} of {name!r} has weights for {unknown}, which no joiner has; "
                    f"choose from {sorted(known)}"
                )
                raise ConfigurationError(msg)
            weighed = strategy["weights"].items()
            untold = [one for one, joiner in joiners.items() if {*joiner.weights} & {*dict(weighed)}]
            untold = [one for one in untold if not {*joiners[one].weights.items()} >= {*weighed}]
            if untold := [one for one in untold if not (sockets_of(joiners[one], "input") or {})["state"].senders]:
                msg = (
                    f"the strategy {strategy['name']!r} of {name!r} has weights for {untold[0]!r}, which would keep "
                    f"its own, since nothing tells it of the strategy; connect the state to {untold[0]}.state"
                )
                raise ConfigurationError(msg)


def check_numbers(pipeline: Pipeline) -> None:
    """
    Refuse a prompt that numbers other documents than the record gives, or in another order: answers cite by number.

    :param pipeline: A loaded pipeline.
    :raises ConfigurationError: Naming both parts, and the connection that is missing.
    """
    prompts, records = (
        [name for name in pipeline.graph.nodes if isinstance(pipeline.get_component(name), kind)]
        for kind in (EvidencePromptBuilder, RecordBuilder)
    )
    for prompt, record in product(prompts, records):
        shown, given = (_documents_of(pipeline, name) for name in (prompt, record))
        chosen = {one for one in shown if isinstance(pipeline.get_component(one.partition(".")[0]), CragRouter)}
        # Without documents of its own a record gives those of the router.
        if given != shown and (given or chosen != shown):
            wanted = ", ".join(sorted(shown - given)) or "nothing else"
            msg = (
                f"{prompt!r} numbers the documents of {sorted(shown)}, and {record!r} gives those of "
                f"{sorted(given) or 'the router'}: numbers in an answer would name the wrong ones; connect {wanted} "
                f"to {record}.documents"
            )
            raise ConfigurationError(msg)


def _documents_of(pipeline: Pipeline, name: str) -> set[str]:
    """Name the outputs that a component's documents come from."""
    edges = pipeline.graph.in_edges(name, data=True)
    return {f"{one}.{data['from_socket'].name}" for one, _, data in edges if data["to_socket"].name == "documents"}


def asks_a_model(part: Mapping[str, Any]) -> bool:
    """
    Tell whether a component holds a chat generator of its own.

    :param part: The component, as it stands in the YAML.
    :returns: Whether it does.
    """
    return CHAT_GENERATOR in settings_of(part)


def wants_a_model(spec: Mapping[str, Any]) -> bool:
    """
    Tell whether a pipeline asks a chat model.

    :param spec: The pipeline's YAML.
    :returns: Whether one of its components holds a chat generator.
    """
    return any(map(asks_a_model, spec["components"].values()))


def judges_by_calibration(part: Mapping[str, Any]) -> bool:
    """
    Tell whether a component judges by a calibration, its own or the shipped one; published weights need none.

    :param part: The component, as it stands in the YAML.
    :returns: Whether it does.
    """
    weights = settings_of(part).get("weights")
    return str(part["type"]).endswith(".HeuristicGrader") and weights is None


def by_the_set(spec: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """
    Choose what lets a router go by a calibrated grader's verdict on the set: that is what was calibrated.

    :param spec: A pipeline as `read` gives it.
    :returns: Settings of its router, as `load` takes them; none for a cascade, whose verdict may be the model's.
    """
    kinds = {name: part["type"].rpartition(".")[2] for name, part in spec["components"].items()}
    if CascadeGate.__name__ in kinds.values():
        return {}
    return {name: dict(OF_THE_SET) for name, kind in kinds.items() if kind == CragRouter.__name__}


def answers_questions(spec: Mapping[str, Any]) -> bool:
    """
    Tell a pipeline for questions from others, such as `indexing`.

    :param spec: A pipeline as `read` gives it.
    :returns: Whether it takes a question, and gives evidence and a record.
    """
    return "query" in spec["inputs"] and {"documents", "crag"} <= set(spec["outputs"])


def check_questions(name: str, spec: Mapping[str, Any]) -> None:
    """
    Refuse what is no pipeline for questions.

    :param name: What the user calls it.
    :param spec: The pipeline as `read` gives it.
    :raises ConfigurationError: When it is none.
    """
    if not answers_questions(spec):
        msg = (
            f"got the pipeline {name!r}, wanted one with the input `query` and the outputs `documents` and `crag`; "
            "choose for example corrective_retrieval"
        )
        raise ConfigurationError(msg)


def is_chat_model(part: Any) -> bool:
    """
    Tell a chat generator from other components: it takes messages and no documents, and asks no other one.

    :param part: A component.
    :returns: Whether it is one.
    """
    names = sockets_of(part, "input") or ()
    return "messages" in names and "documents" not in names and not hasattr(part, CHAT_GENERATOR)


def models_in(parts: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """
    Choose the chat models among what `load` was given: not put into the pipeline, but asked by the part of that name.

    :param parts: What it was given, by argument.
    :param spec: The pipeline as `read` gives it.
    :returns: Chat generators by the name of the part.
    """
    asking = {name for name, part in spec["components"].items() if asks_a_model(part)} | {"grader", "generator"}
    return {name: part for name, part in parts.items() if name in asking and is_chat_model(part)}
