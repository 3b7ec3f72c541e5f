"""Which questions belong together: those about the same source must not be on both sides of a split."""

from collections.abc import Hashable, Iterable, Sequence

from scipy.cluster.hierarchy import DisjointSet

from haystack_integrations.crag.evaluation.cases import Case, Dataset
from haystack_integrations.crag.evaluation.labelled import ON_TOPIC


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


def group_numbers(dataset: Dataset) -> dict[str, int]:
    """
    Find the questions about the same sources: labelled documents, others of the same title, the same wording.

    :param dataset: The data set.
    :returns: A group number by question id; the same in whichever order the questions stand.
    """
    keys: list[set[tuple[str, str]]] = []
    cases = dataset.ordered
    for case in cases:
        on_topic = (name for name, grade in case.listed.items() if grade >= ON_TOPIC)
        labelled = (*case.gold, *case.partial, *on_topic)
        titles = {dataset.passages[name].title for name in labelled if name in dataset.passages} - {""}
        own = {("document", name) for name in labelled} | {("title", title) for title in titles}
        keys.append(own | {("wording", wording(case.question))})
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
    return " ".join(question.casefold().split()).rstrip("?.! ")
