"""Sources that another run deleted meanwhile are found, however many there are."""

from haystack_integrations.crag.pipelines.replacing import lost


def test_a_source_is_lost_where_any_of_its_passages_is_gone() -> None:
    """Each is named once, and what is whole is not."""
    replaced = {"a.md": ["1", "2"], "b.md": ["3"], "c.md": ["4", "5"]}
    failures = list(lost(replaced, lambda ids: {id_: "run" for id_ in ids if id_ != "4"}))
    assert [one.source for one in failures] == ["c.md"]
    assert "index again, one run at a time" in failures[0].reason


def test_passages_are_looked_for_a_thousand_at_once() -> None:
    """A server takes no request of any length; the last part is no smaller a loss."""
    asked = []

    def owners(ids: list[str]) -> dict[str, str]:
        asked.append(len(ids))
        return {id_: "run" for id_ in ids if id_ != "2499"}

    replaced = {f"{number}.md": [str(number)] for number in range(2500)}
    assert [one.source for one in lost(replaced, owners)] == ["2499.md"]
    assert asked == [1000, 1000, 500]
    assert list(lost({}, owners)) == []
