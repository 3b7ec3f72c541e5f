"""What every component with a nested chat generator does the same way: check it, warm it up, close it."""

from haystack.components.generators.chat.types import ChatGenerator

from haystack_integrations.crag.errors import ConfigurationError


class ChatBacked:
    """Forwards the life cycle to `self.chat_generator`; keys are resolved at warm-up, not in constructors."""

    chat_generator: ChatGenerator

    def warm_up(self) -> None:
        """Make the chat generator ready."""
        if hasattr(self.chat_generator, "warm_up"):
            self.chat_generator.warm_up()

    async def warm_up_async(self) -> None:
        """Make the chat generator ready on this event loop."""
        if hasattr(self.chat_generator, "warm_up_async"):
            await self.chat_generator.warm_up_async()
        else:
            self.warm_up()

    def close(self) -> None:
        """Release what the chat generator holds."""
        if hasattr(self.chat_generator, "close"):
            self.chat_generator.close()

    async def close_async(self) -> None:
        """Release what the chat generator holds on this event loop."""
        if hasattr(self.chat_generator, "close_async"):
            await self.chat_generator.close_async()


def check_generator(generator: object) -> None:
    """
    Refuse what is no chat generator.

    :param generator: The object given.
    :raises ConfigurationError: When it has no `run`.
    """
    if not hasattr(generator, "run"):
        msg = f"chat_generator must be a Haystack chat generator, but got {type(generator).__name__}"
        raise ConfigurationError(msg)
