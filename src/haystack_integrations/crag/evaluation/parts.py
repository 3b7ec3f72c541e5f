"""The parts of a pipeline that judge, and what can take their place."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from haystack import Pipeline

from haystack_integrations.crag.chat_model import GRADING_SECONDS, HOW_TO_SET, has_key
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.components.strip_refiner import StripRefiner
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.evaluation.setup import Setup
from haystack_integrations.crag.grading.plan import WHOLE_PASSAGE
from haystack_integrations.crag.pipelines.checks import OF_THE_SET, asks_a_model, judges_by_calibration
from haystack_integrations.crag.pipelines.forms import settings_of
from haystack_integrations.crag.pipelines.loader import read
from haystack_integrations.crag.pipelines.opening import by_sentences, refined_by
from haystack_integrations.crag.pipelines.roles import roles_of
from haystack_integrations.crag.pipelines.unloadable import said_of
from haystack_integrations.crag.refining.model import has_strip_model

_WAY_OUT: Final = f"{HOW_TO_SET}, or take --grader heuristic"


@dataclass(frozen=True)
class Parts:
    """
    The parts of a pipeline that judge.

    :param router: What decides.
    :param strips: The refiner, or a default one for measuring strips.
    :param grader: What grades, or None.
    :param prefilter: The rules before it, or None.
    :param scorer: The cheap scorer of a cascade, or None.
    :param gate: What asks the grader only where that scorer is not sure, or None.
    :param refiner: What refines the evidence before the generator, or None.
    """

    router: Any
    strips: Any
    grader: Any = None
    prefilter: Any = None
    scorer: Any = None
    gate: Any = None
    refiner: Any = None


def exchanged(setup: Setup, store: Any = None) -> dict[str, Any]:
    """
    Make what takes the place of the pipeline's own parts, as `load` takes it.

    :param setup: What is evaluated.
    :param store: The store that is searched, where there is one.
    :returns: A grader, and settings of the router where that shall go by the grader's score of the set; or nothing.
        A calibration is for the scorer of a cascade, where there is one, and its router is left alone; it is for the
        last refiner too, where it has a sentence model and the refiner asks no other one.
    :raises ConfigurationError: For an unusable calibration file, or a chat model that is asked for and not configured.
    """
    spec = read(setup.pipeline)
    roles = roles_of(spec)
    place, by_set = roles.grader or "grader", {roles.router or "router": OF_THE_SET}
    sources: dict[str, Any] = {"statistics": setup.statistics, "document_store": store, "model": setup.encoder}
    if setup.calibration is not None:
        grader = HeuristicGrader(calibration=setup.calibration, **sources)
        strips = refined_by(setup.calibration, spec)
        return {roles.scorer: grader, **strips} if setup.is_cascade else {place: grader, **by_set, **strips}
    match setup.grader:
        case None:
            return {}
        case "llm":
            if setup.model is None:
                msg = f"the grader llm asks a chat model, but none is configured; {_WAY_OUT}"
                raise ConfigurationError(msg)
            return {place: BatchRelevanceGrader(setup.model.judge(), max_chars_per_document=WHOLE_PASSAGE)}
        case "heuristic":
            return {place: HeuristicGrader(**sources), **by_set}
        case "evidence":
            return {place: HeuristicGrader(weights="evidence", model=setup.encoder)}
        case preset:
            weights: Any = preset
            return {place: HeuristicGrader(weights=weights, model=setup.encoder), **by_set}


def judging_parts(setup: Setup) -> Parts:
    """
    Make the parts that judge, with the settings of the YAML; the others are not made, so they need nothing.

    :param setup: What is evaluated.
    :returns: The parts.
    :raises ConfigurationError: When there is nothing that judges, or it asks a chat model and none is configured.
    """
    spec, changes = read(setup.pipeline), exchanged(setup)
    roles = roles_of(spec)
    names = {role: name for role, name in vars(roles).items() if name}
    chosen = {name: dict(part) for name, part in spec["components"].items() if name in names.values()}
    missing = sorted({roles.router or "router", *changes} - set(chosen))
    if missing:
        msg = (
            f"the pipeline {setup.pipeline!r} has no component {missing}; choose another, such as corrective_retrieval"
        )
        raise ConfigurationError(msg)
    for name in [name for name, change in changes.items() if isinstance(change, dict)]:
        chosen[name]["init_parameters"] = {**settings_of(chosen[name]), **changes.pop(name)}
    for part in filter(judges_by_calibration, chosen.values()):
        # What the pipeline asks its store for, which is not here, comes from the corpus.
        part["init_parameters"] = {"statistics": setup.statistics, **settings_of(part), "document_store": None}
    asking = asking_parts(setup, chosen)
    require_model(setup, asking)
    with said_of(setup.pipeline, lambda: {name: part for name, part in chosen.items() if name not in changes}):
        pipeline = Pipeline.from_dict({"components": chosen, "connections": []}, components=changes)
    found: dict[str, Any] = {name: pipeline.get_component(name) for name in chosen}
    if not {"grader", "scorer", "prefilter"} & set(names) and getattr(found[roles.router], "mode", None) != "off":
        msg = (
            f"nothing that grades is found in {setup.pipeline!r} among {sorted(spec['components'])}; connect the "
            f"report of what grades to {roles.router}.report, or take --lists live"
        )
        raise ConfigurationError(msg)
    if setup.model is not None:
        for name in asking:
            model = setup.model
            found[name].chat_generator = model.judge() if name == roles.grader else model.generator(GRADING_SECONDS)
    by_role, file = {role: found[name] for role, name in names.items()}, setup.calibration
    own: dict[str, Any] = by_sentences(file) if file is not None and has_strip_model(file) else {}
    return Parts(**by_role, strips=by_role.get("refiner") or StripRefiner(**own))


def reads_statistics(setup: Setup) -> bool:
    """
    Tell whether judging needs to know in how many documents of the corpus a term is.

    :param setup: What is evaluated.
    :returns: Whether a grader that is used wants that.
    """
    spec = read(setup.pipeline)
    roles = roles_of(spec)
    own = filter(None, (roles.scorer, "" if setup.grader else roles.grader))
    replaced = setup.grader == "heuristic" or setup.calibration is not None
    return replaced or any(judges_by_calibration(spec["components"][name]) for name in own)


def warm_up(parts: Iterable[Any]) -> None:
    """
    Load what takes time, so that it is not counted as judging.

    :param parts: Components, and whatever stands beside them.
    :raises ConfigurationError: When a file that a part names cannot be used.
    """
    for part in parts:
        if hasattr(part, "warm_up"):
            part.warm_up()


def require_model(setup: Setup, asking: Sequence[str]) -> None:
    """
    Refuse to begin what asks a chat model when none is configured.

    :param setup: What is evaluated.
    :param asking: The components that ask one.
    :raises ConfigurationError: With the settings, and the choices that need none.
    """
    if asking and setup.model is None and not has_key():
        is_grader_alone = set(asking) == {roles_of(read(setup.pipeline)).grader}
        way = _WAY_OUT if is_grader_alone else f"{HOW_TO_SET}, or take --pipeline corrective_retrieval, which asks none"
        msg = f"the components {list(asking)} of {setup.pipeline!r} ask a chat model, but none is configured; {way}"
        raise ConfigurationError(msg)


def asking_parts(setup: Setup, parts: Mapping[str, Any]) -> list[str]:
    """
    Name the parts that ask a chat model of their own.

    :param setup: What is evaluated.
    :param parts: Components of the YAML by name.
    :returns: Their names, without the grader where another takes its place.
    """
    own = setup.grader is None and (setup.calibration is None or setup.is_cascade)
    asking = [name for name, part in parts.items() if asks_a_model(part)]
    return [name for name in asking if own or name != roles_of(read(setup.pipeline)).grader]


def waits_for_a_model(setup: Setup) -> bool:
    """
    Tell whether judging waits for a chat model, so that it pays to judge several questions at a time.

    :param setup: What is evaluated.
    :returns: Whether a part that is used asks one.
    """
    spec = read(setup.pipeline)
    roles = roles_of(spec)
    used = (roles.grader, roles.refiner) if setup.lists == "fixed" else tuple(spec["components"])
    return setup.grader == "llm" or not set(asking_parts(setup, spec["components"])).isdisjoint(used)
