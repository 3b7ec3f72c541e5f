"""The life cycle of a component with a nested chat generator."""

from typing import Any

from haystack import default_to_dict
from haystack.components.generators.chat.types import ChatGenerator
from haystack.core.serialization import component_to_dict

from haystack_integrations.crag.closing import close_all, close_all_async
from haystack_integrations.crag.copying import Copied, settings_of
from haystack_integrations.crag.homes import anew_in_children, at_home


class ChatBacked(Copied):
    """
    Forwards the life cycle to `self.chat_generator`, and the end of it to `self.cache` where there is one.

    Keys are resolved at warm-up, not in constructors.
    """

    chat_generator: ChatGenerator

    def to_dict(self) -> dict[str, Any]:
        """
        Write the component down.

        :returns: Its settings; a chat generator or a ranker without a `to_dict` of its own by its attributes, as
            Haystack writes down what stands alone.
        """
        values = settings_of(self)
        values |= {name: component_to_dict(value, name) for name, value in values.items() if hasattr(value, "run")}
        data: dict[str, Any] = default_to_dict(self, **values)
        return data

    def warm_up(self) -> None:
        """Make the chat generator ready."""
        anew_in_children(part := self._asked())
        if hasattr(part, "warm_up"):
            part.warm_up()

    async def warm_up_async(self) -> None:
        """Make the chat generator ready on this event loop."""
        if await at_home(part := self._asked()) and hasattr(part, "warm_up_async"):
            await part.warm_up_async()
        else:
            self.warm_up()

    def close(self) -> None:
        """Release what chat generator and cache hold."""
        close_all(self._held())

    async def close_async(self) -> None:
        """Release what chat generator and cache hold on this event loop."""
        await close_all_async(self._held())

    def _asked(self) -> Any:
        """Give the part that is asked: what a subclass asks may be another one, or none."""
        return self.chat_generator

    def _held(self) -> list[Any]:
        return [self._asked(), getattr(self, "cache", None)]
