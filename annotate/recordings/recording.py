"""A recording: what one experiment printed, called and noted, and on which trees that was seen.

It is bound to the script by its sha256 and to the upstream code by the token fingerprints of the
symbols that ran, not to whole files: it still holds on a tree where other code changed. Data that
upstream code reads (a module-level constant, say) is not seen; running again is what confirms that.

The file ends with a digest of itself: what somebody has edited is no recording any more.
"""

import difflib
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from annotate.errors import AnnotateError, Exit
from annotate.recordings.calls import Call, Edge
from annotate.recordings.marks import Graph, Moment, Node, State
from annotate.upstream.tree import Tree

VERSION = 2

MAX_SHOWN_LINES = 40

_ROW_FRAME = len(",\n  ")


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A tree on which the output and the calls were those of the recording.

    Attributes:
        tree: what identifies it on any machine (see `identity`).
        differs: the symbols that ran there with other tokens than in `Recording.executed`, with
            their fingerprint there, or None if they did not run there.
    """

    tree: Mapping[str, str]
    differs: Mapping[str, str | None]

    def __str__(self) -> str:
        """What was read, for people."""
        tree = self.tree
        match tree["source"]:
            case "git":
                return f"commit {tree['commit'][:12]}"
            case "release":
                return f"release {tree['name']} {tree['version']}"
            case _:
                return f"folder with files {tree['files'][:12]}"


@dataclass(frozen=True, slots=True)
class Recording:
    """What an experiment did.

    Attributes:
        script: path of the script in the project.
        sha256: of the script's bytes.
        exit_status: what it exited with.
        stdout: the lines it printed.
        stderr: the lines it printed to standard error.
        executed: symbol id → token fingerprint, of all upstream symbols whose code ran, on the
            first tree of ``confirmed``; a path stands for code outside of any symbol, with the
            fingerprint of the whole file.
        edges: what called what, complete.
        calls: the calls in order.
        depth_limit: the depth from which on calls were left out of ``calls``, or None.
        texts: symbol id → text fingerprint, of the upstream symbols whose lines are in the paths of
            ``calls``; a path stands for code outside of any symbol. Where the text is another,
            lines cannot be counted.
        marks: the states and graphs the script asked for, in order.
        confirmed: the trees it was seen on: commits, then releases, then folders.
    """

    script: str
    sha256: str
    exit_status: int
    stdout: tuple[str, ...]
    stderr: tuple[str, ...]
    executed: Mapping[str, str]
    edges: tuple[Edge, ...]
    calls: tuple[Call, ...]
    depth_limit: int | None
    texts: Mapping[str, str]
    marks: tuple[State | Graph, ...]
    confirmed: tuple[Confirmation, ...]

    @classmethod
    def load(cls, path: Path) -> "Recording":
        """Read a recording.

        Raises:
            AnnotateError: there is no such file, it is not a recording of this version, or it was
                changed after it was made.
        """
        try:
            written = path.read_bytes()
        except FileNotFoundError as error:
            raise AnnotateError(
                f"there is no recording {path}", "Make it with annotate run."
            ) from error
        except OSError as error:
            raise _unreadable(path, str(error)) from error
        return _read(path, written)

    def dump(self) -> bytes:
        """The file's bytes; the same recording always gives the same."""
        parts = [f'"{name}": {_laid_out(value)}' for name, value in _to_json(self).items()]
        parts.append(f'"digest": "{_digest(self)}"')
        return ("{\n" + ",\n".join(parts) + "\n}\n").encode()

    def difference(self, other: "Recording") -> str:
        """How another run of the same script differed, as a unified diff, or "" if it did not.

        Which lines ran is no difference: a tree may have the same calls on other lines.
        """
        for ours, theirs in (
            (self.stdout, other.stdout),
            (self.stderr, other.stderr),
            (_rows(self), _rows(other)),
            (_marks(self), _marks(other)),
            (tuple(map(str, self.edges)), tuple(map(str, other.edges))),
        ):
            if ours != theirs:
                diff = list(difflib.unified_diff(ours, theirs, "one run", "another", "", "", 2, ""))
                if len(diff) > MAX_SHOWN_LINES:
                    left_out = len(diff) - MAX_SHOWN_LINES
                    diff[MAX_SHOWN_LINES:] = [f"… and {left_out} more lines"]
                return "\n".join(diff)
        return ""

    def confirmed_by(self, other: "Recording") -> "Recording":
        """Join this recording with one of the same behaviour on another tree, or on the same.

        Raises:
            ValueError: the two are not recordings of one script with one behaviour.
        """
        if self.sha256 != other.sha256 or self.difference(other):
            raise ValueError("recordings of different behaviour cannot confirm each other")
        trees = {
            tuple(each.tree.items()): each.tree for each in (*self.confirmed, *other.confirmed)
        }
        executed = {
            tuple(each.tree.items()): executed_on(recording, each)
            for recording in (self, other)
            for each in recording.confirmed
        }
        keys = sorted(trees, key=lambda key: (_SOURCES.index(trees[key]["source"]), key))
        first = executed[keys[0]]
        confirmed = tuple(
            Confirmation(trees[key], _differences(first, executed[key])) for key in keys
        )
        # Lines are those of the first tree; of two runs on it, those of the new one.
        seen_first = any(tuple(each.tree.items()) == keys[0] for each in other.confirmed)
        return replace(other if seen_first else self, executed=first, confirmed=confirmed)


