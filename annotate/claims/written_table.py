"""Call tables written by hand: each row's symbol must exist, and each call it names must be one.

A cell under "called by" or "calls" is taken at its word as far as it names symbols: pieces between
commas that resolve to one, or are written as code. The rest is prose, left alone and counted.
"""

import re
from dataclasses import dataclass

from annotate.claims.context import Context
from annotate.claims.relations import Direction, Relation, relations
from annotate.claims.subject import look_for
from annotate.errors import AnnotateError
from annotate.location import Location, SymbolReference, parse_reference
from annotate.tables import Row
from annotate.upstream.index import Index
from annotate.upstream.table import Place
from annotate.verdict import Judgement, Verdict

KIND = "calls"


_HEADINGS = {
    Direction.CALLERS: ("called by", "callers", "caller", "谁调用", "调用者", "被谁调用"),
    Direction.CALLEES: ("calls", "callees", "callee", "它调用谁", "调用谁", "被调用者"),
}
_SEPARATORS = re.compile(r"[,;、，；]|\s/\s|<br\s*/?>")
_NAME = re.compile(r"(?:[\w./-]+::)?[A-Za-z_][\w.#]*(?:\(\))?")


@dataclass(frozen=True, slots=True)
class Checked:
    """What a table's rows claim, judged, and the cells that claim nothing."""

    judgements: list[Judgement]
    unclaimed: list[Location]


def check(rows: list[Row], context: Context) -> Checked:
    """Judge the rows of a page: a verdict on each symbol, and one on each call named."""
    checked = Checked([], [])
    for row in rows:
        _check_row(row, context, checked)
    return checked


def _check_row(row: Row, context: Context, checked: Checked) -> None:
    location = context.location(row.line)
    subject = f"{row.file}::{row.symbol}"
    try:
        index = context.index("")
        reference = _reference(index, row)
    except AnnotateError as error:
        checked.judgements.append(
            _judgement(context, location, subject, Verdict.AMBIGUOUS, error.message)
        )
        return
    found = look_for(context, index, reference)
    checked.judgements.append(
        _judgement(context, location, str(reference), found.verdict, found.message, found.location)
    )
    for heading, cell in zip(row.headings, row.cells, strict=False):
        direction = _direction(heading)
        if direction is None:
            continue
        for written in filter(None, (piece.strip() for piece in _SEPARATORS.split(cell))):
            piece = written.strip("`")
            named = _named(index, reference, piece) if _NAME.fullmatch(piece) else []
            if found.place is not None and not named and _is_code(written):
                claim = f"{reference} {direction.value} {piece}"
                message = f"{index.tree.identity} has no symbol {piece}"
                checked.judgements.append(
                    _judgement(context, location, claim, Verdict.MISSING, message)
                )
                continue
            if found.place is None or not named:
                checked.unclaimed.append(location)
                continue
            others = relations(found.place.id, direction, context.calls(""), context.recordings())
            verdict, message = _judge_call(reference, found.place, named, others, direction)
            claim = f"{reference} {direction.value} {piece}"
            checked.judgements.append(_judgement(context, location, claim, verdict, message))


def _judge_call(
    reference: SymbolReference,
    place: Place,
    named: list[Place],
    others: list[Relation],
    direction: Direction,
) -> tuple[Verdict, str]:
    """Whether one of the symbols a cell's name can mean is at the other end of a call."""
    by_symbol = {relation.symbol: relation for relation in others}
    for other in named:
        if other.id in by_symbol:
            return Verdict.EXACT, f"the call is there ({_evidence(by_symbol[other.id])})"
    if any(other.id == place.id for other in named):
        message = f"{reference} is {place.id} itself, by import: that is no call"
        return Verdict.EDITED, message
    there = ", ".join(sorted(by_symbol)[:6]) or "nothing that can be seen"
    what = "" if str(reference) == place.id else f" ({place.id})"
    return Verdict.EDITED, f"no such call; {reference}{what} {direction.value} {there}"


def _is_code(piece: str) -> bool:
    """Whether a piece is written as a name in the code, so that it cannot be meant as a word."""
    name = piece.strip("`")
    is_name = _NAME.fullmatch(name) is not None
    return is_name and (piece != name or "::" in name or name.endswith("()"))


def _evidence(relation: Relation) -> str:
    parts = [", ".join(relation.evidence), relation.why]
    if relation.place is not None:
        parts.append(str(relation.place))
    parts += relation.experiments
    return ": ".join([parts[0], ", ".join(filter(None, parts[1:]))])


def _direction(heading: str) -> Direction | None:
    name = heading.strip(" `*").lower()
    for direction, headings in _HEADINGS.items():
        if name in headings:
            return direction
    return None


def _reference(index: Index, row: Row) -> SymbolReference:
    """A row's symbol; its file may lack leading folders where only one file fits.

    Raises:
        AnnotateError: several files fit, or the cell names no place in the tree.
    """
    reference = parse_reference(f"{row.file}::{row.symbol}")
    assert isinstance(reference, SymbolReference)
    if index.file_of(reference) is not None:
        return reference
    endings = tuple(f"/{path}" for path in reference.paths())
    fitting = [path for path in index.python_paths() if path.endswith(endings)]
    defining = [path for path in fitting if index.find(SymbolReference(path, row.symbol))]
    if len(defining or fitting) > 1:
        names = ", ".join((defining or fitting)[:5])
        raise AnnotateError(f"several files fit {row.file}: {names}")
    return SymbolReference((defining or fitting or [row.file])[0], row.symbol)


def _named(index: Index, row: SymbolReference, piece: str) -> list[Place]:
    """The symbols a name in a cell can mean, nearest first; empty for a word that is no symbol."""
    piece = piece.removesuffix("()")
    if "::" in piece:
        reference = parse_reference(piece)
        place = index.find(reference) if isinstance(reference, SymbolReference) else None
        return [place] if place else []
    path = index.file_of(row)
    here = index.find(SymbolReference(path, piece)) if path else None
    if here is not None:
        return [here]
    module, _, name = piece.rpartition(".")
    if module:
        endings = tuple(f"/{ending}" for ending in SymbolReference(module, name).paths())
        for candidate in index.python_paths():
            if f"/{candidate}".endswith(endings):
                place = index.find(SymbolReference(candidate, name))
                if place is not None:
                    return [place]
    return [
        place
        for place in index.everything()
        if place.qualname == piece or place.qualname.endswith(f".{piece}")
    ]


def _judgement(
    context: Context,
    location: Location,
    subject: str,
    verdict: Verdict,
    message: str,
    found: Location | None = None,
) -> Judgement:
    severity = verdict.severity(exact=context.exact)
    return Judgement(KIND, location, subject, verdict, severity, message, found)
