"""What is worked out of words once; that the memory is bounded is shown where it is used."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from haystack_integrations.crag.judging.surface import WORD_FORMS
from haystack_integrations.crag.texts.languages.stemming import STEMS
from haystack_integrations.crag.texts.remembering import Remembered


def test_a_word_is_worked_out_once() -> None:
    asked: list[str] = []

    def work_out(word: str) -> int:
        asked.append(word)
        return len(word)

    known = Remembered(work_out)
    assert [known[word] for word in ("emma", "of", "emma")] == [4, 2, 4]
    assert asked == ["emma", "of"]


@pytest.mark.parametrize("memory", [STEMS, WORD_FORMS])
def test_a_word_is_remembered_once_for_all_threads(memory: Mapping[str, object]) -> None:
    """A memory for each thread of a server takes as many times the room, and goes on growing for days."""
    word = "remembrances"
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: memory[word]).result() is memory[word]


def test_a_memory_that_forgets_while_threads_read_it_is_right_for_each() -> None:
    known = Remembered(str.upper, most=3)
    words = [f"word{number % 7}" for number in range(20_000)]
    with ThreadPoolExecutor(8) as pool:
        told = pool.map(lambda _: [known[word] for word in words], range(8))
        assert all(each == [word.upper() for word in words] for each in told)


def test_what_is_no_word_is_worked_out_but_not_kept() -> None:
    """A paragraph in a script without spaces is met once, and would fill the memory."""
    known = Remembered(len)
    assert (known["a" * 40], known["a" * 41], list(known)) == (40, 41, ["a" * 40])


def test_a_full_memory_begins_anew() -> None:
    known = Remembered(len, most=2)
    assert [known[word] for word in ("a", "ab", "abc")] == [1, 2, 3]
    assert list(known) == ["abc"]
