"""A refiner's limits, checked once."""

import math
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, get_args

from haystack import logging

from haystack_integrations.crag.chat import check_generator
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.inputs import is_number
from haystack_integrations.crag.refining.prompt import OVERHEAD
from haystack_integrations.crag.refining.strips import Granularity
from haystack_integrations.crag.settings import check_one_of, check_positive, check_whole
from haystack_integrations.crag.sockets import is_part, named

logger = logging.getLogger(__name__)

Scorer = Literal["lexical", "embedding", "calibrated", "ranker", "llm"]
"""`lexical` compares wording, `embedding` vectors; `calibrated` is a trained model of both, which gives probabilities;
a `ranker` or a chat model (`llm`) is another component."""

Threshold = float | Literal["auto"] | None
"""`auto`: the line that suits the scorer, 0.5 or what the calibration says. None: no such limit."""

OnEmpty = Literal["best", "keep", "drop"]
"""What is passed on where no strip is worth keeping: the best strip, the documents whole, or nothing."""

LEAST_ROOM: Final = 64
"""Tokens that a prompt must have left for strips."""

_CHOICES: Final = {"granularity": Granularity, "scorer": Scorer, "on_empty": OnEmpty}

_SCORING: Final = {"ranker": "ranker", "chat_generator": "llm", "calibration": "calibrated", "model": "embedding"}
"""By which scorer a part is asked: who passes one may forget to choose it."""

_WINDOW: Final = 3


@dataclass(frozen=True)
class RefinerOptions:
    """A refiner's checked settings; see `StripRefiner` for their meaning."""

    granularity: Granularity
    window: int
    scorer: Scorer
    model: str | None
    calibration: str | None
    chat_generator: Any
    ranker: Any
    threshold: Threshold
    evidence_share: float | None
    top_n: int | None
    max_tokens: int
    max_prompt_tokens: int
    deadline_s: float
    calls_beside: int
    on_empty: OnEmpty
    title_field: str | None

    @classmethod
    def of(cls, refiner: object) -> "RefinerOptions":
        """
        Take the settings of a refiner and refuse those that cannot be kept.

        :param refiner: The component, with an attribute of each name.
        :returns: The options.
        :raises ConfigurationError: Naming the first that is unusable.
        """
        options = cls(**{field.name: getattr(refiner, field.name) for field in fields(cls)})
        for name, choice in _CHOICES.items():
            check_one_of(name, getattr(options, name), get_args(choice))
        for name in ("window", "max_tokens", "max_prompt_tokens", *(("top_n",) if options.top_n is not None else ())):
            check_whole(name, getattr(options, name))
        beside = options.calls_beside
        if not isinstance(beside, int) or isinstance(beside, bool) or beside < 0:
            msg = f"calls_beside must be a whole number, 0 or more, but got {beside!r}"
            raise ConfigurationError(msg)
        check_positive({"deadline_s": options.deadline_s})
        options._check_threshold()
        options._check_share()
        options._check_part()
        options._tell_of_lost()
        return options

    def _check_threshold(self) -> None:
        value = self.threshold
        if value is None or value == "auto":
            return
        is_finite = is_number(value) and math.isfinite(value)
        # A ranker's scores are its own: probabilities, logits, whatever it gives.
        if not is_finite or (self.scorer != "ranker" and not 0 <= value <= 1):
            msg = f"threshold must be in [0, 1], or null for no threshold, but got {value!r}"
            msg += "; 'auto' takes what suits the scorer, any number goes with scorer='ranker' only"
            raise ConfigurationError(msg)

    def _check_share(self) -> None:
        share = self.evidence_share
        if share is None:
            return
        if self.scorer != "calibrated":
            msg = (
                f"evidence_share goes with scorer='calibrated' only, which gives probabilities, but got {self.scorer!r}"
            )
            raise ConfigurationError(msg)
        if not is_number(share) or not 0 < share <= 1:
            msg = f"evidence_share must be above 0 and at most 1, or null to go by the threshold, but got {share!r}"
            raise ConfigurationError(msg)

    def _check_part(self) -> None:
        if self.scorer == "llm":
            if self.chat_generator is None:
                msg = "scorer='llm' needs a chat_generator, but got none; pass one, or use scorer='lexical'"
                raise ConfigurationError(msg)
            check_generator(self.chat_generator)
            if self.max_prompt_tokens < OVERHEAD + LEAST_ROOM:
                msg = f"max_prompt_tokens must be at least {OVERHEAD + LEAST_ROOM}, since the prompt without strips "
                msg += f"takes {OVERHEAD}, but got {self.max_prompt_tokens}"
                raise ConfigurationError(msg)
        if self.scorer == "ranker" and not is_part(self.ranker):
            msg = f"scorer='ranker' needs a Haystack ranker as ranker, but got {named(self.ranker)}; "
            msg += "pass one, or use scorer='lexical'"
            raise ConfigurationError(msg)

    def _tell_of_lost(self) -> None:
        """Warn of what is set beside a choice that does not read it, as a shipped YAML may have made one."""
        lost = {
            part: f"scorer={self.scorer!r}; choose scorer={scorer!r} to ask it"
            for part, scorer in _SCORING.items()
            if getattr(self, part) is not None and self.scorer != scorer
        }
        if is_number(self.threshold) and self.evidence_share is not None:
            lost["threshold"] = f"evidence_share={self.evidence_share}; set that to null to go by the threshold"
        elif is_number(self.threshold) and self.scorer == "llm":
            lost["threshold"] = "scorer='llm', which names what to keep and gives no score"
        if self.window != _WINDOW and self.granularity != "window":
            lost["window"] = f"granularity={self.granularity!r}; choose granularity='window'"
        for name, why in lost.items():
            logger.warning("{setting} has no effect with {why}", setting=name, why=why)
