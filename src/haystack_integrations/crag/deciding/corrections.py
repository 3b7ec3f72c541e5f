"""What was corrected: the corrections of one decision, those of a run that were carried out, and their name."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.vocabulary import LOOP_ACTIONS, NO_WEB, WEB

_TYPES: Final = {
    "refine": ("refine",),
    "re_retrieve": ("expand",),
    "web": ("web_search",),
    "web_and_refine": ("refine", "web_search"),
}
_STRATEGIES: Final = {"refine": "refine", "re_retrieve": "expand", "web": "web", "web_and_refine": "web_and_refine"}
_WITHOUT_WEB: Final = {"web": "", "web_and_refine": "refine"}


def corrections_in(
    kept: Sequence[Mapping[str, Any]], dropped: Sequence[Mapping[str, Any]], action: str
) -> list[dict[str, Any]]:
    """
    List what one decision does to the retrieval, in the form of design 002.

    :param kept: The entries of the kept documents.
    :param dropped: The entries of the dropped ones.
    :param action: The action chosen.
    :returns: One entry for each, with its `type`.
    """
    done: list[dict[str, Any]] = [
        {"type": "keep", "id": entry["id"], "reason": entry["status"] or entry["reason"]} for entry in kept
    ]
    done += [{"type": "discard", "id": entry["id"], "reason": entry["reason"]} for entry in dropped]
    return done + [{"type": kind, "action": action} for kind in _TYPES.get(action, ())]


def corrections_of(state: CragState) -> list[str]:
    """
    List the corrections of a run that were carried out, in order.

    :param state: What the run knows, with at least one decision.
    :returns: Actions; none where the mode only observes, none for which there was no other query, and none by a web
        that was not searched or did not answer.
    """
    return [action for action in _led(state) if action in LOOP_ACTIONS]


def carried_out(state: CragState) -> list[dict[str, Any]]:
    """
    List what was done to the retrieval in a run: what its decisions kept and dropped, and what was carried out of them.

    :param state: What the run knows, with at least one decision.
    :returns: The entries of all passes; with what was searched for, and by a strategy how. A decision that led nowhere
        (observed only, no other query, no web) corrects nothing, though its own record has what it wanted.
    """
    done: list[dict[str, Any]] = []
    for decision, then, action in zip_longest(state.trail, state.trail[1:], _led(state)[1:]):
        done += [entry for entry in decision["corrections"] if entry["type"] in ("keep", "discard")]
        done += [{"type": kind, "action": action, **_found_by(kind, action, then)} for kind in _TYPES.get(action, ())]
    return done


def _led(state: CragState) -> list[str]:
    """Name for each pass the correction that led to it, as far as it was carried out; nothing for the first."""
    if state.trail[-1]["mode"] != "enforce":
        return [""] * len(state.trail)
    led = [(decision["after"] or "", decision["coverage"]["web"]) for decision in state.trail]
    return [_WITHOUT_WEB.get(action, action) if web in NO_WEB else action for action, web in led]


def _found_by(kind: str, action: str, then: Mapping[str, Any]) -> dict[str, str]:
    """Tell the query of a correction, and the strategy of another one; refinement beside the web searches nothing."""
    if kind == "refine" and (action != "refine" or then["strategy"] == WEB):
        return {}
    return {"query": then["query"]} | ({"strategy": then["strategy"]} if kind == "expand" else {})


def strategy_of(actions: Sequence[str]) -> str:
    """
    Name corrections in one word: web and refinement together count as `web_and_refine`.

    :param actions: Actions; those that correct nothing do not count.
    :returns: `none`, `refine`, `expand`, `web` or `web_and_refine`.
    """
    names = {_STRATEGIES[action] for action in actions if action in _STRATEGIES}
    if "web_and_refine" in names or {"web", "refine"} <= names:
        return "web_and_refine"
    return next((name for name in ("web", "refine", "expand") if name in names), "none")
