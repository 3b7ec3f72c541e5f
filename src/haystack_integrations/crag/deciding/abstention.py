"""
An abstention in words: what was looked for, what was found, what is missing.

`account` gathers it as plain JSON for the decision record, `in_words` says it: every number and name in the text is one
of the record's. Documents are named by title or source, never quoted.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.deciding.abstention_words import phrases, sentence, spoken
from haystack_integrations.crag.deciding.decisions import SET_VERDICT, Judgement
from haystack_integrations.crag.deciding.thresholds import told
from haystack_integrations.crag.grades import grade_of, unite
from haystack_integrations.crag.metadata import source_name, title_of
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.texts.languages.function_words import ASKING, function_words
from haystack_integrations.crag.texts.languages.inflections import in_forms_of
from haystack_integrations.crag.texts.questions.courtesies import bare_question
from haystack_integrations.crag.texts.questions.telling import first_search
from haystack_integrations.crag.texts.sanitise import sanitize_text
from haystack_integrations.crag.texts.text import PHRASES, words
from haystack_integrations.crag.texts.wording import ask
from haystack_integrations.crag.vocabulary import ABSTENTION, GRADER_FAILED, NONE_TO_SEARCH, WEB

_MOST_QUERIES: Final = 4
_MOST_WORDS: Final = 5
_MOST_FAILURES: Final = 2  # kinds of them, and searches that failed so; the record has all
_LONGEST_QUERY: Final = 120
_LONGEST_NAME: Final = 80
_LONGEST_WORD: Final = 40
_INDEX: Final = "documents"
_AROUND: Final = "\"'\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb()[]{}<>*?!,;:\u00bf\u00a1"

_UNSEARCHED: Final = ("incomplete", "failed")
_UNASKED: Final = ("skipped", "cooldown")


def account(
    known: CragState, documents: Sequence[Document], pool: Sequence[Document], judgement: Judgement
) -> dict[str, Any]:
    """
    Gather what an abstention has to say, as plain JSON.

    :param known: What the run knew before this pass: the question, the queries tried, what was seen.
    :param documents: The graded documents of this pass.
    :param pool: The best documents of all passes.
    :param judgement: What their grades say.
    :returns: `looked_for`: each query with the `strategies` it went to. `found`: how many `documents` were seen in all
        passes, the `best` judged one (`id`, `name`, `score`), or None, and how many were never judged, since that
        failed: `unjudged`. `missing`: the question's `words` that stand in none of the documents `searched` for them,
        which are all that were seen where `complete` is true. `web`: the best that became of it. `language`: the
        question's, in which all this is said, or None for English.
    """
    strategies: dict[str, list[str]] = {}
    web = known.web_at_best()
    for tried in known.queries:
        if tried["strategy"] == WEB and web in _UNASKED:
            continue  # written for a web that then was not searched
        strategies.setdefault(tried["query"], []).append(tried["strategy"])
    seen = {*known.seen, *(document.id for document in documents)}
    at_hand = unite(documents, pool)
    unjudged = judgement.counts["failed"] + judgement.pending
    return {
        "looked_for": [{"query": query, "strategies": names} for query, names in strategies.items()],
        "found": {"documents": len(seen), "best": _best(at_hand, known.trail), "unjudged": unjudged},
        "missing": {
            "words": _missing(known.query, at_hand),
            "searched": len(at_hand),
            "complete": seen <= {document.id for document in at_hand},
        },
        "web": web,
        "language": spoken(known.query, at_hand),
    }


def in_words(first: str, decision: Mapping[str, Any], *, explain: bool = True) -> str:
    """
    Say why the documents do not answer.

    :param first: The sentence that stands first, where all documents were searched and enough of them judged.
    :param decision: A decision record with an `abstention`, as `account` gave it, and how much was `searched`.
    :param explain: Say more than the first sentence.
    :returns: The sentence, and a line each for what was looked for, found and missing: in the language of the question
        where `data/abstentions.yml` has it, else in English, and whatever the questions and titles are, in at most
        2,000 characters.
    """
    abstention = decision["abstention"]
    said = phrases(abstention["language"])
    first = said["unjudged"] if decision["verdict"] == "ungraded" else sentence(first, abstention["language"])
    # Of documents that nobody judged it cannot be said that they do not answer.
    is_judged = decision["judged_by"] != GRADER_FAILED
    first = said[abstention["searched"]] if is_judged and abstention["searched"] in _UNSEARCHED else first
    if not explain:
        return first
    found = " ".join(_found(said, decision, **abstention["found"]))
    looked_for = _queries(said, abstention["looked_for"])
    has_words = any(_wanted(one["query"]) for one in abstention["looked_for"][:1])
    gap = _gap(said, **abstention["missing"], has_words=has_words)
    filled = {"queries": looked_for, "said": found, "gap": gap}
    lines = [said[name].format(**filled) for name in ("looked_for", "found", "missing")]
    return "\n".join([first, "", *lines] if first else lines)


def unanswered(record: Mapping[str, Any]) -> str:
    """Say of a whole run that nothing answers, by its record; and why, where it ended by an abstention."""
    return in_words(ABSTENTION, record["trail"][-1]) if record.get("abstention") else ABSTENTION


def _best(documents: Sequence[Document], trail: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Describe the best document that was judged in any pass; a failed grade says nothing of its document."""
    found: list[dict[str, Any]] = [
        {"id": document.id, "name": title_of(document) or source_name(document), "score": grade.score}
        for document in documents
        if (grade := grade_of(document)) is not None and grade.status != "failed"
    ]
    # What the web replaced is not at hand any more. It was found all the same, and may have been better.
    earlier = {one["id"]: one for decision in trail for one in (*decision["kept"], *decision["discarded"])}
    at_hand = {document.id for document in documents}
    gone = [earlier[id_] for id_ in earlier if id_ not in at_hand]
    judged = [one for one in gone if one["score"] is not None and one.get("status") != "failed"]
    found += [{"id": one["id"], "name": one.get("source"), "score": one["score"]} for one in judged]
    best = max(found, key=lambda one: one["score"], default=None)
    return best and {**best, "name": best["name"] and _clean(str(best["name"]), _LONGEST_NAME)}


