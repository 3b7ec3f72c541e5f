"""Reading replies: no shift, no invention (promises P1 and P2), and whatever forms models send."""

import json
import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.grading.reply import read_reply
from haystack_integrations.crag.replies.model_reply import MAX_REPLY_BYTES

KEYS = ["bkt", "dmv", "gqz"]
SCORES = {"bkt": 0.9, "dmv": 0.2, "gqz": 0.5}
EVALUATIONS = [{"id": key, "score": score, "reason": f"because {key}"} for key, score in SCORES.items()]
KEYED = json.dumps({"evaluations": EVALUATIONS})
PAIRS = [f"{key} {score}" for key, score in SCORES.items()]
LINE = '{"grades": "bkt .9 dmv .2 gqz .5"}'


def scores(text: str | None, finish_reason: str | None = "stop", **options: Any) -> dict[str, float]:
    """Scores by key."""
    reply = read_reply(text, KEYS, finish_reason=finish_reason, **options)
    return {key: entry.score for key, entry in reply.entries.items()}


@pytest.mark.parametrize(
    "text",
    [
        KEYED,
        json.dumps(EVALUATIONS),
        json.dumps(SCORES),
        json.dumps({"evaluations": PAIRS}),
        json.dumps([pair.replace(" ", ": ") for pair in reversed(PAIRS)]),
        json.dumps({"evaluations": PAIRS}).removesuffix("}"),
        LINE,
        LINE.replace(" .", ": 0.").replace("2 0", "2, 0"),
        LINE.removesuffix("}"),
        f"```json\n{LINE}\n```",
        LINE.replace("grades", "evaluations"),
        json.dumps(list(reversed(EVALUATIONS))),
        f"```json\n{KEYED}\n```",
        f"Sure! Here you are:\n{KEYED}\nAnything else?",
        f'<think>maybe {{"evaluations":[{{"id":"bkt","score":0.1}}]}}</think>{KEYED}',
        f"As [1] says, {KEYED}",
        KEYED.replace("0.9", '"0.9"'),
        json.dumps([0.9, 0.2, 0.5]),
        json.dumps({"scores": [0.9, 0.2, 0.5]}),
        KEYED.replace("}]}", "},]}"),
        KEYED.replace("0.", "."),
        json.dumps(SCORES).replace("0.", "."),
        "[.9, .2,.5]",
        LINE.replace('"', "'"),
        LINE.replace("}", ",}"),
        f"```json\n{LINE.replace('}', ',}')}\n```",
        json.dumps({"grades": {key: {"score": score, "reason": "."} for key, score in SCORES.items()}}),
        json.dumps([{key: score} for key, score in reversed(SCORES.items())]),
    ],
)
def test_forms_that_models_send_are_understood(text: str) -> None:
    """Keyed lists, mappings, fences, prose, thoughts, arrays of the right length, slips such as a comma too many."""
    assert scores(text) == SCORES


def test_a_declared_scale_divides_the_scores() -> None:
    """0-10 becomes 0-1."""
    assert scores(json.dumps([9, 2, 5]), scale=10) == SCORES


@pytest.mark.parametrize("text", [json.dumps([0.9, 0.2]), json.dumps([0.9, 0.2, 0.5, 0.1])])
def test_an_array_of_another_length_credits_nobody(text: str) -> None:
    """A short or long array cannot be told apart from a shifted one."""
    reply = read_reply(text, KEYS, finish_reason="stop")
    assert reply.entries == {}
    assert reply.problem == "array_length"


@pytest.mark.parametrize(
    "value", ["true", '"90 %"', '"0,9"', "-0.1", "1.1", "95", "null", "NaN", "Infinity", "1e999", "[]"]
)
def test_what_is_no_score_is_never_made_one(value: str) -> None:
    """Not clipped, not guessed, not read as 1."""
    text = f'{{"evaluations":[{{"id":"bkt","score":{value}}},{{"id":"dmv","score":0.2}}]}}'
    assert "bkt" not in scores(text)


