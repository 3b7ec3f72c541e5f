"""What a person sees of a run: verdict, evidence, the decision trail as a tree."""

import re
from collections.abc import Iterable, Iterator, Mapping
from math import inf
from typing import TYPE_CHECKING, Any, Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from haystack_integrations.crag.deciding.abstention import unanswered
from haystack_integrations.crag.deciding.record_tags import (
    absent_in,
    asked_alone,
    asked_apart,
    calibrated,
    language_in,
    read_otherwise,
)
from haystack_integrations.crag.deciding.retrieval_report import RETRIEVAL_RULES
from haystack_integrations.crag.deciding.thresholds import told

if TYPE_CHECKING:
    from haystack_integrations.crag.cli.outcome import Outcome

# A sentence is shown when it scores at least this share of the best one of its document.
_TELLING: Final = 0.5
_RULE: Final = re.compile(r"([*=~^_#-])\1{3,}")
_STYLES: Final = {"correct": "green", "ambiguous": "yellow", "incorrect": "red", "ungraded": "magenta"}
_ACTIONS: Final = {
    "generate": "answer from what was kept",
    "refine": "keep the good, search again with a better query",
    "re_retrieve": "drop it all, search again in another way",
    "web": "search the web instead",
    "web_and_refine": "keep the good, and search the web",
    "abstain": "say that the documents do not answer",
}
_LIMITS: Final = {
    "max_iterations": "no more passes allowed",
    "nothing_new": "the last correction found nothing new",
    "deadline": "out of time",
    "llm_calls": "no more model calls allowed",
    "tokens": "no more tokens allowed",
}
_REASONS: Final = {
    "unspaced_question": "the question has no spaces between words, so it cannot be judged well without a chat model",
    "evidence_cut:context_length": "the model's context had no room for all passages",
    "web_failed": "the web search failed (`crag doctor` says why)",
    "decisions_not_traced": "some of the decisions are not in this trace",
}


def outcome_view(outcome: "Outcome", most: int = 5) -> RenderableType:
    """
    Show what came out of one question.

    :param outcome: What came out.
    :param most: Most documents to show; all of them are in the JSON.
    :returns: Question, verdict, answer, evidence, trail.
    """
    parts: list[RenderableType] = [
        Text.assemble(("Question  ", "dim"), (outcome.question, "bold")),
        _verdict_line(outcome.crag),
        *_remarks(outcome.crag),
    ]
    if outcome.answer is not None:
        parts += [Text("\nAnswer", "bold"), Padding(Text(outcome.answer), (0, 0, 0, 3), expand=False)]
    if outcome.evidence:
        parts += [Text("\nEvidence", "bold"), *_evidence(outcome.evidence[:most], outcome.crag["thresholds"])]
        left = outcome.evidence[most:]
        parts += [Text(f"   and {len(left)} more; --json shows all", "dim")] if left else []
    parts += [] if outcome.evidence or outcome.answer is not None else [_abstention(outcome.crag)]
    return Group(*parts, Text(), trail_tree(outcome.crag))


def run_view(crag: Mapping[str, Any]) -> RenderableType:
    """
    Show how a run was decided, without what it was about.

    :param crag: The `crag` record, or what a trace tells of it.
    :returns: Verdict, warnings, trail.
    """
    return Group(_verdict_line(crag), *_remarks(crag), Text(), trail_tree(crag))


def _abstention(crag: Mapping[str, Any]) -> Text:
    """Say that nothing answers; what was looked for, found and missing, where the run ended so."""
    first, _, rest = unanswered(crag).partition("\n")
    return Text.assemble("\n", (first, "bold"), f"\n{rest}" if rest else "")


