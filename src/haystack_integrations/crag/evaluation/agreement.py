"""Labels of lists beside the grades of their documents: by which rule they were made, and which of them do not fit."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from haystack_integrations.crag.evaluation.cases import ANSWERS, Case, Label, Passage, RankedList, label

_SHOWN: Final = 3

# Of shorter lists that were retrieved so, about every third ends with the first document that answers.
_STOPPED: Final = 0.8
_FEWEST: Final = 5


def needs_all(cases: Sequence[Case]) -> bool:
    """
    Find out from labels what makes a list correct; one wrong label among many must not decide for all questions.

    :param cases: Questions with lists.
    :returns: Whether all gold documents must be in it: where that explains more labels than any of them does.
    """
    any_of, all_of = (
        sum(label(case, ranked, k, needs_all=rule) == told for case, ranked, k, told in _labels(cases))
        for rule in (False, True)
    )
    return all_of > any_of


def unexplained(file: Path, cases: Sequence[Case], *, needs_all: bool) -> str | None:
    """
    Say which labels do not follow from the grades: their lists and all others are measured by two rules.

    :param file: Where the lists stand.
    :param cases: Questions with lists.
    :param needs_all: What makes a list correct, as in `cases.label`.
    :returns: The sentence, with the first places; None where all labels follow.
    """
    places = [
        f"{file}:{ranked.line}: {told!r} as label_top{k}, not {own!r}"
        for case, ranked, k, told in _labels(cases)
        if (own := label(case, ranked, k, needs_all=needs_all)) != told
    ]
    if not places:
        return None
    rule = "whether all documents in gold are there" if needs_all else "the best grade in it"
    follow = "1 label does" if len(places) == 1 else f"{len(places)} labels do"
    return (
        f"{follow} not follow from the grades ({first_of(places)}): these "
        f"lists are measured by their label, any other list by {rule}; correct what is there by mistake"
    )


def unlike_copies(cases: Sequence[Case], passages: Mapping[str, Passage]) -> str | None:
    """
    Say which documents have another grade than a copy of theirs in the same list, as where one of the two was labelled.

    :param cases: Questions with lists.
    :param passages: The corpus by id.
    :returns: The sentence, with the first ones; None where all copies are graded alike.
    """
    found = []
    for case in cases:
        graded: dict[tuple[str, str], tuple[str, int]] = {}
        ranked = case.fixed or RankedList(())
        for name, grade in zip(ranked.retrieved, case.grades(ranked), strict=True):
            one = passages[name]
            copy, known = graded.setdefault((one.title, one.text), (name, grade))
            if known != grade:
                found.append(f"{copy!r} has {known} and {name!r} {grade} for {case.id!r}")
    if not found:
        return None
    return f"{len(found)} graded otherwise than a copy in the same list ({first_of(found)}); grade copies alike"


def stopped_at_answers(file: Path, cases: Sequence[Case]) -> str | None:
    """
    Say that lists end where their answer was found: who grades may stop there, and the length then tells the verdict.

    Of covidqa and scifact, 150 questions so graded gave a held-out macro-F1 of .55 and .65 in the place of .44 and .60,
    and no wrong `correct`; what was fitted on them called 3 of 127 and 0 of 84 whole lists `correct` that were.

    :param file: Where the lists stand.
    :param cases: Questions with lists.
    :returns: The sentence, with the first places; None where lists end anywhere.
    """
    graded = [(case.fixed.line, case.grades(case.fixed)) for case in cases if case.fixed is not None]
    longest = max((len(grades) for _, grades in graded), default=0)
    # One document alone may be all that was retrieved.
    answered = [(line, own) for line, own in graded if 1 < len(own) < longest and ANSWERS in own]
    places = [f"{file}:{line}" for line, own in answered if own.index(ANSWERS) == len(own) - 1]
    if len(places) < max(_FEWEST, _STOPPED * len(answered)):
        return None
    return (
        f"{len(places)} lists end with the first document that answers ({first_of(places)}), as where grading stopped "
        "there: a calibration learns that lists end so, its figures are too good, and it calls hardly any whole list "
        "correct; grade the documents below, too"
    )


def first_of(places: Sequence[str]) -> str:
    """
    Name the first places.

    :param places: All.
    :returns: The first three, and a mark where there are more.
    """
    more = ["…"] if len(places) > _SHOWN else []
    return "; ".join([*places[:_SHOWN], *more])


def _labels(cases: Sequence[Case]) -> Iterator[tuple[Case, RankedList, int, Label]]:
    for case in cases:
        if case.fixed is not None:
            for k, told in (case.fixed.labels or {}).items():
                yield case, case.fixed, k, told
