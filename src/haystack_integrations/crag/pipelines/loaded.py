"""A loaded pipeline: Haystack's SuperComponent, which says when it is given what it does not take."""

from collections.abc import Iterable, Sequence
from typing import Any

from haystack import SuperComponent, component

from haystack_integrations.crag.errors import ConfigurationError


@component
class LoadedPipeline(SuperComponent):
    """
    What `load` returns. Haystack's own leaves unknown inputs out: with `filter` for `filters` it searches everything.

    Written down it is a plain SuperComponent, as everyone can read it.
    """

    def run(self, *unnamed: Any, **inputs: Any) -> dict[str, Any]:
        """
        Run the pipeline.

        :param unnamed: Nothing; what stands here is refused.
        :param inputs: By the names of its YAML, `inputs` and `optional_inputs`.
        :returns: Its `outputs`, by the names of its YAML.
        :raises ConfigurationError: For an input that it does not have, or without a name.
        """
        self._check(unnamed, inputs)
        found: dict[str, Any] = SuperComponent.run(self, **inputs)
        return found

    async def run_async(self, *unnamed: Any, **inputs: Any) -> dict[str, Any]:
        """Run the pipeline on the event loop; see `run`."""
        self._check(unnamed, inputs)
        found: dict[str, Any] = await SuperComponent.run_async(self, **inputs)
        return found

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "LoadedPipeline":
        """
        Read what `to_dict` wrote.

        :param data: The dictionary; left as it is.
        :returns: The pipeline, which again says when it is given what it does not take.
        """
        plain = SuperComponent.from_dict({**data, "init_parameters": dict(data["init_parameters"])})
        return cls(plain.pipeline, plain.input_mapping, plain.output_mapping)

    def _check(self, unnamed: Sequence[Any], given: Iterable[str]) -> None:
        known = list(self.input_mapping)
        if unnamed:  # Pipeline.run takes a dictionary, and this stands in the place of one
            msg = f"got {type(unnamed[0]).__name__} without a name, wanted inputs by name; write run({known[0]}=...)"
            raise ConfigurationError(msg)
        if unknown := sorted(set(given).difference(known)):
            msg = f"got the inputs {unknown}, which this pipeline does not take; wanted some of {known}"
            raise ConfigurationError(msg)
