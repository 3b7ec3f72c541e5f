"""Components that only compute, and for less than a hop to another thread costs."""

from functools import wraps
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound=type)


def light(kind: Kind) -> Kind:
    """
    Give a component a `run_async` that is its `run`, to stand below `@component`.

    Haystack hands a component without one to a pool of a few threads, which all requests of a server share. For what
    computes a fraction of a millisecond and waits for nothing, the way there and back costs more than the work.

    :param kind: A class whose `run` neither waits nor computes for long.
    :returns: The class, with `run_async` of the same signature.
    """
    made: Any = kind
    run = made.run

    @wraps(run)  # with the signature and the output types, which Haystack compares
    async def run_async(self: Any, *args: Any, **inputs: Any) -> Any:
        return run(self, *args, **inputs)

    made.run_async = run_async
    return kind