def _missing(query: str, documents: Sequence[Document]) -> list[str]:
    """List the question's content words that no document has."""
    told = [(title_of(document), document.content or "") for document in documents]
    query, texts, _ = in_forms_of(first_search(bare_question(query)), told)
    question = ask(query)
    there = {term for text in texts for term in question.read("\n".join(text))}
    return [_as_written(word, query) for word, terms in _wanted(query).items() if there.isdisjoint(terms)]


def _wanted(query: str) -> dict[str, frozenset[str]]:
    """List a question's content words with their terms; a letter, ideograph or phrase says too little for that."""
    question = ask(query)
    written = list(dict.fromkeys(words(query)))
    silent = ASKING | function_words(written)
    naming = [word for word in written if word not in silent]
    told = [word for word in naming if len(word) > 1 and not PHRASES.search(word)]
    read = {word: frozenset(question.read(word)) for word in told}
    return {word: terms for word, terms in read.items() if terms}


def _as_written(word: str, query: str) -> str:
    """Find a word as the question has it: `us` stands in "the U.S. in Russia", and not in its Russia."""
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", query, re.IGNORECASE)
    pieces = (piece.strip(_AROUND) for piece in query.split() if words(piece) == [word])
    return (found[0] if found else next(pieces, word))[:_LONGEST_WORD]


def _queries(said: Mapping[str, Any], looked_for: Sequence[Mapping[str, Any]]) -> str:
    shown = []
    for one in looked_for[:_MOST_QUERIES]:
        # Beside another one, the first search is named too: else it would read as if that had been all.
        told = [name or _INDEX for name in dict.fromkeys(one["strategies"])]
        names = "" if told == [_INDEX] else _clean(", ".join(told), _LONGEST_WORD)
        shown.append(_quoted(_clean(one["query"], _LONGEST_QUERY)) + (f" ({names})" if names else ""))
    return _listed(said, shown, len(looked_for), "; ")