def test_contradicting_entries_for_one_document_count_as_missing() -> None:
    """Nobody knows which one is meant."""
    reply = read_reply(f"{KEYED} {json.dumps({'bkt': 0.1})}", KEYS, finish_reason="stop")
    assert "bkt" not in reply.entries
    assert reply.conflicting == {"bkt"}


def test_entries_for_unknown_documents_are_dropped_and_counted() -> None:
    """Injected text cannot name a neighbour it does not know."""
    text = json.dumps([*EVALUATIONS, {"id": "zzz", "score": 1.0}])
    reply = read_reply(text, KEYS, finish_reason="stop")
    assert len(reply.entries) == 3
    assert reply.unknown == 1


@pytest.mark.parametrize(
    ("text", "finish", "problem"),
    [
        ("", "stop", "empty"),
        (None, "stop", "empty"),
        ("I cannot judge that.", "stop", "not_json"),
        (None, "length", "length"),
        (" \n", "max_tokens", "length"),
        (KEYED, "content_filter", "content_filter"),
        ("x" * (MAX_REPLY_BYTES + 1), "stop", "too_long"),
        ("[" * 16_000, "stop", "not_json"),
        ("[" * 60_000, "stop", "too_long"),
        ("[" * 100_000, "stop", "too_long"),
        ("[]" * 8_000, "stop", "array_length"),
    ],
)
def test_an_unusable_reply_names_its_problem(text: str | None, finish: str, problem: str) -> None:
    """And gives no score at all."""
    reply = read_reply(text, KEYS, finish_reason=finish)
    assert reply.entries == {}
    assert reply.problem == problem


def test_every_prefix_of_a_cut_reply_keeps_closed_entries_and_invents_none() -> None:
    """P2: cut output never makes a score; what was closed before the cut is kept."""
    for text in (KEYED, json.dumps(EVALUATIONS), f"```json\n{json.dumps(EVALUATIONS, indent=1)}\n```"):
        for end in range(len(text)):
            found = scores(text[:end], "length")
            closed = re.findall(r'\{[^{}]*"id": "(\w+)"[^{}]*\}', text[:end])
            assert found == {key: SCORES[key] for key in closed}


@pytest.mark.parametrize("finish", ["length", "stop"])
def test_every_prefix_of_a_reply_of_pairs_keeps_closed_entries_and_invents_none(finish: str) -> None:
    """P2 for the short form, also where the finish reason lies: without its closing quote a score is none."""
    for text in (json.dumps({"evaluations": PAIRS}), f"```json\n{json.dumps(PAIRS, indent=1)}\n```"):
        for end in range(len(text)):
            closed = re.findall(r'"(\w{3}) [0-9.]+"', text[:end])
            assert scores(text[:end], finish) == {key: SCORES[key] for key in closed}


@pytest.mark.parametrize("finish", ["length", "stop"])
def test_every_prefix_of_an_object_of_scores_keeps_what_another_one_follows_and_invents_nothing(finish: str) -> None:
    """P2 for the form that is asked for, also where the finish reason lies: without the comma a score may go on."""
    whole = json.dumps(SCORES)
    for end in range(len(whole)):
        closed = re.findall(r'"(\w{3})": [0-9.]+,', whole[:end])
        assert scores(whole[:end], finish) == {key: SCORES[key] for key in closed}


@pytest.mark.parametrize("finish", ["length", "stop"])
def test_every_prefix_of_a_line_keeps_what_another_key_follows_and_invents_nothing(finish: str) -> None:
    """P2 for the shortest form, also where the finish reason lies; the third key begins with a digit."""
    for end in range(len(LINE)):
        ends = {"bkt": LINE.index("dmv"), "dmv": LINE.index("gqz"), "gqz": LINE.rindex('"')}
        assert scores(LINE[:end], finish) == {key: SCORES[key] for key, at in ends.items() if at < end}


