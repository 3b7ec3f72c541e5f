"""What the cascade that ships does on held-out questions, with a model that grades a share of the documents wrong."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from haystack import Document
from numpy.typing import NDArray
from sklearn.metrics import f1_score

from haystack_integrations.crag.components.cascade_gate import CascadeGate
from haystack_integrations.crag.evaluation.cases import ANSWERS, Record, label_of_grades
from haystack_integrations.crag.grades import Grade, grade_of, question_id, with_grade

SHARES_WRONG: Final = (0.0, 0.05, 0.1)
"""Shares of documents that the model grades wrong. No model is always right."""

_DRAWS: Final = 20
_GRADES: Final = 3
Grades = NDArray[np.intp]
Flags = NDArray[np.bool_]


def cascade_figures(records: Sequence[Record]) -> dict[str, Any]:
    """
    Let `CascadeGate`, with its defaults, choose what a model is asked, and the labels be the model.

    The model errs on each document alone, and by either of the two other grades. A list is correct when as many of its
    documents answer as are needed; what the model was not asked about counts as the gate took it.

    :param records: From `holding_out.held_out`, each with how many documents are `needed`.
    :returns: `calls` and `documents`, the shares of all questions and of all documents that go to the model; `wrong`,
        for each `share` of wrong grades the macro-F1, over the true classes, of the `cascade`, and of asking about
        `everything`.
    """
    gate = CascadeGate()
    sent = [_sent(record, gate) for record in records]
    return {
        "calls": float(np.mean([asked.any() for asked in sent])),
        "documents": float(sum(asked.sum() for asked in sent) / max(1, sum(map(len, sent)))),
        "wrong": [{"share": share, **_reached(records, sent, share)} for share in SHARES_WRONG],
    }


def _reached(records: Sequence[Record], sent: Sequence[Flags], share: float) -> dict[str, float]:
    """Give the macro-F1 of the cascade, and of asking about everything, on average over draws of what goes wrong."""
    truth = [record["label"] for record in records]
    # The gate takes what it does not send for off topic or for an answer, whichever is nearer.
    taken = [[round(each["score"]) * ANSWERS for each in record["documents"]] for record in records]
    random, reached = np.random.default_rng(0), []
    for _ in range(_DRAWS if share else 1):
        cascade, everything = [], []
        for record, asked, unasked in zip(records, sent, taken, strict=True):
            said, of = _graded(record, share, random), record["needed"]
            everything.append(label_of_grades(said, of))
            cascade.append(label_of_grades(np.where(asked, said, unasked), of) if asked.any() else record["verdict"])
        # Where nobody labelled "on topic", a slip of the model to it is a mistake, and no third class of F1 zero: that
        # would take a third from this figure alone, beside those of a judgement that never says so.
        score = partial(f1_score, truth, labels=sorted(set(truth)), average="macro", zero_division=0)
        reached.append([score(told) for told in (cascade, everything)])
    of_cascade, of_everything = np.mean(reached, axis=0).tolist()
    return {"cascade": of_cascade, "everything": of_everything}


def in_words(found: Mapping[str, Any]) -> tuple[str, str, str]:
    """
    Say what a cascade does.

    :param found: From `cascade_figures`.
    :returns: What it asks, what it reaches, and what asking about everything reaches; short, for a terminal.
    """
    rows = found["wrong"]
    shares = ", ".join(f"{row['share']:.0%}" for row in rows)
    cascade, everything = (", ".join(f"{row[name]:.2f}" for row in rows) for name in ("cascade", "everything"))
    return (
        f"cascade_rag sends its model {found['calls']:.0%} of the questions, {found['documents']:.0%} of the documents",
        f"macro-F1 with a model that grades {shares} wrong: {cascade}",
        f"the same, asked about everything: {everything}",
    )


def _sent(record: Record, gate: CascadeGate) -> Flags:
    """Ask the gate which documents go to the model."""
    question = question_id(record["question"])
    documents = [
        with_grade(Document(id=each["id"], content=each["id"]), Grade(each["score"], "graded", "heuristic", question))
        for each in record["documents"]
    ]
    report = {"verdict": {"verdict": record["verdict"], "probabilities": record["probabilities"]}}
    found = gate.run(query=record["question"], documents=documents, report=report)
    return np.array([grade_of(each) is None for each in found.get("undecided", documents)])


def _graded(record: Record, share: float, random: np.random.Generator) -> Grades:
    """Let the model grade all documents of a list."""
    right = np.array([each["label"] for each in record["documents"]])
    wrong = random.random(len(right)) < share
    return np.where(wrong, (right + random.integers(1, _GRADES, len(right))) % _GRADES, right)