_SOURCES = ("git", "release", "folder")


def identity(tree: Tree) -> dict[str, str]:
    """What identifies a tree on any machine: the commit, the release, or a digest of its files."""
    pin = tree.pin
    if tree.source == "release" and pin.release is not None:
        release = pin.release
        return {
            "upstream": pin.name,
            "source": "release",
            "name": release.name,
            "version": release.version,
            "sha256": release.sha256,
        }
    if tree.source == "git":
        return {"upstream": pin.name, "source": "git", "commit": pin.commit}
    listing = "".join(f"{file.blob} {path}\n" for path, file in tree.files.items())
    digest = hashlib.sha256(listing.encode()).hexdigest()
    return {"upstream": pin.name, "source": "folder", "files": digest}


def bounded(recording: Recording, max_bytes: int) -> Recording:
    """The recording without its deepest calls, as many levels as it takes to make it that small.

    Raises:
        AnnotateError: it is too large even with the calls of the script's own body alone.
    """
    size = len(recording.dump())
    levels: Counter[int] = Counter()
    for call in recording.calls:
        levels[call.depth] += len(_compact(_row(call, 0)).encode()) + _ROW_FRAME
    depth = len(levels)
    while size > max_bytes and depth > 1:
        depth -= 1
        size -= levels[depth]
    if size > max_bytes:
        raise AnnotateError(
            f"a recording of {recording.script} would have {size:,} bytes; {max_bytes:,} are kept",
            "Make the experiment smaller: fewer calls, less output.",
            exit_code=Exit.FAILED,
        )
    if depth == len(levels):
        return recording
    kept = tuple(call for call in recording.calls if call.depth < depth)
    before = [0]
    for call in recording.calls:
        before.append(before[-1] + (call.depth < depth))
    marks = tuple(
        replace(mark, when=replace(mark.when, after=before[mark.when.after]))
        for mark in recording.marks
    )
    return replace(recording, calls=kept, marks=marks, depth_limit=depth)


def executed_on(recording: Recording, confirmation: Confirmation) -> dict[str, str]:
    """The fingerprints of the symbols that ran on one of the recording's trees."""
    merged = {**recording.executed, **confirmation.differs}
    return {symbol: value for symbol, value in sorted(merged.items()) if value is not None}


def _differences(first: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str | None]:
    return {
        symbol: other.get(symbol)
        for symbol in sorted(first.keys() | other.keys())
        if first.get(symbol) != other.get(symbol)
    }


def _to_json(recording: Recording) -> dict[str, Any]:
    paths = {path: number for number, path in enumerate(_paths(recording))}
    return {
        "version": VERSION,
        "script": {"path": recording.script, "sha256": recording.sha256},
        "confirmed": [
            {**each.tree, **({"differs": dict(each.differs)} if each.differs else {})}
            for each in recording.confirmed
        ],
        "exit": recording.exit_status,
        "stdout": list(recording.stdout),
        "stderr": list(recording.stderr),
        "executed": dict(recording.executed),
        "edges": [
            [edge.caller, edge.callee, edge.count, *([edge.inner] if edge.inner else [])]
            for edge in recording.edges
        ],
        "depth_limit": recording.depth_limit,
        "texts": dict(recording.texts),
        "paths": list(paths),
        "calls": [_row(call, paths.get(call.path)) for call in recording.calls],
        "marks": [_mark(mark) for mark in recording.marks],
    }


