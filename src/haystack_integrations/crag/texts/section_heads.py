"""What a sentence stands under: "Report it within seven days" below "Claims" tells of claims."""

import re
from collections.abc import Sequence
from typing import Final

from haystack_integrations.crag.texts.table_heads import heads_of_rows

_HEADING: Final = re.compile(r"#{1,6}[ \t]+\S.*")
_LONGEST: Final = 200


def heads_above(parts: Sequence[str]) -> dict[int, int]:
    """
    Tell which sentences stand under what.

    ```python
    from haystack_integrations.crag.texts.section_heads import heads_above

    assert heads_above(["Insurance.", "## Claims", "Within seven days.", "Keep receipts."]) == {2: 1, 3: 1}
    ```

    :param parts: A text's sentences, in order; a heading of Markdown, or a line of a table, is one.
    :returns: For the number of a row that of the head of its table, for any other sentence that of the nearest heading
        above it, unless that is very long; in order.
    """
    found, head = dict[int, int](), None
    for number, part in enumerate(parts):
        if part.startswith("#") and _HEADING.fullmatch(part.strip()):
            head = number if len(part) <= _LONGEST else None
        elif head is not None:
            found[number] = head
    rows = heads_of_rows(parts) if any(part.startswith("|") for part in parts) else {}
    return dict(sorted({**found, **rows}.items()))
