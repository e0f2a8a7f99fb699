"""What an experiment's process notes down while its script runs.

This file is never imported by annotate. The runner copies it, under the name ``sitecustomize.py``,
into a folder that stands first on the child's path: Python imports it before the script, so the
script itself starts exactly as if run by hand. It needs the standard library alone.

It watches, through `sys.setprofile` and `sys.settrace`, the code of two folders: the upstream tree
and the script's. At the end of the process it writes one JSON object:

- ``labels``: each function called, as path ("" for the script), line, qualified name, what it wraps
- ``events``: a number n > 0 enters label n - 1, its negative resumes that generator, 0 leaves
- ``lines``: for each entry the line of the script's own body that led to it, else 0
- ``steps``: before each event, and after the last, the lines that ran in the function entered last
- ``marks``: what the script asked to note (`annotate.experiment`), each with the number of events
  and of lines among ``steps`` before it, and the line of the script
- ``imported``: the functions that ran while a module of the tree was being imported, as path, line,
  qualified name
- ``trouble``: names of what the watching cannot account for
"""

import atexit
import inspect
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from opcode import opmap
from types import CodeType, FrameType
from typing import Any

TraceFunction = Callable[[FrameType, str, Any], Any]

RESUMABLE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
NETWORK_EVENTS = frozenset(
    {"socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo"}
)
PROCESS_EVENTS = frozenset(
    {"os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system"}
    | {"subprocess.Popen"}
)

MAX_MARKS = 500


class WatchedCode:
    """A function of a watched file: where it stands, and what tells its calls apart.

    ``candidates`` are the free variables that are parameters of the function it stands in: one
    that holds a callable says what a decorator's wrapper wraps. ``first_resume`` is the offset of
    the instruction at which a generator starts, None for what cannot be resumed.
    """

    __slots__ = ("body", "candidates", "code", "first_resume", "labels", "path")

    def __init__(self, code: CodeType, path: str, enclosing: CodeType | None) -> None:
        self.code = code
        self.path = path
        self.labels: dict[str, int] = {}
        # Functions alone have fast locals: the bodies of modules and of classes do not.
        self.body = not code.co_flags & inspect.CO_OPTIMIZED
        self.candidates = tuple(
            name for name in code.co_freevars if enclosing and name in parameters(enclosing)
        )
        self.first_resume = None
        if code.co_flags & RESUMABLE:
            self.first_resume = 2 * code.co_code[::2].index(opmap["RESUME"])


def parameters(code: CodeType) -> tuple[str, ...]:
    """The names of a function's parameters, ``*args`` and ``**kwargs`` among them."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[:count]


def name_of(value: object) -> str:
    """A callable's own name, without running any code of its class; "" if it has none."""
    if not callable(value):
        return ""
    try:
        name = object.__getattribute__(value, "__name__")
    except Exception:
        return ""
    return name if isinstance(name, str) and name.isidentifier() else ""


