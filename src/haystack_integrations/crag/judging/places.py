"""Where the terms of a text stand."""

from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence


class Places(Mapping[str, list[int]]):
    """
    The positions of each term, in order: of each term the last one, and of each position the one before it.

    A list for each term would be a hundred objects for each text, which memory management goes through for long.
    """

    def __init__(self, terms: Iterable[str]) -> None:
        """
        Note where each term stands.

        :param terms: The terms of a text, in order.
        """
        self._terms = list(terms)
        self._last: dict[str, int] = {}
        last_of = self._last.get
        self._before: list[int] = []
        for place, term in enumerate(self._terms):
            self._before.append(last_of(term, -1))
            self._last[term] = place

    def __contains__(self, term: object) -> bool:
        """Tell whether a term stands anywhere."""
        return term in self._last

    def __getitem__(self, term: str) -> list[int]:
        """Give the positions of a term."""
        place, found = self._last[term], list[int]()
        while place >= 0:
            found.append(place)
            place = self._before[place]
        return found[::-1]

    def terms(self) -> KeysView[str]:
        """
        Give the distinct terms.

        :returns: They can be compared as sets are, without a copy.
        """
        return self._last.keys()

    def in_order(self) -> Sequence[str]:
        """
        Give the terms as they stand in the text.

        :returns: As many as the text has.
        """
        return self._terms

    def __iter__(self) -> Iterator[str]:
        """Go through the terms."""
        return iter(self._last)

    def __len__(self) -> int:
        """Count the terms."""
        return len(self._last)
