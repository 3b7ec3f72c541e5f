"""Characters that an HTML page writes by number."""

import re
from typing import Final

# Such as a vertical tab of Word's.
_NO_TEXT: Final = re.compile(
    r"(?i)&#(?:x0*(?:[0-8bcef]|1[0-9a-f]|fff[ef])(?![0-9a-f])|0*(?:[0-8]|1[124-9]|2[0-9]|3[01]|6553[45])(?![0-9]));?"
)


def without_no_text(page: str) -> str:
    """
    Write a space for each character by number that no XML has: for one of them, Trafilatura gives up the page.

    ```python
    from haystack_integrations.crag.formats.html_references import without_no_text

    assert without_no_text("<p>Nine&#11;to five&#33;</p>") == "<p>Nine to five&#33;</p>"
    ```

    :param page: An HTML page.
    :returns: The page.
    """
    return _NO_TEXT.sub(" ", page)
