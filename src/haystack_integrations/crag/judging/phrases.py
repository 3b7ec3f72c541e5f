"""The question's neighbouring words: which of them stand together in a text, and what that is worth."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from haystack_integrations.crag.judging.asking import Asked


def pairs_met(asked: Asked, title: Collection[str], body: Mapping[str, Sequence[int]]) -> list[tuple[str, str]]:
    """
    Choose the question's neighbouring words that stand together in a text, too.

    :param asked: The question.
    :param title: Its terms in the title.
    :param body: Positions of each of its terms in the text.
    :returns: Pairs of the question.
    """
    return [(a, b) for a, b in asked.pairs if (a in title and b in title) or _meet(body.get(a), body.get(b))]


def longest_run(asked: Asked, places: Iterable[tuple[int, str]]) -> float:
    """
    Find the longest run of the question's words.

    :param asked: The question.
    :param places: Position and term of each occurrence, in order.
    :returns: The share of the question's words.
    """
    pairs, longest, run = set(asked.pairs), 0, 0
    before, last = -2, ""
    for place, term in places:
        run = run + 1 if place == before + 1 and (last, term) in pairs else 1
        longest, before, last = max(longest, run), place, term
    return longest / max(1, len(asked.sequence))


def weight_of_pairs(pairs: Iterable[tuple[str, str]], weights: Mapping[str, float]) -> float:
    """
    Weigh pairs of terms.

    :param pairs: The pairs.
    :param weights: The weight of each term.
    :returns: What they weigh together.
    """
    return sum([weights[one] + weights[two] for one, two in pairs])


def doubt_of(weights: Mapping[str, float]) -> float:
    """
    Weigh one more pair, which was not met, so that few pairs prove less than many.

    :param weights: The weight of each term.
    :returns: What a pair weighs on average.
    """
    return 2 * sum(weights.values()) / max(1, len(weights))


def share_of(found: float, total: float, doubt: float = 0.0) -> float:
    """
    Tell which share of a question's pairs was met.

    :param found: What those weigh that were met.
    :param total: What all weigh.
    :param doubt: What else counts as not met; see `doubt_of`.
    :returns: The share.
    """
    return found / (total + doubt) if total else 0.0


def _meet(one: Sequence[int] | None, two: Sequence[int] | None) -> bool:
    """Tell whether two terms are neighbours, or next but one in this order, anywhere."""
    if not one or not two:
        return False
    near = {place + step for place in one for step in (1, -1, 2)}
    return not near.isdisjoint(two)