@pytest.mark.parametrize(
    ("line", "credited"),
    [
        ("bkt .9 dmv 0,2 gqz .5", {"bkt", "gqz"}),
        ("bkt 0 9 dmv .2 gqz .5", {"dmv", "gqz"}),
        ("bkt dmv .2 gqz .5", {"dmv", "gqz"}),
        ("bkt high dmv .2 gqz .5", {"dmv", "gqz"}),
        ("bkt .9% dmv .2 gqz -.5", {"dmv"}),
        ("bkt .9 dmv .2 gqz 0.", {"bkt", "dmv"}),
        ("bkt .9 dmv .2 zzz .7 gqz", {"bkt", "dmv"}),
        ("bkt .9 dmv .2 bkt .8 gqz .5", {"dmv", "gqz"}),
        ("xbkt .9 dmv0 .2 gqz .5", {"gqz"}),
        ("BKT .9 dmv .2 gqz .5", {"dmv", "gqz"}),
    ],
)
def test_of_a_line_only_a_key_with_exactly_one_score_behind_it_counts(line: str, credited: set[str]) -> None:
    """A decimal comma, a second number, a missing one, words, signs, foreign keys, a contradiction: no guess."""
    reply = read_reply(json.dumps({"grades": line}), KEYS, finish_reason="stop")
    assert {key: entry.score for key, entry in reply.entries.items()} == {key: SCORES[key] for key in credited}
    assert reply.problem in ("missing", "invalid")


@pytest.mark.parametrize("line", [".9 bkt .2 dmv .5 gqz", "(.9 bkt .2 dmv .5 gqz)", "1: .9 bkt .2 dmv"])
@pytest.mark.parametrize("finish", ["stop", "length"])
def test_a_line_with_the_scores_first_credits_nobody(line: str, finish: str) -> None:
    """Read as it was asked for, each document would get the score of its neighbour."""
    for text in (
        json.dumps({"grades": line}),
        json.dumps({"grades": line}).removesuffix('"}'),
        f"{{'grades': '{line}'}}",
    ):
        assert scores(text, finish) == {}


@pytest.mark.parametrize(
    "text",
    [
        f"I would say {LINE.replace(chr(34), chr(39))}",
        '{"bkt": 0,.9}',
        '{"bkt": -.9}',
        '{"bkt": .9.1}',
        """{'reason': "{'grades': 'bkt .9'}",}""",
    ],
)
def test_a_slip_that_leaves_a_doubt_is_not_mended(text: str) -> None:
    """A line in prose or in a reason is a quotation; a number with two points or a comma is none."""
    assert scores(text) == {}


def test_a_line_on_another_scale_credits_zeros_only() -> None:
    reply = read_reply('{"grades": "bkt 9 dmv 0 gqz 1"}', KEYS, finish_reason="stop")
    assert {key: entry.score for key, entry in reply.entries.items()} == {"dmv": 0.0}
    assert (reply.off_scale, reply.problem) == (True, "invalid")
    assert scores('{"grades": "bkt 9 dmv 2 gqz 5"}', scale=10) == SCORES


@pytest.mark.parametrize(
    ("line", "scale", "found"),
    [
        ("bkt 1 dmv 1 gqz 0", 1, {"gqz": 0.0}),
        ("bkt 1 dmv .4 gqz 0", 1, {"bkt": 1.0, "dmv": 0.4, "gqz": 0.0}),
        ("bkt 1 dmv 1 gqz 0", 10, {"gqz": 0.0}),
        ("bkt 1 dmv 7 gqz 0", 10, {"bkt": 0.1, "dmv": 0.7, "gqz": 0.0}),
    ],
)
def test_after_marks_of_another_scale_a_one_needs_a_neighbour_that_tells_which_scale_it_is_of(
    line: str, scale: float, found: dict[str, float]
) -> None:
    reply = read_reply(json.dumps({"grades": line}), KEYS, finish_reason="stop", scale=scale, doubted=True)
    assert {key: entry.score for key, entry in reply.entries.items()} == found
    assert reply.off_scale == (len(found) == 1)


