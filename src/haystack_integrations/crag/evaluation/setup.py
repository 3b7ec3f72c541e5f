"""What is evaluated: plain values, so that they reach worker processes."""

from dataclasses import dataclass
from typing import get_args

from haystack_integrations.crag.chat_model import ChatModel
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines.loader import read
from haystack_integrations.crag.pipelines.roles import roles_of
from haystack_integrations.crag.vocabulary import Lists, OtherGrader


@dataclass(frozen=True)
class Setup:
    """
    What is evaluated; plain values, so that it reaches worker processes.

    :param pipeline: A shipped pipeline, or the path of a YAML file.
    :param grader: One of `OtherGrader` in place of the pipeline's own; None leaves that.
    :param calibration: A file of `crag calibrate` for a heuristic grader in place of the pipeline's own, or None.
    :param lists: `fixed`: the lists that come with the data; `live`: the pipeline's own retrieval.
    :param top_k: How many documents the verdict is about, or per retriever; None for five, all that `crag collect`
        found, or the pipeline's own.
    :param model: The chat model, or None.
    :param encoder: Folder of the model whose vectors a heuristic grader goes by, or None for the shipped one.
    :param statistics: Document frequencies of the corpus for graders that read them where there is no store, or None.
    """

    pipeline: str
    grader: str | None = None
    calibration: str | None = None
    lists: Lists = "fixed"
    top_k: int | None = None
    model: ChatModel | None = None
    encoder: str | None = None
    statistics: str | None = None

    def __post_init__(self) -> None:
        """Refuse a choice that is not there, or contradicts another."""
        if self.grader is not None and self.grader not in (known := get_args(OtherGrader)):
            msg = f"got the grader {self.grader!r}, wanted one of {list(known)}; leave it out for the pipeline's own"
            raise ConfigurationError(msg)
        if self.lists not in get_args(Lists):
            msg = f"got the lists {self.lists!r}, wanted fixed (those of the data) or live (the pipeline's retrieval)"
            raise ConfigurationError(msg)
        if self.calibration is not None and self.grader not in (None, "heuristic"):
            msg = (
                f"got a calibration and the grader {self.grader!r}, wanted the heuristic one; leave out one of the two"
            )
            raise ConfigurationError(msg)

        if self.encoder is not None and (self.grader in (None, "llm") and self.calibration is None):
            msg = (
                f"got the embedding model {self.encoder!r} and no grader that embeds; pass a calibration made with it, "
                "or a grader by weights such as evidence"
            )
            raise ConfigurationError(msg)

    @property
    def grader_name(self) -> str:
        """What the result calls the grader: as asked for, else the class that stands in the pipeline."""
        spec = read(self.pipeline)
        part = spec["components"].get(roles_of(spec).grader, {})
        own = self.grader or str(part.get("type", "none")).rpartition(".")[2]
        return own if self.calibration is None else f"calibrated {own}" if self.is_cascade else "calibrated"

    @property
    def is_cascade(self) -> bool:
        """Whether a cheap scorer decides when the grader is asked."""
        return bool(roles_of(read(self.pipeline)).scorer)
