"""What was worked out of a word before: texts come anew, most of their words do not."""

from collections.abc import Callable
from threading import local
from typing import Final, Generic, TypeVar

_MOST_WORDS: Final = 50_000

V = TypeVar("V")


class Remembered(dict[str, V]):
    """
    Work something out once for each word.

    ```python
    from haystack_integrations.crag.remembering import Remembered

    assert Remembered(str.upper)["emma"] == "EMMA"
    ```

    :param work_out: What works it out.
    """

    def __init__(self, work_out: Callable[[str], V]) -> None:
        self._work_out = work_out

    def __missing__(self, word: str) -> V:
        # Texts never end, words nearly do: forgetting all of them now and then is enough of a bound.
        if len(self) >= _MOST_WORDS:
            self.clear()
        self[word] = value = self._work_out(word)
        return value


class PerThread(local, Generic[V]):
    """
    Remember thread by thread, as neither a stemmer nor a forgetful dictionary can be shared without a lock.

    :param begin: Makes what works things out, for each thread its own.
    """

    def __init__(self, begin: Callable[[], Callable[[str], V]]) -> None:
        self.known = Remembered(begin())
