"""A part of a recording: what a page asks for of it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from annotate.recordings import Call, Graph, Recording, Region, State


@dataclass(frozen=True, slots=True)
class Part:
    """A recording, and what is chosen of it.

    Attributes:
        recording: the whole.
        script: the script's text.
        region: only what the script's body did on these lines; None for all of it.
        depth: how many calls deep calls are shown; None for all.
        only: what is shown: of a sequence these folders, files and symbols, of a state table these
            columns, of graphs those of these names; empty for all.
    """

    recording: Recording
    script: str
    region: Region | None = None
    depth: int | None = None
    only: tuple[str, ...] = ()

    def states(self) -> list[State]:
        """The states with values, in order."""
        return [mark for mark in self.marks() if isinstance(mark, State) and mark.values]

    def graphs(self) -> dict[str, Graph]:
        """Graph name → the graph as it was at last."""
        found = {mark.name: mark for mark in self.marks() if isinstance(mark, Graph)}
        return {name: graph for name, graph in found.items() if not self.only or name in self.only}

    def marks(self) -> Iterator[State | Graph]:
        """All that the script noted, in order."""
        body_lines = _body_lines(self.recording.calls)
        for mark in self.recording.marks:
            when = mark.when
            if self.covers(body_lines[when.after] if when.depth else when.line):
                yield mark

    def calls(self) -> "list[Shown]":
        """The calls of the part as trees, by the caller's side."""
        roots: list[Shown] = []
        # The innermost shown call at each depth, and what is left out below it.
        around: list[Shown | None] = []
        body_line = 0
        for number, call in enumerate(self.recording.calls):
            if call.depth == 0:
                body_line = call.line
            if not self.covers(body_line):
                continue
            del around[call.depth :]
            parent = next((each for each in reversed(around) if each is not None), None)
            level = parent.level + 1 if parent else 0
            if not self._wanted(call):
                around.append(None)
                continue
            if self.depth is not None and level >= self.depth:
                if parent is not None:
                    parent.hidden += call.times
                around.append(None)
                continue
            shown = Shown(call, number, level, body_line)
            (parent.below if parent else roots).append(shown)
            around.append(shown)
        return roots

    def called(self) -> set[str]:
        """The names in ``only`` that some call has."""
        shown = [shown.call for shown in walk(self.calls())]
        return {name for name in self.only if any(_has(call, name) for call in shown)}

    def covers(self, line: int) -> bool:
        """Whether a line of the script's body belongs to the part."""
        region = self.region
        return region is None or region.first_line <= line <= region.last_line

    def _wanted(self, call: Call) -> bool:
        return not self.only or any(_has(call, name) for name in self.only)


@dataclass(slots=True)
class Shown:
    """A call that is shown.

    Attributes:
        call: the call.
        number: its number among the calls of the recording.
        level: how many shown calls it is inside of.
        line: the line of the script's body that was running.
        below: the calls shown inside of it.
        hidden: how many calls inside of it are not shown for being too deep.
    """

    call: Call
    number: int
    level: int
    line: int
    below: "list[Shown]" = field(default_factory=list)
    hidden: int = 0


def _has(call: Call, name: str) -> bool:
    """Whether a call is one of a symbol, or of a symbol in another, in a file or in a folder.

    A symbol may be named without its file.
    """
    names = (call.symbol, call.symbol.partition("::")[2])
    inside = (f"{name}::", f"{name}.", f"{name}/")
    return any(each == name or each.startswith(inside) for each in names)


def walk(calls: "Iterable[Shown]") -> Iterator[Shown]:
    """All calls of some trees, from the top."""
    pending = list(calls)[::-1]
    while pending:
        shown = pending.pop()
        yield shown
        pending.extend(reversed(shown.below))


def name_of(call: Call) -> str:
    """A call's name without its file: what was called, what that wraps, how often in a row."""
    name = call.symbol.partition("::")[2] or call.symbol
    if call.inner:
        name += f".{call.inner}"
    if call.wraps:
        name += f" of {call.wraps}"
    if call.times > 1:
        name += f" ×{call.times}"
    return name


def calls_text(part: Part) -> str:
    """The calls as text: one on each line, indented by how deep it is."""
    lines = []
    for shown in walk(part.calls()):
        path, separator, _ = shown.call.symbol.partition("::")
        name = f"{path}::{name_of(shown.call)}" if separator else name_of(shown.call)
        lines.append("  " * shown.level + name)
    return "\n".join(lines)


def _body_lines(calls: Iterable[Call]) -> list[int]:
    """The line of the script's body that was running when so many calls had been made."""
    lines = [0]
    for call in calls:
        lines.append(call.line if call.depth == 0 else lines[-1])
    return lines
