"""Closing nested parts, each by the doors it has, and what a call leaves open; one that fails hinders no other."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack, ExitStack, suppress
from contextvars import ContextVar
from typing import Any, Final

_responses: Final[ContextVar[list[Any]]] = ContextVar("crag_responses")


def close_all(parts: Iterable[Any]) -> None:
    """
    Release what parts hold.

    :param parts: Components, stores, caches or None; those without a `close` hold nothing.
    :raises Exception: What a part raised, after all have been closed.
    """
    with ExitStack() as stack:
        for part in parts:
            if hasattr(part, "close"):
                stack.callback(part.close)


async def close_all_async(parts: Iterable[Any]) -> None:
    """
    Release what parts hold on this event loop; one that knows no event loops is closed as it can be, as pipelines do.

    :param parts: Components, stores, caches or None.
    :raises Exception: What a part raised, after all have been closed.
    """
    async with AsyncExitStack() as stack:
        for part in parts:
            if hasattr(part, "close_async"):
                stack.push_async_callback(part.close_async)
            elif hasattr(part, "close"):
                stack.callback(part.close)


def opened(response: Any) -> None:
    """
    Note a response whose body is still to be read, for `released`.

    :param response: Of an HTTP client that waits.
    """
    if (responses := _responses.get(None)) is not None:
        responses.append(response)


def released(run: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """
    Call a component; where it raises, close the responses that it was reading.

    Neither Haystack nor OpenAI's client closes a stream that its reader leaves: until Python collects its garbage the
    connection stays open, and a server goes on writing, in its one slot or for money, what nobody reads.

    :param run: Its `run`.
    :param arguments: The arguments.
    :returns: What it gives; what it raises is raised as it is.
    """
    responses: list[Any] = []
    token = _responses.set(responses)
    try:
        return run(**arguments)
    except BaseException:
        for response in responses:
            with suppress(Exception):  # why the call failed is told, and not this
                response.close()
        raise
    finally:
        _responses.reset(token)
