"""Whether a pipeline's inputs and outputs are there, and each part is reached: once, and again in each further pass."""

import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import chain
from typing import Any, Final, Literal

from haystack import Pipeline

from haystack_integrations.crag.components.question_guard import QuestionGuard
from haystack_integrations.crag.components.reporting_retriever import ReportingRetriever
from haystack_integrations.crag.components.web_fallback import WebFallback
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.passes import Needs, behind, needs_of, running, waiting
from haystack_integrations.crag.pipelines.forms import inputs_of
from haystack_integrations.crag.sockets import sockets_of

_OF_FILTERS: Final = re.compile("dict|mapping|any", re.IGNORECASE)  # `filters_mode` may be a word


def check_ends(pipeline: Pipeline, spec: Mapping[str, Any]) -> None:
    """
    Refuse inputs and outputs at the end of a file that name a socket which its part does not have, and what a run
    closes and a part would leave open: filters that some searches get only, a web that is asked against its word.

    :param pipeline: A loaded pipeline.
    :param spec: Its YAML, as `read` gives it.
    :raises ConfigurationError: Naming the line, the part, and the sockets that it has.
    """
    ends: list[tuple[Literal["input", "output"], str, str]] = [
        *(("input", name, path) for name, paths in inputs_of(spec).items() for path in paths),
        *(("output", name, path) for name, path in spec["outputs"].items()),
    ]
    for what, name, path in ends:
        part, _, socket = path.partition(".")
        known = sockets_of(pipeline.get_component(part), what) if part in pipeline.graph else None
        if known is not None and socket not in known:
            msg = (
                f"the {what} {name!r} at the end of the file names {path}, and {part} has no {what} {socket!r}; choose "
                f"from {sorted(known)}"
            )
            raise ConfigurationError(msg)
    given = {path: name for what, name, path in ends if what == "input"}
    _check_filters(pipeline, given)
    _check_web(pipeline, given)


def check_reached(pipeline: Pipeline, spec: Mapping[str, Any]) -> None:
    """
    Refuse a part that waits for what nobody gives, what only it leads to, or what comes once and the rest in each pass.

    Of the first, Haystack tells at the first question. Of the others it tells nothing: the run ends at the part without
    a result, in the last case in the second pass, since Haystack empties the sockets of what has run. An expander whose
    queries nobody searches for ends it there, too.

    :param pipeline: A loaded pipeline.
    :param spec: Its YAML, as `read` gives it. What a run is given, Haystack keeps for all passes.
    :raises ConfigurationError: Naming the input, where it comes from and the way out.
    """
    given = {*chain.from_iterable(inputs_of(spec).values())}
    needs = needs_of(pipeline, given)
    for name, sockets in needs.items():
        for key, socket in sockets.items():
            if not socket.senders:
                msg = (
                    f"{name!r} cannot run without {key}, and nothing gives it; connect an output to {name}.{key}, or "
                    f"name {name}.{key} among the inputs at the end of the file"
                )
                raise ConfigurationError(msg)
    asked = {path.partition(".")[0] for path in given}
    first = {name for name in needs if not needs[name] and (name in asked or not pipeline.graph.in_degree(name))}
    _check_begun(pipeline, needs, running(pipeline, first, needs), _last(spec))
    if (why := waiting(pipeline, needs, first)) is not None:
        msg = f"{why}, by a line under inputs at the end of the file"
        raise ConfigurationError(msg)
    _check_searched(pipeline, needs, _last(spec))


def led_to(pipeline: Pipeline, name: str, output: str) -> set[str]:
    """
    Name the parts that one output of a part leads to, at once or further on.

    :param pipeline: A loaded pipeline.
    :param name: The part.
    :param output: The output.
    :returns: Their names.
    """
    edges = pipeline.graph.out_edges(name, data=True)
    return behind(pipeline, {taker for _, taker, edge in edges if edge["from_socket"].name == output})


