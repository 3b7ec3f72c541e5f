"""
Questions as people type them, and documents as some stores hold them: what becomes of the verdict and the search.

    python benchmarks/as_typed.py DATASETS [--limit 250] [--search 50]

The first five documents of the fixed lists of the open half, judged uncalibrated with the statistics of their corpus:
macro-F1, the share of verdicts that are other ones than for the plain question over plain documents, and how many
questions that their documents answer were called `incorrect`; each without and with what reads them as they are meant
(`texts/questions/courtesies.py`, `judging/respelling.py`, `judging/surface.py`).

Then searches for questions whose list answers, in the whole corpus: how often a document that answers is among the
first five of BM25 (in memory), of the static embeddings, and of both fused as the shipped pipelines do. A misspelt word
is searched for as it is, so those have one figure.
"""

import argparse
import random
import re
import string
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from unittest.mock import patch
from urllib.parse import quote

from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.crag.components import EvidenceJoiner
from haystack_integrations.crag.encoding.encoders import load_encoder
from haystack_integrations.crag.evaluation.cases import Case, Dataset
from haystack_integrations.crag.evaluation.measures import verdict_measures
from haystack_integrations.crag.evaluation.reading import read_dataset
from haystack_integrations.crag.evaluation.training import corpus_statistics
from haystack_integrations.crag.judging import surface
from haystack_integrations.crag.judging.calibration import load_calibration
from haystack_integrations.crag.judging.grading import grade
from haystack_integrations.crag.judging.reading import Reader
from haystack_integrations.crag.texts.questions.courtesies import bare_question
from haystack_integrations.crag.texts.questions.telling import first_search

SETS = ("popqa", "clapnq", "scifact", "covidqa", "hotpotqa")
FIRST = 5
_OPENERS = {"What", "Who", "When", "Where", "How", "Why", "Which", "Is", "Are", "Does", "Did", "Do", "In", "Was", "The"}
Way = Callable[[str, random.Random], str]


def small(question: str) -> str:
    return question[0].lower() + question[1:] if question.split(" ", maxsplit=1)[0] in _OPENERS else question


def _slip(kind: str, question: str, chance: random.Random) -> str:
    """Mistype a word of six letters or more."""
    parts = question.split()
    if not (places := [place for place, word in enumerate(parts) if len(word) > FIRST and word.isalpha()]):
        return question
    place = chance.choice(places)
    word = parts[place]
    n = chance.randrange(1, len(word) - 1)
    other = chance.choice(string.ascii_lowercase)
    slips = {
        "swapped": word[:n] + word[n + 1] + word[n] + word[n + 2 :],
        "omitted": word[:n] + word[n + 1 :],
        "doubled": word[:n] + word[n] + word[n:],
        "another": word[:n] + other + word[n + 1 :],
    }
    return " ".join([*parts[:place], slips[kind], *parts[place + 1 :]])


CHATTER = (
    "I bought mine last summer in Hamburg and a neighbour recommended it.",
    "We are moving to the new building and everything is chaos right now.",
    "My daughter is doing a quiz with her classmates tonight.",
    "There was a discussion in the canteen about this and nobody agreed.",
    "I saw something about this on television but fell asleep halfway.",
    "Our auditor wants evidence before the end of the quarter.",
)

LOG = """2024-03-11 09:14:02,113 INFO  worker-3 started job 8812
2024-03-11 09:14:07,540 WARN  worker-3 retrying in 5 s
2024-03-11 09:14:12,901 ERROR worker-3 job 8812 failed: connection reset by peer"""
THREAD = """On Tue, 12 Mar 2024 at 10:15, Anna Berger <anna.berger@example.com> wrote:
> Hello Tom,
> I have looked through the binder but found nothing about it.
> Could you ask the others? I need it for the meeting on Friday."""
SIGNED = "--\nTom Keller\nSenior Project Manager | Example Industries\nPhone: +49 30 1234567"
CHOICES = "\nA) Albert Einstein\nB) Vitamin C\nC) The Second World War\nD) None of these"
PROMPT = """You are a helpful assistant. Use the following pieces of context to answer the question at the end.
If you don't know the answer, just say that you don't know, don't try to make up an answer.

Question: {}
Helpful Answer:"""
ADDRESS = "https://intranet.example.com/wiki/display/HR/Overview?pageId=4711"

TYPED: dict[str, Way] = {
    "plain": lambda question, _: question,
    "could you please": lambda question, _: "Hi, could you please tell me " + small(question),
    "thanks": lambda question, _: question + " Thanks in advance!",
    "one sentence": lambda question, _: question + " Answer in one short sentence.",
    "step by step": lambda q, _: q + "\nExplain step by step, use bullet points and give me the sources.",
    "our documents": lambda question, _: "According to our documents, " + small(question),
    "for a report": lambda question, _: "I am writing a report for work and I have a question. " + question,
    "chatter": lambda question, chance: f"{chance.choice(CHATTER)} {question.rstrip('?')}?",
    "log above": lambda question, _: f"{LOG}\n{question}",
    "mail": lambda question, _: f"Hi Anna,\n{question}\nBest,\nTom\n{SIGNED}\n\n{THREAD}",
    "address": lambda question, _: f"{question} {ADDRESS}",
    "choices": lambda question, _: question + CHOICES,
    "a whole prompt": lambda question, _: PROMPT.format(question),
    "escaped": lambda question, _: quote(question),
    **{f"a letter {kind}": partial(_slip, kind) for kind in ("swapped", "omitted", "doubled", "another")},
}
HELD: dict[str, Callable[[str], str]] = {
    "links of Markdown": lambda text: re.sub(r"\b([A-Z]\w{3,})", r"[\1](https://example.com/wiki/\1)", text),
    "tags of HTML": lambda text: "<p>" + re.sub(r"\b([A-Z]\w+)", r"<b>\1</b>", text).replace(". ", ".</p><p>") + "</p>",
}


