"""What is worked out of words once, thread by thread; that the memory is bounded is shown where it is used."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from haystack_integrations.crag.texts.remembering import PerThread, Remembered


def test_a_word_is_worked_out_once() -> None:
    asked: list[str] = []

    def work_out(word: str) -> int:
        asked.append(word)
        return len(word)

    known = Remembered(work_out)
    assert [known[word] for word in ("emma", "of", "emma")] == [4, 2, 4]
    assert asked == ["emma", "of"]


def test_each_thread_has_its_own() -> None:
    begun: list[int] = []

    def begin() -> Callable[[str], int]:
        begun.append(len(begun))
        return lambda _: begun[-1]

    each = PerThread(begin)
    with ThreadPoolExecutor(1) as pool:
        assert (each.known["a"], pool.submit(lambda: each.known["a"]).result(), each.known["a"]) == (0, 1, 0)


def test_what_is_no_word_is_worked_out_but_not_kept() -> None:
    """A paragraph in a script without spaces is met once, and would fill the memory."""
    known = Remembered(len)
    assert (known["a" * 40], known["a" * 41], list(known)) == (40, 41, ["a" * 40])


def test_a_full_memory_begins_anew() -> None:
    known = Remembered(len, most=2)
    assert [known[word] for word in ("a", "ab", "abc")] == [1, 2, 3]
    assert list(known) == ["abc"]
