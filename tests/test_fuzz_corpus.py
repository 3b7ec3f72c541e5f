"""The replies that fuzzing found worth keeping, and those written by hand: what must hold holds for each of them."""

from pathlib import Path

import pytest
from invariants import FINISHES, KEYS, case_of, check

from haystack_integrations.crag.replies.model_reply import MAX_REPLY_BYTES

CORPUS = sorted((Path(__file__).parents[1] / "fuzz" / "corpus" / "read_reply").iterdir())


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name[:40])
def test_all_that_is_promised_about_a_reply_holds_for_a_kept_one(path: Path) -> None:
    """No exception, no foreign key, no number outside [0, 1], no repair or position in a cut reply, and in time."""
    check(path.read_bytes())


def test_the_corpus_is_small_enough_to_run_each_time() -> None:
    """And large enough to be worth it."""
    assert 40 <= len(CORPUS) <= 200
    assert all(path.stat().st_size <= 4096 for path in CORPUS)


def test_any_bytes_make_a_case_and_a_letter_means_what_it_says() -> None:
    """So a person can write a corpus file, and a fuzzer can change it."""
    case = case_of(b's30.{"bkt": 0.4}')
    assert (case.text, case.keys, case.finish_reason, case.scale) == ('{"bkt": 0.4}', KEYS[:3], "stop", 1.0)
    assert case_of(b"l11x[1]").text == "[1][1][1]"
    assert case_of(b"").text is None
    assert len(case_of(b"s30M[").text or "") == MAX_REPLY_BYTES
    assert len(case_of(b"s30T[").text or "") == MAX_REPLY_BYTES + 1
    assert {case_of(bytes([byte]) * 5).finish_reason for byte in range(256)} == set(FINISHES.values())


def test_a_broken_promise_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check is no formality: a reader that credits a foreign key, or is slow, fails it."""
    data = b's30.{"bkt": 0.4}'
    with pytest.raises(AssertionError, match="took"):
        check(data, slowest_seconds=0.0)

    import invariants

    reply = check(data)
    reply.entries["zzz"] = reply.entries["bkt"]
    monkeypatch.setattr(invariants, "read_reply", lambda *_, **__: reply)
    with pytest.raises(AssertionError, match="nobody asked"):
        check(data)
