"""What was corrected: what a run carried out of what its decisions wanted, and its name in one word."""

from typing import Any

import pytest

from haystack_integrations.crag.deciding.corrections import carried_out, corrections_of, strategy_of
from haystack_integrations.crag.state import CragState


def run_of(*passes: tuple[str | None, str, str], mode: str = "enforce") -> CragState:
    """A run by its passes: what led to each, which strategy searched, and what became of the web."""
    kept = {"type": "keep", "id": "a", "reason": "graded"}
    trail: list[dict[str, Any]] = [
        {
            "mode": mode,
            "after": after,
            "strategy": strategy,
            "query": f"query {number}",
            "coverage": {"web": web},
            "corrections": [kept, {"type": "refine", "action": "wanted"}],
        }
        for number, (after, strategy, web) in enumerate(passes)
    ]
    return CragState(trail=tuple(trail))


def done(state: CragState) -> list[dict[str, Any]]:
    """The corrections among what was done."""
    return [entry for entry in carried_out(state) if entry["type"] != "keep"]


FIRST = (None, "first", "off")


@pytest.mark.parametrize(
    ("then", "wanted"),
    [
        (("refine", "first", "off"), [{"type": "refine", "action": "refine", "query": "query 1"}]),
        (
            ("re_retrieve", "wide", "off"),
            [{"type": "expand", "action": "re_retrieve", "query": "query 1", "strategy": "wide"}],
        ),
        (("web", "web", "ok"), [{"type": "web_search", "action": "web", "query": "query 1"}]),
        (
            ("web_and_refine", "web", "ok"),
            [
                {"type": "refine", "action": "web_and_refine"},
                {"type": "web_search", "action": "web_and_refine", "query": "query 1"},
            ],
        ),
        (("web_and_refine", "web", "failed"), [{"type": "refine", "action": "refine"}]),
        (("web", "web", "failed"), []),
        ((None, "first", "off"), []),
    ],
)
def test_a_correction_that_was_carried_out_has_what_was_searched_for(
    then: tuple[str | None, str, str], wanted: list[dict[str, Any]]
) -> None:
    """Refinement beside the web searches nothing itself, and a web that did not answer corrected nothing."""
    state = run_of(FIRST, then)
    assert done(state) == wanted
    assert [entry["id"] for entry in carried_out(state) if entry["type"] == "keep"] == ["a", "a"]


@pytest.mark.parametrize("mode", ["observe", "off"])
def test_a_run_that_only_observed_corrected_nothing(mode: str) -> None:
    state = run_of(FIRST, ("refine", "first", "off"), mode=mode)
    assert (done(state), corrections_of(state)) == ([], [])


@pytest.mark.parametrize(
    ("actions", "name"),
    [
        ([], "none"),
        (["generate", "abstain", ""], "none"),
        (["refine"], "refine"),
        (["re_retrieve"], "expand"),
        (["re_retrieve", "refine"], "refine"),
        (["re_retrieve", "web"], "web"),
        (["web", "re_retrieve", "refine"], "web_and_refine"),
        (["web_and_refine"], "web_and_refine"),
    ],
)
def test_corrections_have_one_name(actions: list[str], name: str) -> None:
    """The dearest of them, and of web and refinement both."""
    assert strategy_of(actions) == name