@pytest.mark.parametrize(
    "entry", ["bkt", "bkt high", " bkt 0.9", "bkt 0.9 ", "BKT 0.9", "bkt 0,9", "bkt -0.1", "1 0.9"]
)
def test_a_text_that_is_no_key_and_score_credits_nobody(entry: str) -> None:
    """Neither guessed nor counted by its place; the entries beside it hold."""
    reply = read_reply(json.dumps([entry, PAIRS[1], PAIRS[2]]), KEYS, finish_reason="stop")
    assert set(reply.entries) == {"dmv", "gqz"}
    assert reply.problem == "invalid"
    assert not reply.positional


def test_a_key_and_score_that_is_quoted_in_an_entry_is_none() -> None:
    """A reason may say anything; only where a reply has no objects are its texts entries."""
    entries = [{"id": "bkt", "score": 0.9, "reason": "dmv 1.0"}, {"id": "dmv", "score": 0.2}]
    text = json.dumps({"evaluations": entries})
    for finish, end in (("stop", len(text)), ("length", text.index("}, {") + 1), ("stop", text.index("}, {") + 1)):
        assert scores(text[:end], finish).get("dmv") in (None, 0.2)


def test_half_a_character_in_a_reason_is_a_sign_since_no_record_could_be_sent_with_it() -> None:
    """JSON can hold it, escaped; `crag serve` answered 500."""
    entries = [{"id": key, "score": score, "reason": "\ud83d"} for key, score in SCORES.items()]
    reply = read_reply(json.dumps({"evaluations": entries}), KEYS, finish_reason="stop")
    assert {entry.reason for entry in reply.entries.values()} == {"\ufffd"}


def test_braces_in_a_reason_are_text() -> None:
    """A closed entry is kept whatever its reason holds, and an entry written into a reason is none."""
    decoy = '{"id": "dmv", "score": 1.0}'
    entries = [{"id": "bkt", "score": 0.9, "reason": f"says {{x}} and {decoy}"}, {"id": "dmv", "score": 0.2}]
    text = json.dumps({"evaluations": entries})
    assert scores(text[:-2], "length") == {"bkt": 0.9, "dmv": 0.2}
    assert scores(text[: text.index("}, {") + 1], "length") == {"bkt": 0.9}
    assert scores(text[: text.index('"}, {')], "length") == {}


@pytest.mark.parametrize("finish", ["stop", None])
def test_a_cut_reply_that_claims_to_be_complete_invents_nothing(finish: str | None) -> None:
    """Proxies lie about the finish reason: a score that was cut in the middle is never completed."""
    for end in range(len(KEYED)):
        for key, score in scores(KEYED[:end], finish).items():
            assert score == SCORES[key]


keys = st.lists(st.text("bcdfghjklmnpqrstvwxz", min_size=3, max_size=4), min_size=1, max_size=8, unique=True)


@given(keys=keys, data=st.data())
def test_a_document_gets_only_the_score_given_to_it(keys: list[str], data: st.DataObject) -> None:
    """P1: short, long, permuted, duplicate and foreign entries never shift a score to a neighbour."""
    truth = {key: data.draw(st.integers(0, 100)) / 100 for key in keys}
    entries = [{"id": key, "score": truth[key]} for key in data.draw(st.permutations(keys))]
    entries = entries[: data.draw(st.integers(0, len(entries)))]
    entries += [dict(entry) for entry in entries[: data.draw(st.integers(0, 2))]]
    entries += [{"id": f"zz{n}", "score": 1.0} for n in range(data.draw(st.integers(0, 2)))]
    found = read_reply(json.dumps({"evaluations": entries}), keys, finish_reason="stop")
    assert {key: entry.score for key, entry in found.entries.items()} == {
        key: truth[key] for key in keys if any(entry["id"] == key for entry in entries)
    }


_MARKS = ("1e999", "NaN", "null", '"id"', '"score"', '"grades"', "```json\n", "```", "<think>", "</think>")
_ENTRIES = (*PAIRS, LINE, KEYED, *map(json.dumps, EVALUATIONS), '{"id": "dmv", "score": 7}', '"zzz 0.9"')
_PIECES = st.sampled_from([*KEYS, *_ENTRIES, *_MARKS, *'{}[]:,"0.9'])


