"""Which documents of a run are not among its evidence, and why."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.deciding.decisions import dropped_entry, graded_entry
from haystack_integrations.crag.state import CragState

REFINED_AWAY: Final = "refined_away"
"""Why a document is not among the evidence that the router chose: nothing of it was kept after that."""

REPLACED: Final = "replaced_by_web"
"""Why a document that passed the filter is not among the evidence: the web was asked in its place."""

ABSTAINED: Final = "abstained"
"""Likewise: the run ended without an answer."""

NOT_AMONG_BEST: Final = "not_among_best"
"""Likewise: of all that passed the filter in some pass, others were better."""

NO_ROOM: Final = "no_room"
"""Likewise: the context of the answer's model had no room for it."""

_LEFT_BEHIND: Final = {"refine": REFINED_AWAY, "web_and_refine": REFINED_AWAY, "web": REPLACED, "abstain": ABSTAINED}


def left_out(state: CragState, evidence: Sequence[Document], unshown: Sequence[Document]) -> list[dict[str, Any]]:
    """
    List the documents of a run that are not among its evidence.

    :param state: The run at its end.
    :param evidence: What was handed on.
    :param unshown: Evidence that the answer's model was not shown.
    :returns: An entry each, with the last reason. Of two texts of one id, as two stores may give them, the one that a
        pass dropped is told beside the one that it kept.
    """
    used = Counter(document.id for document in evidence)
    dropped = dict[tuple[str, int], dict[str, Any]]()
    for decision in state.trail:
        reason = _LEFT_BEHIND.get(decision["action"], NOT_AMONG_BEST)
        left = [{key: one[key] for key in ("id", "score", "source") if key in one} for one in decision["kept"]]
        dropped |= _counted([*({**one, "reason": reason} for one in left), *decision["discarded"]], Counter())
    for documents, reason, before in ((state.evidence, REFINED_AWAY, Counter[str]()), (unshown, NO_ROOM, used)):
        entries = [dropped_entry(one, graded_entry(one)["score"], reason) for one in documents]
        dropped |= _counted(entries, before)
    return [entry for (id_, place), entry in dropped.items() if place >= used[id_]]


def _counted(entries: Sequence[Mapping[str, Any]], before: Counter[str]) -> dict[tuple[str, int], dict[str, Any]]:
    """Tell entries apart by their id, and by which of those with that id each is."""
    seen, counted = Counter(before), dict[tuple[str, int], dict[str, Any]]()
    for entry in entries:
        counted[entry["id"], seen[entry["id"]]] = dict(entry)
        seen[entry["id"]] += 1
    return counted
