"""The life cycle of what a refiner judges strips with: a chat model, a ranker or an embedding model, or none."""

from typing import Any

from haystack_integrations.crag.chat import ChatBacked
from haystack_integrations.crag.encoding.encoders import load_encoder
from haystack_integrations.crag.refining.model import load_strip_model
from haystack_integrations.crag.refining.options import Scorer


class PartBacked(ChatBacked):
    """
    Forwards the life cycle to the part that `self.scorer` needs.

    Keys are resolved at warm-up, not in constructors.
    """

    scorer: Scorer
    model: str | None
    calibration: str | None
    ranker: Any
    chat_generator: Any

    def warm_up(self) -> None:
        """Make the scorer ready."""
        if self.scorer == "embedding":
            load_encoder(self.model)
        if self.scorer == "calibrated":
            load_encoder()
            load_strip_model(self.calibration)
        super().warm_up()

    def _asked(self) -> Any:
        return {"llm": self.chat_generator, "ranker": self.ranker}.get(self.scorer)
