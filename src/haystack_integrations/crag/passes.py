"""Which parts of a pipeline run once more in a further pass, and which would wait there: Haystack tells of neither."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from haystack import Pipeline

from haystack_integrations.crag.sockets import sockets_of
from haystack_integrations.crag.vocabulary import LOOP_ACTIONS

Needs = Mapping[str, Mapping[str, Any]]
"""The sockets that each part cannot run without, by their names."""


def needs_of(pipeline: Pipeline, given: Collection[str] = ()) -> dict[str, dict[str, Any]]:
    """
    Name what each part cannot run without, and gets from other parts alone.

    :param pipeline: A pipeline.
    :param given: What a run is given besides, `part.socket`: Haystack keeps that for all passes.
    :returns: Sockets by part and name.
    """
    return {
        name: {
            key: socket
            for key, socket in (sockets_of(pipeline.get_component(name), "input") or {}).items()
            if socket.is_mandatory and f"{name}.{key}" not in given
        }
        for name in pipeline.graph.nodes
    }


def behind(pipeline: Pipeline, parts: set[str]) -> set[str]:
    """
    Add to some parts all that they lead to.

    :param pipeline: The pipeline.
    :param parts: The names of some.
    :returns: Names.
    """
    while new := {taker for one in parts for taker in pipeline.graph.successors(one)} - parts:
        parts = parts | new
    return parts


def running(pipeline: Pipeline, parts: set[str], needs: Needs) -> set[str]:
    """
    Add to parts that run those that run thereupon, whatever a router chooses.

    :param pipeline: The pipeline.
    :param parts: The names of some.
    :param needs: As `needs_of` gives them, without those that a run is given.
    :returns: Names.
    """
    while new := {
        taker
        for one in parts
        for taker in pipeline.graph.successors(one)
        if taker not in parts and all(parts & set(socket.senders) for socket in needs[taker].values())
    }:
        parts = parts | new
    return parts


def waiting(pipeline: Pipeline, needs: Needs, begins: set[str]) -> str | None:
    """
    Find a part that a further pass reaches and does not pass: Haystack empties the sockets of what has run.

    What runs in corrections only is left alone: how often it runs depends on what the router chooses, and it may well
    be once.

    :param pipeline: The pipeline.
    :param needs: As `needs_of` gives them, without those that a run is given.
    :param begins: The parts that a run begins at.
    :returns: Which one it is, for what, and the way out; None where there is none.
    """
    for name in sorted(_of_first_pass(pipeline, needs, begins)):
        sockets, again = needs[name], running(pipeline, {name}, needs)
        lacks = [key for key, socket in sockets.items() if not again & set(socket.senders)]
        if lacks and len(lacks) < len(sockets):
            path, socket = f"{name}.{lacks[0]}", sockets[lacks[0]]
            such = _handed_on(pipeline, socket, again - {name})
            return (
                f"{name!r} runs in each pass, and {path} comes from {' and '.join(socket.senders)}, which runs once: "
                f"the second pass ends there without a result; connect what comes in each pass{such}, or nothing, and "
                f"give {path} to the run"
            )
    return None


def _of_first_pass(pipeline: Pipeline, needs: Needs, begins: set[str]) -> set[str]:
    """Add to the parts that a run begins at those that run thereupon without a correction."""
    found, ways = set(begins), defaultdict[tuple[str, str], set[str]](set)
    for sender, taker, edge in pipeline.graph.edges(data=True):
        if edge["from_socket"].name not in LOOP_ACTIONS:
            ways[taker, edge["to_socket"].name].add(sender)
    while new := {
        name for name in needs.keys() - found if needs[name] and all(ways[name, key] & found for key in needs[name])
    }:
        found |= new
    return found


def _handed_on(pipeline: Pipeline, socket: Any, parts: Collection[str]) -> str:
    """Name an output that hands on in each pass what a socket gets once."""
    alike = [
        f", such as {part}.{key}"
        for sender in socket.senders
        for part in sorted({*pipeline.graph.successors(sender)}.intersection(parts))
        for key, one in (sockets_of(pipeline.get_component(part), "output") or {}).items()
        if one.type == socket.type
    ]
    return alike[0] if alike else ""
