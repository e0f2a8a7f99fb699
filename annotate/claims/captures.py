"""Captures: the free variables of a symbol's functions, which live as long as those do.

A ``{.captures symbol="…"}`` fence that lists names, one on each line or between commas, claims
that the functions in the symbol capture these and no others; an empty one shows what they capture.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from annotate.claims.context import Context
from annotate.claims.found import Found, sentence
from annotate.claims.subject import look_for
from annotate.errors import AnnotateError
from annotate.location import RangeReference, parse_reference
from annotate.pages import Block
from annotate.upstream.index import Index, Place
from annotate.upstream.symbols import Symbol
from annotate.upstream.table import ModuleTable
from annotate.verdict import Judgement, Verdict

if TYPE_CHECKING:
    from annotate.upstream.calls import Closure

KIND = "captures"
ATTRIBUTES = ("symbol", "upstream", "id")


@dataclass(frozen=True, slots=True)
class _Judged:
    """A verdict, and the functions it is about."""

    judgement: Judgement
    index: Index | None = None
    found: Found | None = None
    closures: "tuple[Closure, ...]" = ()


def check(block: Block, context: Context) -> list[Judgement]:
    """The verdict on one block."""
    return [_judge(block, context).judgement]


def render(block: Block, context: Context, language: str) -> str:
    """A table: function, variable, where it is bound."""
    # Drawing is not imported by a mere check, which must start quickly.
    from annotate.claims import facts_html

    judged = _judge(block, context)
    if judged.index is None or judged.found is None or judged.found.place is None:
        return facts_html.failed(judged.judgement)
    return facts_html.captures(judged.judgement, judged.closures, language)


def closures_of(index: Index, place: Place, *, nested: bool) -> "tuple[Closure, ...]":
    """The functions and lambdas of a symbol that capture something, in the order of the code.

    Those that are symbols of their own are left out unless ``nested``.
    """
    table = index.module(place.path)
    found = []
    for closure in _all_captures(table.text):
        owner = _innermost(table, closure.first_line)
        if not closure.captures or owner is None:
            continue
        within = place.first_line <= closure.first_line <= place.last_line
        if owner.qualname == place.qualname or (nested and within):
            found.append(closure)
    return tuple(found)


@lru_cache(maxsize=256)
def _all_captures(text: str) -> "tuple[Closure, ...]":
    # A check that meets no such fence does not import what reads scopes.
    from annotate.upstream.calls import captures

    return captures(text)


def _innermost(table: ModuleTable, line: int) -> Symbol | None:
    """The smallest symbol that a line belongs to."""
    around = [
        symbol
        for symbol in table.definitions.values()
        if symbol.first_line <= line <= symbol.last_line
    ]
    return min(around, key=lambda symbol: symbol.last_line - symbol.first_line, default=None)


def _judge(block: Block, context: Context) -> _Judged:
    location = context.location(block.first_line)
    attributes = block.attributes
    subject = attributes.get("symbol", "?")
    try:
        if block.problem:
            raise AnnotateError(block.problem)
        for name in attributes:
            if name not in ATTRIBUTES:
                known = ", ".join(ATTRIBUTES)
                raise AnnotateError(f"captures have no attribute “{name}”", f"Known: {known}")
        reference = parse_reference(subject)
        if isinstance(reference, RangeReference):
            raise AnnotateError("it names no symbol", 'Write symbol="path/to/file.py::name"')
        index = context.index(attributes.get("upstream", ""))
    except AnnotateError as error:
        verdict = Verdict.UNVERIFIABLE
        message = sentence(error)
        return _Judged(Judgement(KIND, location, subject, verdict, verdict.severity(), message))
    found = look_for(context, index, reference)
    verdict, message = found.verdict, found.message
    closures: tuple[Closure, ...] = ()
    if found.place is not None:
        closures = closures_of(index, found.place, nested=True)
        expected = set(re.findall(r"[^\s,、，]+", block.text))
        captured = {capture.name for closure in closures for capture in closure.captures}
        if expected and expected != captured:
            verdict = Verdict.EDITED
            message = f"{subject} captures {_listed(captured)}; the page says {_listed(expected)}"
        elif expected and verdict in (Verdict.EXACT, Verdict.STAND_IN):
            # What is claimed is what is captured, whatever else may differ in the text.
            verdict, message = Verdict.EXACT, f"{subject} captures {_listed(captured)}"
    judgement = Judgement(
        KIND,
        location,
        subject,
        verdict,
        verdict.severity(exact=context.exact),
        message,
        found.location,
        diff=found.diff if verdict is found.verdict else "",
    )
    return _Judged(judgement, index, found, closures)


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"
