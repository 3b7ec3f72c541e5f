"""Settings that CorrectiveRetriever does not take: most are of the retriever in whose place it is put."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from haystack_integrations.crag.errors import ConfigurationError

# What a retriever writes down that nobody set, and what it is here in any case. `AUTO` is its default, and no wish.
_AS_IT_COMES: Final[dict[str, list[Any]]] = {
    "scale_score": [False],
    "fuzziness": ["AUTO", "0"],
    "timeout_s": [5.0],
    "return_embedding": [False],
}


def chosen_of(written: Mapping[str, Any]) -> list[str]:
    """
    Tell which settings somebody chose, of those that a retriever wrote down.

    :param written: Its settings by name.
    :returns: The names of those that say something else than what is done anyway.
    """
    named = [name for name, value in written.items() if value is not None]
    return [name for name in named if written[name] not in _AS_IT_COMES.get(name, [])]


def refuse_others(others: Sequence[str], known: Sequence[str]) -> None:
    """
    Refuse settings that are not taken, with the place where a retriever's belong.

    :param others: Their names, or none.
    :param known: Names of the settings that are taken.
    :raises ConfigurationError: Where there are any.
    """
    if others:
        by_words = f"{{bm25: {{{others[0]}: ...}}}}, by vectors {{dense: ...}}"
        place = "{dense: {text_embedder: ...}}" if "embedder" in str(others) else by_words
        msg = (
            f"CorrectiveRetriever does not take {[*others]}; wanted some of {[*known]}. Leave it out, or give it to "
            f"the retriever inside: settings: {place}"
        )
        raise ConfigurationError(msg)
