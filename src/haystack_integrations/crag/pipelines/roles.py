"""Which components of a pipeline judge: found by what they are and how they are connected, whatever their names."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.cascade_gate import CascadeGate
from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.components.ranker_grader import RankerGrader
from haystack_integrations.crag.components.rule_prefilter import RulePrefilter
from haystack_integrations.crag.components.strip_refiner import StripRefiner

_GRADERS: Final = frozenset(kind.__name__ for kind in (BatchRelevanceGrader, HeuristicGrader, RankerGrader))


@dataclass(frozen=True)
class Roles:
    """
    The names of the components that judge; empty for what a pipeline does not have.

    :param router: What decides.
    :param grader: What grades; in a cascade, what is asked where the scorer is not sure.
    :param scorer: The cheap scorer of a cascade.
    :param gate: What tells in a cascade whether the grader is asked.
    :param prefilter: The rules before the grader.
    :param refiner: What refines the evidence before the generator; one beside the web is another thing.
    """

    router: str = ""
    grader: str = ""
    scorer: str = ""
    gate: str = ""
    prefilter: str = ""
    refiner: str = ""


def roles_of(spec: Mapping[str, Any]) -> Roles:
    """
    Find the components that judge. A class of the user's own is known by its connections, else by its name.

    :param spec: A pipeline as `read` gives it.
    :returns: Their names.
    """
    kinds = {name: part["type"].rpartition(".")[2] for name, part in spec["components"].items()}
    router, gate, prefilter = (
        _first([*({role} & kinds.keys()), *(name for name in kinds if kinds[name] == kind.__name__)])
        for role, kind in (("router", CragRouter), ("gate", CascadeGate), ("prefilter", RulePrefilter))
    )
    scorer = _first([*_before(spec, f"{gate}.documents"), *({"scorer"} & kinds.keys())]) if gate else ""
    reporting = [name for name in _before(spec, f"{router}.report") if name not in (scorer, gate)]
    ours = [name for name in kinds if kinds[name] in _GRADERS and name != scorer]
    named = {"grader"} & kinds.keys() - {scorer}
    grader = _first([*(name for name in ours if name in reporting), *named, *reporting, *ours])
    refiners = [name for name in _behind(spec, f"{router}.generate") if kinds[name] == StripRefiner.__name__]
    return Roles(router, grader, scorer, gate, prefilter, _first(refiners))


def _first(names: list[str]) -> str:
    return names[0] if names else ""


def _before(spec: Mapping[str, Any], path: str) -> list[str]:
    return [one["sender"].partition(".")[0] for one in spec["connections"] if one["receiver"] == path]


def _behind(spec: Mapping[str, Any], path: str) -> list[str]:
    return [one["receiver"].partition(".")[0] for one in spec["connections"] if one["sender"] == path]
