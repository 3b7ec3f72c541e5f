"""A query expander's settings, checked once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from haystack import logging

from haystack_integrations.crag.chat import check_generator
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.expansion.prompt import ExpansionPrompt
from haystack_integrations.crag.expansion.rules import check_synonyms, load_synonyms
from haystack_integrations.crag.fusion import check_strategy
from haystack_integrations.crag.settings import check_one_of, check_positive, check_whole

logger = logging.getLogger(__name__)

ExpansionMode = Literal["synonyms", "llm", "web", "multi", "decompose"]

SEVERAL: Final = ("multi", "decompose")
"""Modes that give several queries for one pass, beside the original one."""

_MOST_QUERIES: Final = 10


@dataclass(frozen=True)
class ExpansionOptions:
    """
    Checked settings; see `QueryExpander` for their meaning.

    :param synonyms: Synonyms by lower-cased term.
    :param prompt: What a model is asked with; None when no model is asked.
    """

    mode: str
    n: int
    synonyms: Mapping[str, Sequence[str]]
    max_synonyms_per_term: int
    strategies: Sequence[Mapping[str, Any]]
    keep_original: bool
    timeout_s: float
    prompt: ExpansionPrompt | None

    @classmethod
    def of(cls, expander: Any) -> "ExpansionOptions":
        """
        Take the settings of an expander.

        :param expander: The component, with an attribute of each name.
        :returns: The options.
        :raises ConfigurationError: With what was got, what is wanted and the way out.
        """
        mode, generator, given = expander.mode, expander.chat_generator, expander.synonyms
        check_one_of("mode", mode, get_args(ExpansionMode))
        if mode == "llm" and generator is None:
            msg = "mode 'llm' needs a chat_generator, but got none; pass one, or choose mode 'synonyms'"
            raise ConfigurationError(msg)
        if generator is not None:
            check_generator(generator)
        lost = [name for name in ("chat_generator", "template") if getattr(expander, name) is not None]
        if mode == "synonyms" and lost:
            what = " and ".join(lost)
            logger.warning("{what} has no effect in the mode 'synonyms'; choose mode='llm' to ask a model", what=what)
        check_whole("max_synonyms_per_term", expander.max_synonyms_per_term)
        check_whole("n", expander.n, _MOST_QUERIES)
        check_positive({"timeout_s": expander.timeout_s})
        # Checked also where no model is asked yet: a broken template must not wait for the day it is used.
        prompt = None if mode == "synonyms" else ExpansionPrompt(mode, expander.n, expander.template)
        return cls(
            mode=mode,
            n=expander.n if mode in SEVERAL else 1,
            synonyms=load_synonyms(given)
            if given is None or isinstance(given, str)
            else check_synonyms(given, "synonyms"),
            max_synonyms_per_term=expander.max_synonyms_per_term,
            strategies=_checked_strategies(expander.strategies),
            keep_original=expander.keep_original or mode in SEVERAL,
            timeout_s=expander.timeout_s,
            prompt=prompt if generator is not None else None,
        )


def _checked_strategies(strategies: Any) -> Sequence[Mapping[str, Any]]:
    for strategy in strategies or ():
        check_strategy(strategy, "expand")
    return tuple(strategies or ())
