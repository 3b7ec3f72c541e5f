"""Which questions belong together: those about the same source must not be on both sides of a split."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from unicodedata import normalize

from scipy.cluster.hierarchy import DisjointSet

from haystack_integrations.crag.evaluation.cases import ANSWERS, ON_TOPIC, Case, Dataset
from haystack_integrations.crag.evaluation.regressions import FOLDS
from haystack_integrations.crag.texts.titles import untitled

FEWEST: Final = 40
"""Questions without which nothing is fitted."""

_LAST: Final = "?.! \uff1f\u3002\uff01\u061f"  # those of Chinese, Japanese and Arabic, too
SOURCE, LABELLED, ANSWERING = "source", "labelled document", "answering document"


def groups_of(keys: Sequence[Iterable[Hashable]]) -> list[int]:
    """
    Number the groups of questions that share a key, directly or through others.

    :param keys: For each question what names its sources: labelled documents, their titles, its own wording.
    :returns: A number for each question; equal for questions of one group.
    """
    known = DisjointSet(("question", number) for number in range(len(keys)))
    for number, own in enumerate(keys):
        for key in own:
            known.add(("key", key))
            known.merge(("key", key), ("question", number))
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(known["question", number], len(numbers)) for number in range(len(keys))]


@dataclass(frozen=True)
class Grouping:
    """
    Which questions are held out together.

    :param shared: What no two groups share: a `source`, a `labelled document` or an `answering document`.
    :param numbers: A group number by question id; the same in whichever order the questions stand.
    """

    shared: str
    numbers: dict[str, int]


def grouping(dataset: Dataset) -> Grouping:
    """
    Find the questions about the same sources: labelled documents, others of the same title, the same wording.

    Where this makes one group of more questions than a fold has, as in one handbook, of which most questions share a
    page that is on their topic or a title, titles are left out, and then what is only on topic. A fold of most of the
    questions would be judged by what was fitted on few: macro-F1 .52 was told where new questions reached .61.

    :param dataset: The data set.
    :returns: The first of these groupings whose largest group fits into a fold; the finest where none does.
    """
    found = [Grouping(shared, _numbers(dataset, shared)) for shared in (SOURCE, LABELLED, ANSWERING)]
    most = max(len(dataset.cases), FEWEST) / FOLDS
    return min(found, key=lambda one: max([most, *Counter(one.numbers.values()).values()]))


def group_numbers(dataset: Dataset) -> dict[str, int]:
    """
    Number the groups of questions that are held out, and redrawn, together.

    :param dataset: The data set.
    :returns: A group number by question id.
    """
    return grouping(dataset).numbers


def _numbers(dataset: Dataset, shared: str) -> dict[str, int]:
    keys: list[set[tuple[str, str]]] = []
    cases = dataset.ordered
    least = ANSWERS if shared == ANSWERING else ON_TOPIC
    for case in cases:
        listed = (name for name, grade in case.listed.items() if grade >= least)
        labelled = {*case.gold, *listed, *(case.partial if least == ON_TOPIC else ())}
        known = [dataset.passages[name] for name in labelled if name in dataset.passages]
        # By their texts: a copy under another id, or below another title, is the same document.
        own = {("document", untitled(one.text, one.title)) for one in known} | {("wording", wording(case.question))}
        if shared == SOURCE:
            titles = {one.title for one in known} - {""}
            own |= {("title", title) for title in titles}
        keys.append(own)
    return {case.id: number for case, number in zip(cases, groups_of(keys), strict=True)}


def repeated(dataset: Dataset) -> list[tuple[Case, ...]]:
    """
    Find the questions that stand more than once: each weighs as much as it stands there.

    :param dataset: The data set.
    :returns: The cases of each such question.
    """
    asked: dict[str, list[Case]] = {}
    for case in dataset.cases:
        asked.setdefault(wording(case.question), []).append(case)
    return [tuple(cases) for cases in asked.values() if len(cases) > 1]


def wording(question: str) -> str:
    """
    Make questions comparable that differ in case, spaces and the last mark only.

    :param question: A question.
    :returns: Its wording.
    """
    return " ".join(normalize("NFC", question).casefold().split()).rstrip(_LAST)
