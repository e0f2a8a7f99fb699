"""What a recording shows: the calls, the states, the graphs, and a replay of it all.

Each module has the text of what it shows, by which a page may quote it, and draws it.
"""

from collections.abc import Callable, Container, Mapping
from typing import TYPE_CHECKING

from annotate.claims.pictures import graph, states
from annotate.claims.pictures.part import Part, calls_text
from annotate.errors import AnnotateError
from annotate.recordings import Recording, regions

if TYPE_CHECKING:
    from annotate.claims.context import Context

_TEXTS: Mapping[str, Callable[[Part], str]] = {
    "sequence": calls_text,
    "states": states.text,
    "graph": graph.text,
    "replay": calls_text,
}
SHOWN = tuple(_TEXTS)


def choose(recording: Recording, script: bytes, attributes: Mapping[str, str]) -> Part:
    """The part of a recording that the attributes ``region``, ``depth`` and ``only`` choose.

    Raises:
        AnnotateError: there is no such region, or a value cannot be read.
    """
    source = script.decode().replace("\r\n", "\n")
    region = None
    if name := attributes.get("region", ""):
        known = regions(source)
        if name not in known:
            raise AnnotateError(
                f"{recording.script} has no region “{name}”", f"It has: {', '.join(known)}"
            )
        region = known[name]
    depth = attributes.get("depth", "")
    if depth and not (depth.isdecimal() and int(depth) > 0):
        raise AnnotateError(f"depth “{depth}” is not a number from 1 on")
    only = tuple(name.strip() for name in attributes.get("only", "").split(",") if name.strip())
    return Part(recording, source, region, int(depth) if depth else None, only)


def text(shown: str, part: Part) -> str:
    """What is shown as text, which is what a page may quote of it.

    Raises:
        AnnotateError: the recording has nothing of that sort in that part.
    """
    told = _TEXTS[shown](part)
    known = _NAMES[shown](part)
    for name in part.only:
        if told and name not in known:
            raise AnnotateError(f"there is no “{name}” in what is to be shown as {shown}")
    if not told:
        chosen = " in that part of it" if part.region or part.only else ""
        raise AnnotateError(f"there is nothing to show as {shown}{chosen}", _HINTS[shown])
    return told


_NAMES: Mapping[str, Callable[[Part], Container[str]]] = {
    "sequence": Part.called,
    "states": states.columns,
    "graph": Part.graphs,
    "replay": Part.called,
}
_HINTS = {
    "sequence": "What ran there calls nothing",
    "replay": "What ran there calls nothing",
    "states": "The script notes states with annotate.experiment.snapshot",
    "graph": "The script notes graphs with annotate.experiment.graph",
}


def quoted(shown: str, part: Part, literal: str) -> tuple[str, str]:
    """A quote of what is shown, and the recorded text to compare it with.

    Of a table only the cells count, and a quote may leave out columns.

    Raises:
        AnnotateError: nothing can be quoted of it, or nothing of what is quoted is there.
    """
    if shown == "replay":
        raise AnnotateError("nothing can be quoted of a replay", "Leave the fence empty")
    if shown == "states":
        chosen = states.quoted(part, literal)
        return states.canonical(literal), states.canonical(text(shown, chosen))
    return literal, text(shown, part)


def draw(shown: str, part: Part, context: "Context", language: str) -> str:
    """What is shown, as HTML."""
    match shown:
        case "states":
            return states.draw(part, language)
        case "graph":
            return graph.draw(part, language)
    # These need what draws source; a mere check, which must start quickly, does not import that.
    from annotate.claims.pictures import replay, sequence

    if shown == "replay":
        return replay.draw(part, context, language)
    return sequence.draw(part, context, language)
