"""What was worked out of a word before: texts come anew, most of their words do not."""

from collections.abc import Callable
from typing import Final, TypeVar

_MOST_WORDS: Final = 50_000
_LONGEST_WORD: Final = 40  # beyond it is no word, but an address, or a paragraph in a script without spaces

V = TypeVar("V")


class Remembered(dict[str, V]):
    """
    Work something out once for each word of ordinary length. Safe to share between threads, if working it out is.

    ```python
    from haystack_integrations.crag.texts.remembering import Remembered

    assert Remembered(str.upper)["emma"] == "EMMA"
    ```

    :param work_out: What works it out.
    :param most: Words to remember.
    """

    def __init__(self, work_out: Callable[[str], V], most: int = _MOST_WORDS) -> None:
        self._work_out, self._most = work_out, most

    def __missing__(self, word: str) -> V:
        value = self._work_out(word)
        if len(word) <= _LONGEST_WORD:
            # Texts never end, words nearly do: forgetting all of them now and then is enough of a bound.
            if len(self) >= self._most:
                self.clear()
            self[word] = value
        return value