@contextmanager
def as_it_is() -> Iterator[None]:
    """Read everything to the letter."""
    home, same = "haystack_integrations.crag", {"side_effect": lambda text: text}
    left = {"](", "<", "&nbsp;", "&apos;", "&amp;", "-\n"}
    plain = [row for row in surface._SURFACE if left.isdisjoint(sign for _, sign in row[2])]
    assert len(plain) < len(surface._SURFACE)
    with ExitStack() as stack:
        for module in ("judging.respelling", "judging.asking", "judging.judge", "texts.wording"):
            stack.enter_context(patch(f"{home}.{module}.bare_question", **same))
        stack.enter_context(patch(f"{home}.judging.respelling.respelled", return_value={}))
        stack.enter_context(patch(f"{home}.judging.joining.asking_part", return_value=None))
        stack.enter_context(patch(f"{home}.judging.meaning.unwrapped", **same))
        stack.enter_context(patch.object(surface, "_SURFACE", plain))
        yield


def verdicts(data: Dataset, cases: Sequence[Case], way: Way, held: Callable[[str], str] | None) -> list[str]:
    """Judge lists."""
    known, reader, calibration = corpus_statistics(data), Reader(load_encoder()), load_calibration(None)
    chance, found = random.Random(3), []
    for case in cases:
        passages = [data.passages[name] for name in case.fixed.retrieved[:FIRST]]
        documents = [(replace(each, text=held(each.text)) if held else each).document() for each in passages]
        asked = way(case.question, chance)
        graded = grade(asked, documents, (), calibration, reader, lambda _: known, "title")
        found.append(graded.report["verdict"]["verdict"])
    return found


def judged(data: Dataset, cases: Sequence[Case]) -> None:
    """Print a line for each way to type and to hold."""
    labels = [data.truth(case, case.fixed, FIRST) for case in cases]
    plain = verdicts(data, cases, TYPED["plain"], None)
    rows = [(name, way, None) for name, way in TYPED.items()]
    rows += [(name, TYPED["plain"], held) for name, held in HELD.items()]
    for name, way, held in rows:
        with as_it_is():
            before = verdicts(data, cases, way, held)
        after, told = verdicts(data, cases, way, held), []
        for found in (before, after):
            pairs = list(zip(labels, found, strict=True))
            records = [{"label": a, "verdict": b, "strict": True, "rule": "", "error": None} for a, b in pairs]
            changed = sum(a != b for a, b in zip(plain, found, strict=True)) / len(cases)
            lost = sum(pair == ("correct", "incorrect") for pair in pairs)
            told.append(f"macro-F1 {verdict_measures(records)['macro_f1']:.3f} changed {changed:4.0%} lost {lost:3}")
        print(f"  {name:18} {told[0]}  ->  {told[1]}", flush=True)


def searched(data: Dataset, cases: Sequence[Case]) -> None:
    """Print how often what answers is found."""
    store, encoder = InMemoryDocumentStore(), load_encoder()
    texts = {name: f"{each.title}\n\n{each.text}" for name, each in data.passages.items()}
    names = list(texts)
    store.write_documents([Document(id=name, content=text) for name, text in texts.items()])
    vectors = encoder.encode(list(texts.values()))
    joiner = EvidenceJoiner(weights={"bm25": 1.0, "dense": 0.3}, rrf_k=1)

    @cache
    def found(query: str) -> tuple[frozenset[str], ...]:
        """Give the names of the first ones, by each way to search."""
        bm25 = store.bm25_retrieval(query, top_k=10)
        order = (vectors @ encoder.encode([query])[0]).argsort()[::-1][:10]
        dense = [Document(id=names[n], content=texts[names[n]], score=0.5) for n in order]
        both = joiner.run(bm25=bm25, dense=dense)["documents"]
        return tuple(frozenset(document.id for document in each[:FIRST]) for each in (bm25, dense, both))

    for label, way in TYPED.items():
        told = []
        for read in (str, lambda typed: first_search(bare_question(typed))):
            chance, hits = random.Random(3), [0, 0, 0]
            for case in cases:
                for n, first in enumerate(found(read(way(case.question, chance)).lower())):
                    hits[n] += not first.isdisjoint(case.gold)
            told.append("BM25 {:3} dense {:3} both {:3}".format(*hits))
        print(f"  {label:18} {told[0]}  ->  {told[1]}  of {len(cases)}", flush=True)


def main() -> None:
    """Judge, search, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--limit", type=int, default=250)
    parser.add_argument("--search", type=int, default=50)
    asked = parser.parse_args()
    for name in SETS:
        data = read_dataset(asked.datasets / name, "dev")
        cases = [case for case in data.ordered if case.strict and case.fixed and case.fixed.retrieved]
        random.Random(1).shuffle(cases)
        cases = cases[: asked.limit]
        print(f"{name}, n = {len(cases)}: to the letter -> as it is meant", flush=True)
        judged(data, cases)
        answered = [case for case in cases if data.truth(case, case.fixed, FIRST) == "correct"]
        searched(data, answered[: asked.search])


if __name__ == "__main__":
    main()