class Tracer:
    """The notes of one process."""

    def __init__(self, tree: str, script: str, max_events: int) -> None:
        self.tree = tree
        self.script = script
        self.max_events = max_events
        self.watched: dict[int, WatchedCode | None] = {}
        self.kept: list[CodeType] = []  # a code object that is gone could lend its id to another
        self.enclosing: dict[int, CodeType] = {}
        self.stack: list[tuple[FrameType, WatchedCode]] = []
        self.importing = 0
        self.labels: list[tuple[str, int, str, str]] = []
        self.imported: dict[int, WatchedCode] = {}
        self.events: list[int] = []
        self.lines: list[int] = []
        self.steps: list[list[int]] = [[]]
        self.steps_left = max_events
        self.marks: list[dict[str, object]] = []
        self.pauses = 0
        self.trouble: list[str] = []

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Note nothing meanwhile."""
        self.pauses += 1
        try:
            yield
        finally:
            self.pauses -= 1

    def mark(self, frame: FrameType, noted: dict[str, object]) -> None:
        """Note what a function called by the script, whose frame this is, was given."""
        if self.importing:
            return
        if len(self.marks) >= MAX_MARKS:
            self.trouble.append("marks")
            return
        place = {
            "event": len(self.events),
            "step": len(self.steps[-1]),
            "line": self.script_line(frame),
        }
        self.marks.append(place | noted)

    def trace(self, frame: FrameType, _event: str, _argument: object) -> TraceFunction | None:
        """The trace function: whether to follow a frame line by line."""
        if self.pauses or self.importing or self.steps_left < 0:
            return None
        try:
            watched = self.watched[id(frame.f_code)]
        except KeyError:
            watched = self.classify(frame.f_code)
        return self.trace_line if watched and not watched.body else None

    def trace_line(self, frame: FrameType, event: str, _argument: object) -> TraceFunction | None:
        """The trace function of one frame."""
        if event == "line" and not self.pauses:
            self.steps[-1].append(frame.f_lineno)
            self.steps_left -= 1
        return self.trace_line if self.steps_left >= 0 else None

    def note(self, event: int) -> None:
        """Note an event; the lines that run next come after it."""
        self.events.append(event)
        self.steps.append([])

    def profile(self, frame: FrameType, event: str, _argument: object) -> None:
        """The profile function: one entry or exit of a Python function, or an event of C code."""
        if event == "call":
            try:
                watched = self.watched[id(frame.f_code)]
            except KeyError:
                watched = self.classify(frame.f_code)
            if watched and not self.pauses:
                self.enter(frame, watched)
        elif event == "return" and self.stack and self.stack[-1][0] is frame:
            _, watched = self.stack.pop()
            if watched.body:
                self.importing -= 1
            elif not self.importing:
                self.note(0)

    def classify(self, code: CodeType) -> WatchedCode | None:
        """Decide, once per code object, whether it is watched."""
        self.kept.append(code)
        watched = None
        for root, from_tree in ((self.tree, True), (self.script, False)):
            if code.co_filename.startswith(root):
                path = code.co_filename[len(root) :].replace(os.sep, "/") if from_tree else ""
                enclosing = self.enclosing.get(id(code))
                watched = WatchedCode(code, path, enclosing)
                if watched.body and not (from_tree and code.co_name == "<module>"):
                    watched = None
                for constant in code.co_consts:
                    if isinstance(constant, CodeType):
                        self.enclosing[id(constant)] = code
                break
        self.watched[id(code)] = watched
        return watched

    def enter(self, frame: FrameType, watched: WatchedCode) -> None:
        """Note that a watched function starts, or that a generator goes on."""
        if watched.body:
            self.importing += 1
            self.stack.append((frame, watched))
            return
        if self.importing:
            self.imported[id(watched.code)] = watched
        else:
            number = 1 + self.label(frame, watched)
            resumed = watched.first_resume is not None and frame.f_lasti > watched.first_resume
            self.note(-number if resumed else number)
            self.lines.append(0 if self.stack else self.script_line(frame))
            if len(self.events) > self.max_events:
                self.trouble.append("calls")
                sys.setprofile(None)
                sys.settrace(None)
        self.stack.append((frame, watched))

    def script_line(self, frame: FrameType) -> int:
        """The line of the script's body that is running, whatever lies between it and the frame."""
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(self.script):
            caller = caller.f_back
        return caller.f_lineno if caller is not None else 0

    def label(self, frame: FrameType, watched: WatchedCode) -> int:
        """The number under which this function, wrapping what it wraps now, is noted."""
        wraps = ""
        if watched.candidates:
            values = frame.f_locals
            names = [name_of(values.get(candidate)) for candidate in watched.candidates]
            found = [name for name in names if name]
            wraps = found[0] if len(found) == 1 else ""
        number = watched.labels.get(wraps)
        if number is None:
            code = watched.code
            number = watched.labels[wraps] = len(self.labels)
            self.labels.append((watched.path, code.co_firstlineno, code.co_qualname, wraps))
        return number

    def profile_thread(self, frame: FrameType, event: str, _argument: object) -> None:
        """The profile function of any thread the script starts."""
        if event == "call" and frame.f_code.co_filename.startswith(self.tree):
            self.trouble.append("threads")
            sys.setprofile(None)

    def audit(self, event: str, _arguments: object) -> None:
        """Note new processes, and refuse the network, alike on every machine (PEP 578)."""
        if event in PROCESS_EVENTS:
            self.trouble.append("processes")
        elif event in NETWORK_EVENTS:
            self.trouble.append("network")
            raise PermissionError("an experiment has no network")

    def write(self, path: str, process: int) -> None:
        """Write the notes down when the process that was traced ends."""
        if os.getpid() != process:
            return
        watching = sys.getprofile() == self.profile and sys.gettrace() == self.trace
        if not watching and "calls" not in self.trouble:
            self.trouble.append("profile")
        sys.settrace(None)
        sys.setprofile(None)
        imported = [
            (watched.path, watched.code.co_firstlineno, watched.code.co_qualname)
            for watched in self.imported.values()
        ]
        notes = {
            "labels": self.labels,
            "events": self.events,
            "lines": self.lines,
            "steps": self.steps,
            "marks": self.marks,
            "imported": sorted(set(imported)),
            "trouble": sorted(set(self.trouble)),
        }
        with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123 (no import of pathlib)
            json.dump(notes, file)


def start(request: str) -> Tracer:
    """Begin to watch; the request names, as JSON, the two folders, the output and the limit."""
    settings = json.loads(request)
    tracer = Tracer(settings["tree"], settings["script"], settings["max_events"])
    atexit.register(tracer.write, settings["notes"], os.getpid())
    sys.addaudithook(tracer.audit)
    threading.setprofile(tracer.profile_thread)
    sys.setprofile(tracer.profile)
    sys.settrace(tracer.trace)
    return tracer


if "ANNOTATE_TRACE" in os.environ:
    TRACER = start(os.environ.pop("ANNOTATE_TRACE"))