@given(
    text=st.text(max_size=300) | st.lists(_PIECES | st.text(max_size=3), max_size=12).map("".join),
    finish=st.sampled_from(["stop", "length", None, "content_filter"]),
    scale=st.sampled_from([1.0, 10.0]),
)
def test_no_text_makes_the_reader_raise(text: str, finish: str | None, scale: float) -> None:
    """Whatever comes back, the reader answers: with scores in [0, 1] of what was asked, or why there are none."""
    reply = read_reply(text, KEYS, finish_reason=finish, scale=scale)
    assert set(reply.entries) <= set(KEYS)
    assert all(0 <= entry.score <= 1 for entry in reply.entries.values())
    assert (reply.problem is None) == (len(reply.entries) == len(KEYS))
    assert reply.conflicting.isdisjoint(reply.entries)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "As [1] says, none of it helps.",
            "{0.9,}{0.1,}",
            "Scores:\n[0.7]",
            "[0.9, 0.1][0.2]",
            "```json\n[0.9]\n```[0.1]",
        ),
        'As it says, {"evaluations": [0.9]} would do.',
    ],
)
def test_an_array_in_prose_is_a_citation_and_no_score(text: str) -> None:
    """Also when it has the right length, which for one document is every `[1]`."""
    assert read_reply(text, ["bkt"], finish_reason="stop").entries == {}


@pytest.mark.parametrize(
    "text", ["[0.9]", "```\n[0.9]\n```", "Here:\n```json\n[0.9]\n```\nDone.", "<think>[1]</think>[0.9]"]
)
def test_an_array_that_is_all_of_the_reply_or_of_a_code_block_is_one(text: str) -> None:
    """Thoughts do not count."""
    reply = read_reply(text, ["bkt"], finish_reason="stop")
    assert reply.entries["bkt"].score == 0.9
    assert reply.positional


def test_an_array_with_one_place_that_is_no_number_credits_nobody() -> None:
    """Nobody knows what the other places stand for."""
    assert scores('[0.9, "doc 2: [0.2", 0.5]') == {}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("{'id': 'bkt', 'score': 0.9}", {"bkt": 0.9}),
        ('[{"id": "bkt", "score": 0.9,} {"id": "dmv", "score": 0.2}]', {"bkt": 0.9, "dmv": 0.2}),
        ("{id: bkt, score: 0.9}", {"bkt": 0.9}),
        ("{'bkt': 0.9, 'dmv': 0.2,}", {"bkt": 0.9, "dmv": 0.2}),
        ('{"id": "bkt", "score": 0,9}', {}),
        ("{'id': 'bkt', 'score': 0.9, 'score': 0.1}", {}),
        ('{"id": "bkt", "score": 0.9, "score": 0.1}', {}),
        ('{"bkt": 0.9, "bkt": 0.1}', {}),
        ("{'id': 'bkt', 'score': 0.9", {}),
    ],
)
def test_repair_mends_single_objects_and_makes_nothing_up(text: str, wanted: dict[str, float]) -> None:
    """Quotes and commas, yes; a decimal comma, a value given twice, an object left open: no."""
    assert scores(text) == wanted


@pytest.mark.parametrize(
    "text", ['{"bkt": "０.９"}', '{"bkt": "٠.٥"}', '{"bkt": 1' + "0" * 400 + "}", '{"bkt": -0.0001}']
)
def test_digits_of_other_scripts_and_numbers_out_of_all_range_are_no_scores(text: str) -> None:
    """And raise nothing."""
    for finish in ("stop", "length"):
        assert scores(text, finish) == {}