def _check_filters(pipeline: Pipeline, given: Mapping[str, str]) -> None:
    """Refuse filters that a run gives to some of the searches only."""
    sockets = {
        f"{name}.{key}": bool(socket.senders) or f"{name}.{key}" in given
        for name in pipeline.graph.nodes
        for key, socket in _filters_of(pipeline.get_component(name)).items()
    }
    named = sorted({given[path] for path in sockets if path in given})
    if named and (open_ := [path for path, is_given in sockets.items() if not is_given]):
        msg = (
            f"the input {named[0]!r} at the end of the file leads to some searches, and not to {' and '.join(open_)}, "
            f"which would find what it closes; add {open_[0]} to its line, or give that a line of its own"
        )
        raise ConfigurationError(msg)


def _filters_of(part: Any) -> dict[str, Any]:
    """Name the inputs by which a search takes filters: `filters`, or several for several searches in one."""
    taken = sockets_of(part, "input") or {}
    if "documents" not in (sockets_of(part, "output") or {}):
        return {}
    if isinstance(part, ReportingRetriever):  # `load` puts it around any retriever, also one that takes none
        taken = {key: one for key, one in taken.items() if key in (sockets_of(part.retriever, "input") or {})}
    names = ["filters"] if "filters" in taken else [key for key in taken if key.startswith("filters_")]
    return {key: taken[key] for key in names if _OF_FILTERS.search(str(taken[key].type))}


def _check_web(pipeline: Pipeline, given: Mapping[str, str]) -> None:
    """Refuse a web search that is not told where a run forbids the web: the question would leave all the same."""
    parts = {name: pipeline.get_component(name) for name in pipeline.graph.nodes}
    guards = [f"{name}.web" for name, part in parts.items() if isinstance(part, QuestionGuard)]
    for path in (path for path in guards if path in given):
        for name in (name for name, part in parts.items() if isinstance(part, WebFallback)):
            sockets = (sockets_of(parts[name], "input") or {}).items()
            fed = {key for key, socket in sockets if socket.senders or f"{name}.{key}" in given}
            if "query" in fed and fed.isdisjoint(("state", "enabled")):
                msg = (
                    f"{name!r} would ask the web also in a run with {given[path]}=False, as nothing tells it; connect "
                    f"the state to {name}.state, or name {name}.enabled beside {path} at the end of the file"
                )
                raise ConfigurationError(msg)


def _last(spec: Mapping[str, Any]) -> set[str]:
    return {path.partition(".")[0] for path in spec["outputs"].values()}


def _check_begun(pipeline: Pipeline, needs: Needs, runs: set[str], last: set[str]) -> None:
    """Refuse a pipeline in which no question gets to the end: a part waits for what comes only when it has run."""
    rings = {
        f"{name}.{key}": socket.is_greedy
        for name in (needs.keys() - runs if last - runs else ())
        for key, socket in needs[name].items()
        if {*socket.senders} <= behind(pipeline, {name})
    }
    if rings:  # one of the joiners among them is where what begins the loop was connected
        joiners = sorted(path for path, is_joiner in rings.items() if is_joiner is max(rings.values()))
        msg = (
            f"no question leads to {' and '.join(sorted(last - runs))}, since {' and '.join(joiners)} can get a first "
            f"value only from what comes behind; connect what begins it to {' or '.join(joiners)}"
        )
        raise ConfigurationError(msg)


def _check_searched(pipeline: Pipeline, needs: Needs, last: set[str]) -> None:
    """Refuse an expander that ends a loop for want of another query, and whose queries lead to no documents."""
    for name in pipeline.graph.nodes:
        gives, fed = sockets_of(pipeline.get_component(name), "output") or {}, defaultdict[str, set[str]](set)
        if not {"query", "exhausted"} <= gives.keys() or not (judged := {*gives["exhausted"].receivers}):
            continue
        if any(gives[key].receivers for key in ("query", "queries") if key in gives):
            continue
        for _, taker, edge in pipeline.graph.out_edges(name, data=True):
            if edge["from_socket"].name != "exhausted":  # a search may be asked by the state alone, as that of the web
                fed[taker].add(edge["to_socket"].name)
        begun = {taker for taker, keys in fed.items() if needs[taker].keys() <= keys}
        if not running(pipeline, begun, needs) & (judged | last):
            msg = (
                f"{name!r} writes another query, and nothing searches for it, so that the run ends there without a "
                f"result: what it gives leads to {' and '.join(sorted(judged))} by its `exhausted` alone; connect "
                f"{name}.query to where the first query is searched for"
            )
            raise ConfigurationError(msg)
