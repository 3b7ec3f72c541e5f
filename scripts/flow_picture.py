"""The way of a question through a pipeline as a picture of lines, read from its YAML."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

# Not on the way from question to answer: shared state, what is said about a step, and the end of the last strategy.
_ASIDE = frozenset({"state", "report", "outcome", "exhausted"})
_OTHERWISE = "draw it with `crag pipelines draw`"
# The box-drawing character by the sides it is open to: left, right, up, down.
_JOINTS = {
    (True, True, False, False): "─",
    (False, False, True, True): "│",
    (True, False, False, True): "┐",
    (True, False, True, False): "┘",
    (False, True, True, False): "└",
    (True, True, False, True): "┬",
    (True, False, True, True): "┤",
    (False, True, True, True): "├",
    (True, True, True, True): "┼",
}


class Shape:
    """A pipeline of retrieval, judgement and loop: what is drawn of it, in the words of its YAML."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        """
        Read a pipeline.

        :param spec: A pipeline as `loader.read` gives it.
        :raises ValueError: When it has another shape.
        """
        self.inputs, self.outputs = list(spec["inputs"]), list(spec["outputs"])
        self._edges = flow_edges(spec)
        last = {path.partition(".")[0] for path in spec["outputs"].values()}
        (self.start,) = dict.fromkeys(sender for sender, _, _ in self._edges if not self._senders(sender))
        (router,) = [name for name, part in spec["components"].items() if part["type"].endswith(".CragRouter")]
        walks = [self._walk(first, self._meeting) for first in self._receivers(self.start)]
        self.legs = [walk for walk, _ in walks]
        (meeting,) = {end for _, end in walks}
        chain, _ = self._walk(meeting, lambda name: name == router)
        self.judgement = [*chain, router]
        firsts = {leg[0] for leg in self.legs}
        self.ends: dict[str, list[str]] = {}
        self.loops: dict[str, list[str]] = {}
        for sender, socket, receiver in self._edges:
            if sender == router:
                steps, end = self._walk(receiver, lambda name: name in last | firsts)
                (self.loops if end in firsts else self.ends).setdefault(socket, steps)
        if len({tuple(steps) for steps in self.loops.values()}) != 1 or not self.ends:
            msg = f"this picture has ends and one loop, but got {self.ends} and {self.loops}; {_OTHERWISE}"
            raise ValueError(msg)
        self.loop = next(iter(self.loops.values()))

    def _receivers(self, name: str) -> list[str]:
        return list(dict.fromkeys(receiver for sender, _, receiver in self._edges if sender == name))

    def _senders(self, name: str) -> set[str]:
        return {sender for sender, _, receiver in self._edges if receiver == name}

    def _meeting(self, name: str) -> bool:
        return len(self._senders(name)) > 1 and self.start not in self._senders(name)

    def _walk(self, name: str, stop: Callable[[str], bool]) -> tuple[list[str], str]:
        """Follow the connections from a component on, up to the first that `stop` names, which is given apart."""
        steps: list[str] = []
        while not stop(name):
            receivers = self._receivers(name)
            if name in steps or not receivers or (len(receivers) > 1 and not all(map(stop, receivers))):
                msg = f"this picture has one way on from {name!r}, but got {receivers}; {_OTHERWISE}"
                raise ValueError(msg)
            steps.append(name)
            name = receivers[0]
        return steps, name


def flow_edges(spec: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """
    Give the way of question, documents and answer through a pipeline.

    :param spec: A pipeline as `loader.read` gives it.
    :returns: Sender, its socket, receiver; joiners, which only pass on, are left out, and what stands aside.
    """
    pairs = [(one["sender"].partition("."), one["receiver"].partition(".")[0]) for one in spec["connections"]]
    joiners = {name for name, part in spec["components"].items() if part["type"].endswith(".BranchJoiner")}

    def behind(receiver: str) -> list[str]:
        if receiver not in joiners:
            return [receiver]
        return [end for sender, next_one in pairs if sender[0] == receiver for end in behind(next_one)]

    from_parts = [(sender, receiver) for sender, receiver in pairs if sender[0] not in joiners]
    return [(sender[0], sender[2], end) for sender, to in from_parts if sender[2] not in _ASIDE for end in behind(to)]


class Canvas:
    """Rows of text that grow from left to right."""

    def __init__(self, height: int) -> None:
        """
        Begin with empty rows.

        :param height: Number of rows.
        """
        self.rows = [""] * height

    @property
    def width(self) -> int:
        """Tell how long the rows are."""
        return len(self.rows[0])

    def column(self, texts: Mapping[int, str], fill: str = " ") -> None:
        """
        Put texts below each other.

        :param texts: By row.
        :param fill: What leads from the end of a text to the end of the column.
        """
        width = max(map(len, texts.values()))
        for row in range(len(self.rows)):
            self.rows[row] += texts[row].ljust(width, fill) if row in texts else " " * width

    def joints(self, left: Iterable[int], right: Iterable[int], last: int) -> None:
        """
        Put a vertical line from the first row on.

        :param left: Rows from which something comes.
        :param right: Rows into which something goes.
        :param last: Where it ends.
        """
        comes, goes = set(left), set(right)
        self.column({row: _JOINTS[row in comes, row in goes, row > 0, row < last] for row in range(last + 1)})

    def put(self, row: int, at: int, text: str) -> None:
        """
        Write over what is there.

        :param row: The row.
        :param at: The column.
        :param text: What to write.
        """
        self.rows[row] = self.rows[row][:at] + text + self.rows[row][at + len(text) :]


def flow(spec: Mapping[str, Any]) -> str:
    """
    Draw a pipeline with one loop.

    :param spec: A pipeline as `loader.read` gives it.
    :returns: Six lines for a pipeline with two ends and two ways into the loop.
    :raises ValueError: When it has another shape.
    """
    shape = Shape(spec)
    top = max(len(shape.legs), len(shape.ends)) + 1
    loops = range(top, top + len(shape.loops))
    canvas = Canvas(loops.stop + 1)
    legs, ends = range(len(shape.legs)), range(len(shape.ends))
    canvas.column({0: _line(*shape.inputs, shape.start)[2:]})
    turn = canvas.width
    canvas.joints([0], [*legs, loops.stop], loops.stop)
    canvas.put(top - 1, turn, "▲")
    canvas.column({row: _line(*leg) for row, leg in enumerate(shape.legs)}, "─")
    canvas.joints(legs, [0], legs[-1])
    canvas.column({0: _line(*shape.judgement)})
    canvas.joints([0], [*ends, *loops], loops[-1])
    fork = canvas.width
    outputs = f" {', '.join(shape.outputs)} ◄─"
    lines = [_line(name, *steps) for name, steps in shape.ends.items()]
    lines.append(outputs.rjust(max(map(len, lines))))
    canvas.column(dict(enumerate(lines)), "─")
    canvas.joints(range(len(lines)), [], len(ends))
    width = max(len(_line(name)) for name in shape.loops)
    for row, name in zip(loops, shape.loops, strict=True):
        canvas.put(row, fork, _line(name).ljust(width, "─") + _JOINTS[True, False, row > top, True])
    back = f"─ {' ─ '.join(reversed(shape.loop))} ◄"
    canvas.put(loops.stop, turn + 1, back.ljust(fork + width - turn - 1, "─") + "┘")
    return "\n".join(row.rstrip() for row in canvas.rows) + "\n"


def _line(*names: str) -> str:
    return f"─ {' ─ '.join(names)} ─"