def _paths(recording: Recording) -> list[str]:
    """Each path of a call once, in order."""
    return list(dict.fromkeys(call.path for call in recording.calls if call.path))


def _digest(recording: Recording) -> str:
    return hashlib.sha256(_compact(_to_json(recording)).encode()).hexdigest()


def _row(call: Call, path: int | None) -> list[Any]:
    """Depth and symbol, and what is not as usual."""
    details: dict[str, Any] = {
        name: value
        for name, value, usual in (
            ("inner", call.inner, ""),
            ("wraps", call.wraps, ""),
            ("line", call.line, 0),
            ("times", call.times, 1),
            ("resumed", call.resumed, False),
            ("path", path, None),
        )
        if value != usual
    }
    return [call.depth, call.symbol, *([details] if details else [])]


def _rows(recording: Recording) -> tuple[str, ...]:
    return tuple(_compact(_row(call, None)) for call in recording.calls)


def _mark(mark: State | Graph) -> list[Any]:
    when = [mark.when.after, mark.when.depth, mark.when.line]
    if isinstance(mark, State):
        return [*when, mark.title, dict(mark.values)]
    nodes = [
        [node.identity, node.label, list(node.parents), dict(node.values)] for node in mark.nodes
    ]
    return [*when, mark.name, nodes]


def _marks(recording: Recording) -> tuple[str, ...]:
    return tuple(_compact(_mark(mark)) for mark in recording.marks)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _laid_out(value: object) -> str:
    """JSON with one item of the outermost list or object on a line."""
    if isinstance(value, dict) and value:
        items: Iterable[str] = (f"{_compact(key)}: {_compact(item)}" for key, item in value.items())
        return "{\n  " + ",\n  ".join(items) + "\n}"
    if isinstance(value, list) and value:
        return "[\n  " + ",\n  ".join(map(_compact, value)) + "\n]"
    return _compact(value)


@lru_cache(maxsize=64)
def _read(path: Path, written: bytes) -> Recording:
    """A recording from its file's bytes; each claim about it asks for it anew."""
    try:
        data = json.loads(written)
    except (ValueError, RecursionError) as error:
        raise _unreadable(path, str(error)) from error
    version = data.get("version") if isinstance(data, dict) else None
    if version != VERSION:
        raise _unreadable(path, f"its version is {version}, not {VERSION}")
    try:
        recording = _from_json(data)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise _unreadable(path, f"{type(error).__name__}: {error}") from error
    if data.get("digest") != _digest(recording):
        raise _unreadable(path, "it was changed after it was made")
    return recording


def _from_json(data: Mapping[str, Any]) -> Recording:
    confirmed = []
    for entry in data["confirmed"]:
        tree = {name: str(value) for name, value in entry.items() if name != "differs"}
        if tree["source"] not in _SOURCES:
            raise ValueError(f"no source {tree['source']}")
        confirmed.append(Confirmation(tree, entry.get("differs", {})))
    if not confirmed:
        raise ValueError("no tree confirms it")
    return Recording(
        data["script"]["path"],
        data["script"]["sha256"],
        int(data["exit"]),
        tuple(map(str, data["stdout"])),
        tuple(map(str, data["stderr"])),
        dict(data["executed"]),
        tuple(_edge(*row) for row in data["edges"]),
        tuple(_call(data["paths"], *row) for row in data["calls"]),
        data["depth_limit"],
        dict(data["texts"]),
        tuple(_read_mark(*row) for row in data["marks"]),
        tuple(confirmed),
    )


def _edge(caller: str, callee: str, count: int, inner: str = "") -> Edge:
    return Edge(caller, callee, inner, int(count))


def _call(
    paths: list[str], depth: int, symbol: str, details: Mapping[str, Any] = MappingProxyType({})
) -> Call:
    found = dict(details)
    path = paths[found.pop("path")] if "path" in found else ""
    return Call(int(depth), str(symbol), path=str(path), **found)


def _read_mark(after: int, depth: int, line: int, name: str, noted: Any) -> State | Graph:
    when = Moment(int(after), int(depth), int(line))
    if isinstance(noted, dict):
        return State(when, str(name), noted)
    nodes = tuple(
        Node(str(identity), str(label), tuple(map(int, parents)), dict(values))
        for identity, label, parents, values in noted
    )
    return Graph(when, str(name), nodes)


def _unreadable(path: Path, why: str) -> AnnotateError:
    return AnnotateError(
        f"{path} is not a recording that can be read: {why}", "Make it anew with annotate run."
    )
