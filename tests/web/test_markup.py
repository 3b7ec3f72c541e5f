"""Markup is bounded before a parser reads it, and nothing of a page is lost by that."""

import pytest

from haystack_integrations.crag.web.markup import bounded

MOST = 64


@pytest.mark.parametrize("value", ["1", "'x = > y'", '"x = > y"', '"it\'s <b> a"'])
def test_a_tag_ends_behind_its_first_attributes_and_a_quoted_value_is_one_of_them(value: str) -> None:
    """Whatever stands in it; fewer are left as they are, and what follows becomes text."""
    attributes = [f" a{number}={value}" for number in range(2 * MOST)]
    for few in (1, MOST - 1):
        page = f"<p{''.join(attributes[:few])}>One.</p>"
        assert bounded(page) == page
    head, rest = "".join(attributes[:MOST]), "".join(attributes[MOST:])
    assert bounded(f"<p{head}{rest}>One.</p>") == f"<p{head} '\">{rest}>One.</p>"


def test_what_is_behind_the_first_thirty_thousand_tags_is_left_out() -> None:
    """Whoever wrote so many did not write for readers; a page with as many is whole."""
    page = "One." + "<p>x" * 30_000
    assert bounded(page) == page
    assert bounded(f"{page}<b>more") == page
