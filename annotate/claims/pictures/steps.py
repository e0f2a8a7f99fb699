"""A recording as steps: what a replay goes through, one after the other.

The steps are data for ``assets/replay.js``, as small as they can be: a list of numbers and lists.

- ``[source, line, name, times, script line]``: a call begins, on the line where its function does;
  for a call by the script's own body the script goes to that line first
- ``n > 0``: line n runs in the call entered last
- ``0``: that call returns
- ``n < 0``: what the script noted as mark -n - 1 is known from here on
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from annotate.claims.pictures.part import Part, name_of
from annotate.recordings import Call, Graph, State
from annotate.recordings.marks import CALL, MARK

MAX_STEPS = 20_000

Step = int | list[int | str]


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a part of a recording.

    Attributes:
        steps: as told above.
        marks: what the script noted in that part, in order.
        complete: whether all of it fits.
    """

    steps: Sequence[Step]
    marks: Sequence[State | Graph]
    complete: bool


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a symbol stands: the number of its source, and its first line in the file.

    ``lines`` says whether the recorded lines are those of this text.
    """

    source: int
    first_line: int
    lines: bool


def steps(part: Part, origin: Callable[[str], Origin]) -> Steps:
    """The steps of a part."""
    marks = list(part.marks())
    return _Walk(part, marks, origin).run()


class _Walk:
    def __init__(
        self, part: Part, marks: Sequence[State | Graph], origin: Callable[[str], Origin]
    ) -> None:
        self._part = part
        self._marks = marks
        self._origin = origin
        self._told = 0
        self._steps: list[Step] = []

    def run(self) -> Steps:
        rows: list[tuple[int, Call]] = []
        covered = False
        for number, call in enumerate(self._part.recording.calls):
            if call.depth == 0:
                covered = self._part.covers(call.line)
            if covered and (self._part.depth is None or call.depth < self._part.depth):
                rows.append((number, call))
        # What is left of the path of each call that has not returned.
        open_calls: list[tuple[Call, deque[str]]] = []
        for number, call in rows:
            while len(open_calls) > call.depth:
                self._leave(*open_calls.pop())
            if open_calls:
                self._go_on(*open_calls[-1], until_call=True)
            self._tell(number)
            if len(self._steps) > MAX_STEPS:
                break
            origin = self._origin(call.symbol)
            path = deque(call.path.split())
            line = origin.first_line
            # A nameless function begins where its code stands.
            if path and path[0].isdigit() and origin.lines and (call.inner or path[0] == "1"):
                line += int(path.popleft()) - 1
            self._steps.append([origin.source, line, name_of(call), call.times, call.line])
            open_calls.append((call, path))
        while open_calls:
            self._leave(*open_calls.pop())
        complete = len(self._steps) <= MAX_STEPS
        if complete:
            self._tell(len(self._part.recording.calls))
        return Steps(self._steps, self._marks, complete)

    def _leave(self, call: Call, path: deque[str]) -> None:
        self._go_on(call, path, until_call=False)
        self._steps.append(0)

    def _go_on(self, call: Call, path: deque[str], *, until_call: bool) -> None:
        """Run a call's lines up to its next call, or to its end."""
        origin = self._origin(call.symbol)
        while path:
            token = path.popleft()
            if token == CALL:
                if until_call:
                    return
            elif token == MARK:
                self._tell_next()
            elif origin.lines and token.isdigit():
                self._steps.append(origin.first_line + int(token) - 1)

    def _tell(self, calls: int) -> None:
        """Tell what was noted before so many calls had been made, unless a path told it."""
        while self._told < len(self._marks) and self._marks[self._told].when.after <= calls:
            self._tell_next()

    def _tell_next(self) -> None:
        if self._told < len(self._marks):
            self._told += 1
            self._steps.append(-self._told)
