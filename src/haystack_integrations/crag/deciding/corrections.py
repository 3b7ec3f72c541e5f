"""What was corrected: the corrections of one decision, those of a run that were carried out, and their name."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.vocabulary import LOOP_ACTIONS, NO_WEB

_CORRECTIONS: Final = {
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
    return done + [{"type": kind, "action": action} for kind in _CORRECTIONS.get(action, ())]


def corrections_of(state: CragState) -> list[str]:
    """
    List the corrections of a run that were carried out, in order.

    :param state: What the run knows, with at least one decision.
    :returns: Actions; none where the mode only observes, none for which there was no other query, and none by a web
        that was not searched or did not answer.
    """
    if state.trail[-1]["mode"] != "enforce":
        return []
    led = [(decision["after"], decision["coverage"]["web"]) for decision in state.trail]
    done = [_WITHOUT_WEB.get(action, action) if web in NO_WEB else action for action, web in led]
    return [action for action in done if action in LOOP_ACTIONS]


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