def _found(
    said: Mapping[str, Any], decision: Mapping[str, Any], documents: int, best: Mapping[str, Any] | None, unjudged: int
) -> Iterable[str]:
    """Say what there is and why it does not suffice, a sentence each."""
    counted = {0: "none", 1: "one"}.get(documents, "many")
    yield said["documents"][counted].format(number=documents)
    if best is not None:
        yield from _judged(said, decision, best)
    yield from _unsearched(said, (decision["retrieval"] or {}).get("retrievers") or {})
    if unjudged:
        yield said["some_unjudged"].format(number=unjudged)
    ends = (said["limit"].get(decision["limit"]), said["web"].get(decision["abstention"]["web"]))
    yield from (text for text in ends if text)


def _unsearched(said: Mapping[str, Any], retrievers: Mapping[str, Mapping[str, Any]]) -> Iterable[str]:
    """Say which searches did not do what they were to, those together that failed in the same way."""
    alike: dict[tuple[str, str], list[str]] = {}
    for name, search in retrievers.items():
        kind = _clean(str(search.get("kind") or ""), _LONGEST_WORD)
        if kind in NONE_TO_SEARCH:
            alike.setdefault((kind, ""), [])
        elif search["status"] != "ok":
            how = "failed" if search["status"] == "failed" else "partial"
            alike.setdefault((how, kind and f" ({kind})"), []).append(_clean(name, _LONGEST_WORD))
    for (how, why), names in [*alike.items()][:_MOST_FAILURES]:
        yield said["search"][how].format(name=_listed(said, names[:_MOST_FAILURES], len(names), ", "), why=why)


def _judged(said: Mapping[str, Any], decision: Mapping[str, Any], best: Mapping[str, Any]) -> Iterable[str]:
    """Say how good the best document is, and what was found as a whole."""
    verdict, score, thresholds = decision["verdict"], decision["score"], decision["thresholds"]
    is_below = best["score"] < thresholds["filter"]
    below = said["best"]["below"].format(least=f"{thresholds['filter']:.2f}") if is_below else ""
    relevance = told(best["score"], [thresholds["filter"]])
    yield said["best"]["named" if best["name"] else "unnamed"].format(name=best["name"], score=relevance, below=below)
    if verdict in ("ambiguous", "incorrect") and not is_below:
        upper = thresholds["upper"]
        # A grader that is taken at its word does not go by the threshold.
        is_told = score is not None and score < upper and decision["judged_by"] != SET_VERDICT
        numbers = {"score": told(score, [upper]), "enough": f"{upper:.2f}"} if is_told else {}
        why = said["judged"]["numbers"].format(**numbers) if numbers else ""
        yield said["judged"]["told"].format(verdict=verdict, numbers=why)
        if (least := thresholds.get("correct_from")) is not None:
            # 0: any verdict `correct` will do
            yield said["seldom_wrong"]["least" if least else "any"].format(least=f"{least:.2f}")


def _gap(said: Mapping[str, Any], words: Sequence[str], searched: int, *, complete: bool, has_words: bool) -> str:
    gap: Mapping[str, str] = said["gap"]
    if not searched:
        return gap["document"]
    if not words:  # of a question without spaces, or of single letters, no word was looked for
        return gap["words_occur" if has_words else "answer"]
    named = _listed(said, [_quoted(word) for word in words[:_MOST_WORDS]], len(words), ", ")
    where = ("one" if searched == 1 else "many") + ("" if complete else "_at_hand")
    return gap[where].format(words=named, number=searched)


def _listed(said: Mapping[str, Any], shown: Sequence[str], of: int, mark: str) -> str:
    listed = mark.join(shown)
    return str(said["more"].format(listed=listed, more=of - len(shown))) if of > len(shown) else listed


def _quoted(text: str) -> str:
    return f'"{text}"'


def _clean(text: str, most: int) -> str:
    """Put a text on one line, without what a reader's client would act on: a title is its author's, not ours."""
    line = " ".join(sanitize_text(text[: 4 * most])[0].split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
