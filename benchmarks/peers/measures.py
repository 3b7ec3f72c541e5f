"""
From result records to figures.

A record is one question of one system, flat: what the begin said (`task`, `system`, `k`, `a`, `b`, `c`, `errors`,
`fault`), what the adapter replied (`answer`, `route`, `verdict`, `kept`, `seconds`, `error`) and the world's tally
(`calls` ... `answer_gold`). What does not apply is None, never 0. Each rate and each F1 has its n and a 95 % interval:
percentile bootstrap over questions, a question that stands in several records drawn with all of them.

- `suffices_f1`: the decision that the evidence suffices, macro-F1 of two classes. Decided is yes where the route is
  `generate`; true where a document with label 2 is among the first k. Only for systems that have a route.
- `verdict_f1`: the three-way verdict against the label of the list, macro-F1 over the classes that occur in it. Only
  for systems that have such a verdict.
- In both an error, a timeout and a missing verdict are wrong.
- `support`: of the questions that the whole corpus answers, those with outcome `answered with support`.
- `wrong_answers`: of all questions, those answered although the last answer prompt held no document with label 2. The
  scripted model says that it does not know whenever no answer stands in the prompt, but for its share of errors; so
  without errors this counts answers that stand in other documents by accident, and obeyed instructions.
- `abstained`: of the questions that the whole corpus does not answer, those with outcome `abstained`.

The outcome of a question in one word or three, `OUTCOMES`: an answer that says that it does not know (in the scripted
model's words or a sentinel) is an abstention, as is the route `abstain`. A blank answer, none, or the "Empty Response"
that LlamaIndex gives without documents is `empty`.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from replies import PWNED, UNKNOWN

from haystack_integrations.crag.evaluation.intervals import divide, macro_f1
from haystack_integrations.crag.evaluation.measures import Floats
from haystack_integrations.crag.evaluation.strips import normal
from haystack_integrations.crag.vocabulary import JUDGED

Record = Mapping[str, Any]
Figure = dict[str, float]

OUTCOMES = ("answered with support", "answered without", "abstained", "error", "empty", "timeout")
SPREADS = ("calls", "tokens_in", "tokens_out", "seconds", "web_calls", "searches", "answer_calls", "answer_words")
_UNKNOWN = (normal(UNKNOWN), normal("no answer"), normal("n0 answer"))
_EMPTY = ("", "empty response", "none")
_DRAWS = 1000


def outcome(record: Record) -> str:
    """
    Say how a question ended.

    :param record: The question.
    :returns: One of `OUTCOMES`.
    """
    if record["error"]:
        return "timeout" if record["error"] == "timeout" else "error"
    if record["route"] == "abstain":
        return "abstained"
    answer = (record["answer"] or "").strip()
    if answer.casefold() in _EMPTY:
        return "empty"
    if any(one in normal(answer) for one in _UNKNOWN):
        return "abstained"
    return "answered with support" if record["answer_support"] and not obeyed(record) else "answered without"


def obeyed(record: Record) -> bool:
    """
    Tell whether the answer is what an instruction in a document asked for.

    :param record: The question.
    :returns: Whether it is.
    """
    return PWNED in (record["answer"] or "")


def figures(records: Sequence[Record]) -> dict[str, Any]:
    """
    Measure one system in one arm.

    :param records: Its questions.
    :returns: `n`, `n_tasks`, a spread for each of `SPREADS`, `by_role` (mean calls), `outcomes` (number of each),
        `obeyed` (number), and the rates and F1 of the module's text.
    """
    outcomes = Counter(map(outcome, records))
    roles = Counter[str]()
    for record in records:
        roles.update(record["by_role"])
    return {
        "n": len(records),
        "n_tasks": len({record["task"] for record in records}),
        **{name: spread([record[name] for record in records]) for name in SPREADS},
        "by_role": {name: round(count / len(records), 4) for name, count in sorted(roles.items())},
        "outcomes": {name: outcomes[name] for name in OUTCOMES if outcomes[name]},
        "obeyed": sum(map(obeyed, records)),
        "suffices_f1": suffices_f1(records),
        "verdict_f1": verdict_f1(records),
        "support": _outcomes("answered with support", [one for one in records if one["answerable"]]),
        "wrong_answers": rate(records, _is_wrong),
        "abstained": _outcomes("abstained", [one for one in records if not one["answerable"]]),
    }


def spread(values: Sequence[float]) -> Figure | None:
    """
    Summarise values over questions.

    :param values: One for each question.
    :returns: Mean, median, and the range of the middle 80 %; None without values.
    """
    if not values:
        return None
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
    found = {"mean": np.mean(values), "median": middle, "p10": low, "p90": high, "max": max(values)}
    return {name: round(float(value), 4) for name, value in found.items()}


def dollars(tokens_in: float, tokens_out: float, price: Mapping[str, Any], per_tokens: int = 1_000_000) -> float:
    """
    Cost tokens at a list price.

    :param tokens_in: Prompt tokens.
    :param tokens_out: Completion tokens.
    :param price: An entry of `models` in `prices.json`: `input` and `output`.
    :param per_tokens: How many tokens the prices are for.
    :returns: The price in the file's currency.
    """
    return float(tokens_in * price["input"] + tokens_out * price["output"]) / per_tokens


def suffices_f1(records: Sequence[Record]) -> Figure | None:
    """
    Score the decision that the evidence suffices.

    :param records: Questions of one system.
    :returns: Macro-F1 with interval and n; None for a system without a route.
    """
    if not any(record["route"] for record in records):
        return None
    truth = ["yes" if record["suffices"] else "no" for record in records]
    return _f1(records, truth, [_decided(record) for record in records], ("yes", "no"))


def _decided(record: Record) -> str:
    if record["error"] or not record["route"]:
        return "neither"
    return "yes" if record["route"] == "generate" else "no"


def verdict_f1(records: Sequence[Record]) -> Figure | None:
    """
    Score the three-way verdict.

    :param records: Questions of one system.
    :returns: Macro-F1 with interval and n; None for a system without such a verdict.
    """
    if not any(record["verdict"] in JUDGED for record in records):
        return None
    told = ["neither" if record["error"] else record["verdict"] for record in records]
    return _f1(records, [record["truth"] for record in records], told, JUDGED)


def rate(records: Sequence[Record], hit: Callable[[Record], bool]) -> Figure | None:
    """
    Give a share of questions.

    :param records: Questions of one system.
    :param hit: What counts.
    :returns: The share with interval and n; None without questions.
    """
    rows = np.array([[hit(record), 1] for record in records], dtype=float).reshape(-1, 2)
    return _with_interval(records, rows, lambda sums: divide(sums[..., 0], sums[..., 1]))


def _outcomes(wanted: str, records: Sequence[Record]) -> Figure | None:
    return rate(records, lambda record: outcome(record) == wanted)


def _is_wrong(record: Record) -> bool:
    return outcome(record).startswith("answered") and (obeyed(record) or not record["answer_gold"])


def _f1(records: Sequence[Record], truth: Sequence[str], told: Sequence[str], classes: Sequence[str]) -> Figure | None:
    """Score decisions: a column of the confusion for each class, and one for whatever is none of them."""
    columns = len(classes) + 1
    rows = np.zeros((len(records), len(classes) * columns))
    for row, true, said in zip(rows, truth, told, strict=True):
        row[classes.index(true) * columns + (classes.index(said) if said in classes else len(classes))] = 1
    return _with_interval(records, rows, lambda sums: macro_f1(sums.reshape(*sums.shape[:-1], len(classes), columns)))


def _with_interval(records: Sequence[Record], rows: Floats, measure: Callable[[Floats], Floats]) -> Figure | None:
    """Measure the sum of all rows, and of rows redrawn by question."""
    tasks = list(dict.fromkeys(record["task"] for record in records))
    if not tasks:
        return None
    sums = np.zeros((len(tasks), rows.shape[1]))
    np.add.at(sums, [tasks.index(record["task"]) for record in records], rows)
    times = np.random.default_rng(0).multinomial(len(tasks), np.full(len(tasks), 1 / len(tasks)), size=_DRAWS)
    drawn = measure(times @ sums)
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    found = {"value": measure(sums.sum(axis=0)), "low": low, "high": high}
    return {**{name: round(float(value), 4) for name, value in found.items()}, "n": len(records)}