def _verdict_line(crag: Mapping[str, Any]) -> Text:
    cost = [_counted(crag["iterations"], "pass", "passes"), f"{crag['milliseconds']:.0f} ms"]
    if crag["llm_calls"]:
        spent = [*crag["tokens"].values()]
        cost += [_counted(crag["llm_calls"], "model call"), f"{'unknown' if None in spent else sum(spent)} tokens"]
    return Text.assemble(
        ("Verdict   ", "dim"),
        *_verdict(crag),
        " → ",
        (crag["action"], "bold"),
        (f"  {_deed(crag)}", "dim"),
        (f"  ({', '.join(cost)})", "dim"),
        *_mode(crag),
    )


def _counted(number: int, one: str, several: str = "") -> str:
    return f"{number} {one if number == 1 else several or f'{one}s'}"


def _deed(entry: Mapping[str, Any]) -> str:
    """Say what is done: of an index that was not searched nobody knows whether it answers."""
    if entry["action"] == "abstain" and entry.get("rule") in RETRIEVAL_RULES:
        return "say that not all documents could be searched"
    kept = entry["action"] != "generate" or entry.get("trail", [entry])[-1]["kept"]
    if kept and entry["action"] == "generate" and entry["verdict"] == "incorrect":
        return "give what passed the filter, which may not answer"
    return _ACTIONS[entry["action"]] if kept else "answer from the best that was found"


