"""What is worked out of words once, thread by thread; that the memory is bounded is shown where it is used."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from haystack_integrations.crag.remembering import PerThread, Remembered


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