def test_a_mapping_under_a_name_is_understood() -> None:
    """As some models write it."""
    assert scores(json.dumps({"scores": SCORES})) == SCORES


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"so [1] is best, {{hm}}</think>{KEYED}", SCORES),
        (f'{{"bkt": 0.1}} perhaps</think>{KEYED}', {"dmv": 0.2, "gqz": 0.5}),
        (f"<THINK>{KEYED.replace('0.9', '0.1')}</THINK>{KEYED}", SCORES),
        (f"<thinking>{KEYED.replace('0.9', '0.1')}</thinking>{KEYED}", SCORES),
        (f"<think>{KEYED}", {}),
    ],
)
def test_thoughts_are_no_replies(text: str, wanted: dict[str, float]) -> None:
    """Those that never end hide all; those that nothing opened are text, and contradict what is said later."""
    assert scores(text) == wanted


@pytest.mark.parametrize(
    "text",
    ['["a"' + "a" * 60_000 + "]", "{a,}" * 16_000, "[" + "(" * 60_000 + "]", "<think>" * 9_000, "</think>" * 8_000],
)
def test_hostile_replies_cost_milliseconds(text: str) -> None:
    """The repairer alone would take minutes for some."""
    start = time.thread_time()
    read_reply(text, KEYS, finish_reason="stop")
    assert time.thread_time() - start < 0.5


@pytest.mark.parametrize("name", ["document_id", "key", "ID"])
def test_a_key_counts_whatever_its_field_is_called(name: str) -> None:
    """A permuted reply names its documents: their places would give each the score of another."""
    said = {"evaluations": [{name: "cnw", "score": 0.1}, {name: "bkt", "score": 0.9}]}
    reply = read_reply(json.dumps(said), ["bkt", "cnw"], finish_reason="stop")
    assert {key: entry.score for key, entry in reply.entries.items()} == {"bkt": 0.9, "cnw": 0.1}
    assert not reply.positional


@pytest.mark.parametrize(
    "said",
    [
        {"evaluations": [{"index": 1, "score": 0.1}, {"index": 0, "score": 0.9}]},
        {"evaluations": [{"title": "B", "score": 0.1}, {"title": "A", "score": 0.9}]},
        {"ids": ["cnw", "bkt"], "scores": [0.1, 0.9]},
    ],
)
def test_entries_that_name_their_documents_otherwise_are_not_taken_by_their_places(said: dict[str, Any]) -> None:
    reply = read_reply(json.dumps(said), ["bkt", "cnw"], finish_reason="stop")
    assert (reply.entries, reply.problem is None) == ({}, False)


def test_a_reply_on_another_scale_credits_none_of_its_marks() -> None:
    """With an 8 on a scale of 1, a 1 is one of ten and not full marks; nothing is nothing on any scale."""
    said = {"evaluations": [{"id": "bkt", "score": 8}, {"id": "cnw", "score": 1}, {"id": "frx", "score": 0}]}
    reply = read_reply(json.dumps(said), ["bkt", "cnw", "frx"], finish_reason="stop")
    assert ({key: entry.score for key, entry in reply.entries.items()}, reply.problem) == ({"frx": 0.0}, "invalid")


@pytest.mark.parametrize(
    ("marks", "credited"),
    [
        ([0.9, 0.2, 0.0], [None, None, 0.0]),
        ([1, 0.5, 0.3], [None, None, None]),
        ([1, 0, 1], [0.1, 0.0, 0.1]),
        ([9, 0.5, 0], [0.9, 0.05, 0.0]),
        ([0, 0, 0], [0.0, 0.0, 0.0]),
    ],
)
def test_marks_from_0_to_1_on_a_scale_of_10_are_not_read_as_tenths(
    marks: list[float], credited: list[float | None]
) -> None:
    """Fractions and nothing above 1: a 0.9 is nearly full marks there, and next to nothing here."""
    reply = read_reply(json.dumps(dict(zip(KEYS, marks, strict=True))), KEYS, finish_reason="stop", scale=10)
    found = [reply.entries[key].score if key in reply.entries else None for key in KEYS]
    assert found == pytest.approx(credited)
    assert reply.problem == (None if None not in credited else "invalid")
