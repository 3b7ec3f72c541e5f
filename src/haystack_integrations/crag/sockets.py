"""What a component takes and gives. Haystack's notes of it are not public: read here, in `inputs` and `copying`."""

from collections.abc import Collection, Mapping, Sequence
from types import NoneType
from typing import Any, Literal, get_args

from haystack import logging

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.inputs import check_input

logger = logging.getLogger(__name__)

_Edge = tuple[str, str, Mapping[str, Any]]
"""A connection as Haystack's graph has it: who gives, who takes, and its sockets."""


def sockets_of(part: object, door: Literal["input", "output"]) -> Mapping[str, Any] | None:
    """
    Name the sockets of a component.

    :param part: Any object.
    :param door: Which of them.
    :returns: Haystack's sockets by name; None of what has no such sockets, and perhaps is no component.
    """
    sockets: Mapping[str, Any] | None = getattr(getattr(part, f"__haystack_{door}__", None), "_sockets_dict", None)
    return sockets


def pipeline_of(part: object) -> Any:
    """
    Give the pipeline that a component is in.

    :param part: Any object.
    :returns: None for one that is in none.
    """
    return getattr(part, "__haystack_added_to_pipeline__", None)


def is_part(part: object) -> bool:
    """
    Tell whether something can be run: its class has a `run`, too, which no pipeline could call.

    :param part: Any object.
    :returns: Whether it can.
    """
    return hasattr(part, "run") and not isinstance(part, type)


def named(part: object) -> str:
    """
    Name what was given in the place of a component.

    :param part: Any object.
    :returns: The name of its class; of a class, that it is one; of a mapping, how YAML names a component.
    """
    if isinstance(part, dict):
        return "a mapping, which is a component only with `type: module.ClassName` and `init_parameters`"
    return f"the class {part.__name__}" if isinstance(part, type) else type(part).__name__


def leads_nowhere(part: object, taken: str, *others: str) -> bool:
    """
    Tell whether a branch is taken that nothing is connected to, in a pipeline that connects another one.

    :param part: The component that branches.
    :param taken: The output of the branch taken.
    :param others: Outputs of others.
    :returns: Whether the run ends here, and nobody meant it to.
    """
    return not leads_on(part, taken) and any(leads_on(part, other) for other in others)


def leads_on(part: object, output: str) -> bool:
    """
    Tell whether anything is connected to an output.

    :param part: A component.
    :param output: The name of the output.
    :returns: Whether something is; nothing is to one in no pipeline.
    """
    return bool((sockets_of(part, "output") or {})[output].receivers)


def leads_back(part: object, taken: str, untold: str) -> bool:
    """
    Tell whether a branch leads back to the component that takes it, without what the component is to be told then.

    :param part: The component that branches.
    :param taken: The output of the branch taken, of the type of what is to be told.
    :param untold: The input that has to get it on that way, handed on by each component between.
    :returns: Whether the component will be run again as if for the first time.
    """
    pipeline, wanted = pipeline_of(part), _kinds((sockets_of(part, "input") or {})[untold].type)
    if pipeline is None:
        return False
    edges: list[_Edge] = list(pipeline.graph.edges(data=True))
    begun = [edge for edge in edges if pipeline.get_component(edge[0]) is part and edge[2]["from_socket"].name == taken]
    telling = [edge for edge in edges if _kinds(edge[2]["from_socket"].type) & {*wanted, Any}]
    back = [edge for edge in _behind(begun, edges) if pipeline.get_component(edge[1]) is part]
    told = [edge for edge in _behind(begun, telling) if pipeline.get_component(edge[1]) is part]
    return bool(back) and untold not in {edge[2]["to_socket"].name for edge in told}


def untold_of(part: object, outcome: str, branch: str, wanted: str) -> list[str]:
    """
    Name the components that make something which a part is to be told of, and is not.

    :param part: The part that is to be told.
    :param outcome: Its input that comes from a component that branches.
    :param branch: The output of that component from which on something may be made.
    :param wanted: The name of the output that makes it, and of the part's input.
    :returns: Names in the pipeline; empty where each of these outputs leads to the part, or none is there.
    """
    pipeline = pipeline_of(part)
    edges: list[_Edge] = [] if pipeline is None else list(pipeline.graph.edges(data=True))
    to_part = [edge for edge in edges if pipeline.get_component(edge[1]) is part]
    givers = {edge[0] for edge in to_part if edge[2]["to_socket"].name == outcome}
    begun = [edge for edge in edges if edge[0] in givers and edge[2]["from_socket"].name == branch]
    makers = [name for name in {edge[1]: None for edge in _behind(begun, edges)} if wanted in _outputs(pipeline, name)]
    told = [edge for edge in to_part if edge[2]["to_socket"].name == wanted]
    ways = {
        name: _behind([edge for edge in edges if edge[0] == name and edge[2]["from_socket"].name == wanted], edges)
        for name in makers
    }
    return [name for name, way in ways.items() if not any(edge in told for edge in way)]


def _outputs(pipeline: Any, name: str) -> Collection[str]:
    return sockets_of(pipeline.get_component(name), "output") or ()


def _kinds(kind: Any) -> set[Any]:
    """Take a type apart; None says nothing."""
    return {kind, *get_args(kind)} - {NoneType}


def _behind(begun: Sequence[_Edge], edges: Sequence[_Edge]) -> list[_Edge]:
    """List the connections from some on, by those that count."""
    found, ahead = list[_Edge](), [*begun]
    while ahead:
        found.append(edge := ahead.pop())
        ahead += [other for other in edges if other[0] == edge[1] and other not in found and other not in ahead]
    return found


def tell_of_dead_end(part: object, taken: str, *others: str) -> None:
    """
    Warn of it: the pipeline around the component ends there, without an answer and without a record.

    :param part: The component that branches.
    :param taken: The output of the branch taken.
    :param others: Outputs of others.
    """
    if leads_nowhere(part, taken, *others):
        logger.warning(
            "the output {taken} of {part} leads nowhere, so this run ends there, without an answer or a record; "
            "connect it, too, so that each branch leads to the router",
            taken=taken,
            part=named(part),
        )


def check_sockets(part: object, inputs: Mapping[str, Any]) -> None:
    """
    Refuse what a component that names its own sockets is given for none of them, or what is of another type.

    A pipeline looks after the names itself. Called by hand, a `run` that takes anything would leave out what is
    misspelt, and nobody would miss it.

    :param part: The component.
    :param inputs: What its `run` was given, by name.
    :raises ConfigurationError: With what was got and what is accepted.
    """
    sockets = sockets_of(part, "input") or {}
    for name, value in inputs.items():
        if name not in sockets:
            msg = f"{type(part).__name__} got an input {name!r}, wanted one of {sorted(sockets)}; correct its name"
            raise ConfigurationError(msg)
        check_input(type(part).__name__, name, value, sockets[name].type)
