"""Which questions belong together: those about the same source must not be on both sides of a split."""

from collections.abc import Hashable, Iterable, Sequence


def groups_of(keys: Sequence[Iterable[Hashable]]) -> list[int]:
    """
    Number the groups of questions that share a key, directly or through others.

    :param keys: For each question what names its sources: labelled documents, their titles, its own wording.
    :returns: A number for each question; equal for questions of one group.
    """
    parent: dict[Hashable, Hashable] = {}

    def root(node: Hashable) -> Hashable:
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for number, own in enumerate(keys):
        for key in own:
            parent[root(("key", key))] = root(("question", number))
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(root(("question", number)), len(numbers)) for number in range(len(keys))]
