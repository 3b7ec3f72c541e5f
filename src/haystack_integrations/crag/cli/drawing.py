"""Pictures of a pipeline as text, made from its YAML: a Mermaid graph or a tree. Nothing is sent anywhere."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from rich.text import Text
from rich.tree import Tree

Form = Literal["mermaid", "tree"]
"""How a pipeline is drawn."""

_LOOP: Final = "↺"
_IDENTIFIER: Final = re.compile(r"\W")
# Words with a meaning of their own in Mermaid.
_RESERVED: Final = frozenset({"end", "graph", "subgraph", "default", "style", "class", "click", "flowchart"})


def mermaid(spec: Mapping[str, Any]) -> str:
    """
    Draw a pipeline as a Mermaid flowchart, which GitHub and most Markdown viewers show as a picture.

    :param spec: A pipeline as `loader.read` gives it.
    :returns: Mermaid text.
    """
    from haystack_integrations.crag.pipelines.forms import inputs_of

    given = {name: places for name, places in inputs_of(spec).items() if name in spec["inputs"]}
    paths = [(name, path) for name, places in given.items() for path in places]
    ends = (path.partition(".")[0] for path in (*(path for _, path in paths), *spec["outputs"].values()))
    ids = _ids(
        [*spec["components"], *(f"in {one}" for one in given), *(f"out {one}" for one in spec["outputs"]), *ends]
    )
    lines, id_of = ["flowchart TD"], ids.__getitem__
    lines += [f"  {id_of(f'in {name}')}([{name}])" for name in spec["inputs"]]
    lines += [f'  {id_of(name)}["{name}<br/><i>{_kind(part)}</i>"]' for name, part in spec["components"].items()]
    lines += [f"  {id_of(f'out {name}')}([{name}])" for name in spec["outputs"]]
    lines += [f"  {id_of(f'in {name}')} --> {id_of(path.partition('.')[0])}" for name, path in paths]
    for sender, socket, receiver in _edges(spec):
        lines.append(f"  {id_of(sender)} {f'-- {socket} ' if socket else ''}--> {id_of(receiver)}")
    for name, path in spec["outputs"].items():
        lines.append(f"  {id_of(path.partition('.')[0])} --> {id_of(f'out {name}')}")
    return "\n".join(lines) + "\n"


def tree(name: str, spec: Mapping[str, Any]) -> Tree:
    """
    Draw a pipeline as a tree from its first components on; what was shown before is only named, with a loop sign.

    :param name: What to write at the root.
    :param spec: A pipeline as `loader.read` gives it.
    :returns: A tree for the terminal.
    """
    from haystack_integrations.crag.pipelines.forms import inputs_of

    edges = _edges(spec)
    fed = {receiver for _, _, receiver in edges}
    root = Tree(Text(name, "bold"), guide_style="dim")
    shown: set[str] = set()

    def grow(parent: Tree, component: str, socket: str) -> None:
        label = (f"{socket} → " if socket else "", "dim")
        if component in shown:
            parent.add(Text.assemble(label, (f"{_LOOP} {component}", "dim")))
            return
        shown.add(component)
        given = [output for output, path in spec["outputs"].items() if path.startswith(f"{component}.")]
        ends = [part for output in given for part in (" ⇒ ", (output, "green"))]
        kind = _kind(spec["components"][component])
        branch = parent.add(Text.assemble(label, (component, "cyan"), " ", (kind, "dim"), *ends))
        for sender, out, receiver in edges:
            if sender == component:
                grow(branch, receiver, out)

    first = [component for component in spec["components"] if component not in fed]
    # Where all are fed, as behind a loop that leads back to the first one, the run begins with what it is given.
    given = [path.partition(".")[0] for places in inputs_of(spec).values() for path in places]
    for component in dict.fromkeys((*first, *given, *spec["components"])):
        if component not in shown and component in spec["components"]:
            grow(root, component, "")
    return root


def _edges(spec: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Give the connections as (sender, its socket, receiver)."""
    pairs = ((one["sender"].partition("."), one["receiver"].partition(".")) for one in spec["connections"])
    return [(sender[0], sender[2], receiver[0]) for sender, receiver in pairs]


def _kind(part: Mapping[str, Any]) -> str:
    return str(part.get("type", "?")).rpartition(".")[2]


def _ids(names: Iterable[str]) -> dict[str, str]:
    """Give each name one that Mermaid takes, and no two of them the same."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        safe = _IDENTIFIER.sub("_", name)
        while safe in _RESERVED or safe in found.values():
            safe += "_"
        found[name] = safe
    return found