def _verdict(entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    style = _STYLES[entry["verdict"]]
    score = "" if entry["score"] is None else f" {told(entry['score'], entry['thresholds'].values())}"
    return [("● ", style), (entry["verdict"], f"bold {style}"), (score, style)]


def _remarks(crag: Mapping[str, Any]) -> list[RenderableType]:
    """Name what did not work; a limit that was reached stands in the trail."""
    answer = crag["answer"]
    said = ["the model says that the evidence does not answer"] * (answer["status"] == "declined")
    said += [f"the answer cites [{number}], and no passage has that number" for number in answer["cited_unknown"]]
    if numbers := answer["unsupported_numbers"]:
        named = f": {', '.join(numbers)}" if all(numbers) else ""
        said.append(f"the answer has {_counted(len(numbers), 'number')} that neither question nor evidence has{named}")
    said += [_REASONS.get(one, one) for one in crag["coverage"]["reasons"] if not one.startswith("limit:")]
    return [Text.assemble(("Warning   ", "yellow"), ", ".join(said))] if said else []


def _score(item: Mapping[str, Any], held: Mapping[str, float]) -> str:
    """Tell a grade; what the model rejects may be here as a cascade's scorer likes it, or the search has it first."""
    if item["score"] is None:
        return ""
    liked = f" (scorer {item['opinion']:.2f})" if item["opinion"] is not None else ""
    is_first = item["lead"] and item["lead"] >= held.get("clear_lead", inf) and item["score"] < held["filter"]
    return f"  {item['score']:.2f}{liked}" + (f" (found first, {item['lead']:.1f} x the next)" if is_first else "")


def _evidence(items: Iterable[Mapping[str, Any]], held: Mapping[str, float]) -> Iterator[RenderableType]:
    """Show documents with the sentences that tell most; one that stands in several of them only once."""
    shown: set[str] = set()
    for item in items:
        status = _score(item, held) + ("" if item["status"] in (None, "graded") else f" {item['status']}")
        status += "  from the web" if item["origin"] == "web" else ""
        head = Text.assemble((f"{item['number']:>2} ", "dim"), (_one_line(item["source"]), "cyan"), (status, "dim"))
        best = max((sentence["score"] for sentence in item["sentences"]), default=0)
        telling = [sentence for sentence in item["sentences"] if sentence["score"] >= _TELLING * best]
        texts = {_one_line(sentence["text"]): sentence["score"] for sentence in telling}
        new = {text: score for text, score in texts.items() if text not in shown}
        shown.update(new)
        yield head if new or not texts else Text.assemble(head, ("  the same sentences", "dim"))
        if new:
            table = Table.grid(padding=(0, 1, 0, 0))  # keeps the score beside the first line of a wrapped sentence
            table.add_column(justify="right", style="dim")
            table.add_column()
            for text, value in new.items():
                table.add_row(f"{value:.2f}", Text(text))
            yield Padding(table, (0, 0, 0, 3), expand=False)


def _one_line(text: str) -> str:
    """Give a sentence without its line breaks, and without the rule below a heading."""
    return " ".join(_RULE.sub("", text).split())


def trail_tree(crag: Mapping[str, Any]) -> Tree:
    """
    Show all decisions of a run, in order.

    :param crag: The `crag` record.
    :returns: A tree with a branch for each pass.
    """
    fit = "  not calibrated on your questions" * any(calibrated(one) is False for one in crag["trail"])
    root = Tree(Text.assemble(("Decision trail", "bold"), (fit, "dim")), guide_style="dim")
    for decision in crag["trail"]:
        most = decision["max_iterations"]  # a trace may have lost it
        branch = root.add(f"pass {decision['iteration']}" + (f" of {most}" if most else ""))
        limit = _LIMITS.get(decision["limit"], decision["limit"])
        meaning = (f"  {limit}", "yellow") if limit else (f"  {_deed(decision)}", "dim")
        lines: dict[str, list[str | tuple[str, str]]] = {
            "search": [decision["query"], (f"  {decision['strategy']}", "dim")],
            "verdict": [*_verdict(decision), (f"  {_reason(decision)}", "dim")],
            "documents": [_counts(decision)],
            "action": [(decision["action"], "bold"), meaning, *_mode(decision)],
        }
        for name, words in lines.items():
            branch.add(Text.assemble((f"{name:<10}", "dim"), *words))
    return root


def _reason(decision: Mapping[str, Any]) -> str:
    """Say which rule spoke, with the threshold it looked at."""
    held = decision["thresholds"]
    if not held.keys() >= {"upper", "lower", "filter"}:  # lost by a trace, on its way
        return str(decision["judged_by"])
    upper, lower, least = (f"{held[name]:.2f}" for name in ("upper", "lower", "filter"))
    scores = [entry["score"] for entry in decision["discarded"] if entry["score"] is not None]
    below = f"{'no more than' if decision['score'] == held['lower'] else 'below'} {lower}"
    if decision["score"] is None and scores:
        below = f"the best document has {told(max(scores), [held['filter']])}, below {least}"
    rules = {
        "upper_threshold": f"at least {upper}",
        "between_thresholds": f"from {lower} up to {upper}",
        "lower_threshold": below,
        "no_documents": "nothing was found",
    }
    if (surely := held.get("correct_from")) is not None:
        by = f" by {surely:.2f} or more" if surely else ""
        rules["set_verdict"] = f"set_verdict; answered only from what is correct{by}"
    if absent := absent_in(decision):
        named = _counted(absent, "number or name", "numbers or names")
        rules["set_verdict"] = f"set_verdict; {named} of the question in no document"
    reasons = [rules.get(decision["judged_by"], str(decision["judged_by"]))]
    if others := read_otherwise(decision):
        named = _counted(others, "word", "words")
        reasons.append(f"{named} of the question read as the documents write {'it' if others == 1 else 'them'}")
    if language := language_in(decision):
        reasons.append(f"words found in any form that {language.capitalize()} gives them")
    if (alone := asked_alone(decision)) not in (None, decision["verdict"]):
        reasons.append(f"{alone} by what is asked alone")
    if apart := asked_apart(decision):
        reasons.append(f"its questions one by one: {', '.join(apart)}")
    return "; ".join(reasons)


def _counts(decision: Mapping[str, Any]) -> str:
    kept, discarded = decision["kept"], decision["discarded"]
    reasons = ", ".join(dict.fromkeys(entry["reason"] for entry in discarded))
    cut = decision.get("grading", {}).get("cut")
    seen = f"; the grading model saw the beginning of {cut} only" if cut else ""
    return f"{len(kept)} kept, {len(discarded)} discarded" + (f" ({reasons})" if reasons else "") + seen


def _mode(decision: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Say when the decision was not acted on."""
    return [] if decision["mode"] == "enforce" else [(f"  not acted on: mode {decision['mode']}", "yellow")]
