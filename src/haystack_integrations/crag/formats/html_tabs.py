"""Tabs of a page: what stands in one says of Linux what the next one says of Windows, and only its label tells."""

from collections.abc import Sequence
from typing import Any, Final

from lxml.html import HtmlElement, builder

_SETS: Final = ".//*[@role='tablist' or contains(concat(' ', @class, ' '), ' tabbed-labels ')]"
_BESIDE: Final = (
    ".//label[following-sibling::*[1][contains(@class, 'tab-content') or contains(@class, 'tabbed-content')]]"
)
_TABS: Final = "descendant::*[@role='tab'] | self::*[contains(@class, 'tabbed-labels')]/label"
_PANELS: Final = "descendant::*[@role='tabpanel'] | child::*[contains(@class, 'tabbed-content')]/*"
_MOST: Final = 100  # sets of a page, and tabs of a set with those within them


def with_tabs(body: HtmlElement) -> None:
    """
    Write the label of each tab before what it opens, as ARIA, Material for MkDocs and Sphinx mark them.

    :param body: The body of a page, changed in place.
    """
    for label in body.xpath(_BESIDE):
        label.tag = "p"
    for one in body.xpath(_SETS)[:_MOST]:
        labels = one.xpath(_TABS)
        for around in list(one.iterancestors())[:2]:
            panels = _panels_of(around, labels)
            if any(one in panel.iterancestors() for panel in panels):  # an accordion: each stands below its label
                break
            if panels:
                for label, panel in zip(labels, panels, strict=True):
                    panel.insert(0, builder.P(" ".join(label.text_content().split())))
                    panel[0].tail, panel.text = panel.text, None
                one.drop_tree()
                break


def _panels_of(around: Any, labels: Sequence[Any]) -> list[Any]:
    """Find what tabs open, as many as there are labels; tabs within a tab are none of its own."""
    panels = around.xpath(_PANELS)
    if len(panels) > _MOST:
        return []
    own = [one for one in panels if not any(other in panels for other in one.iterancestors())]
    return own if len(own) == len(labels) else []
