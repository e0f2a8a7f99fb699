"""Call tables: symbols of a page side by side, with their signature and the part they play.

Each line of a ``{.calls}`` fence names one symbol; each is a claim of its own.
"""

from dataclasses import dataclass, replace

from annotate.claims.context import Context
from annotate.claims.found import Found, sentence
from annotate.claims.quote import permalink
from annotate.claims.subject import look_for
from annotate.edit import Edit, Fix
from annotate.errors import AnnotateError
from annotate.location import RangeReference, parse_reference
from annotate.pages import Block
from annotate.upstream.index import Index
from annotate.verdict import Judgement, Verdict

KIND = "calls"
ATTRIBUTES = ("upstream", "id")


@dataclass(frozen=True, slots=True)
class _Judged:
    """A row with the verdict on it and what that rests on; ``text`` is the id as written."""

    judgement: Judgement
    text: str = ""
    index: Index | None = None
    found: Found | None = None


def check(block: Block, context: Context) -> list[Judgement]:
    """One verdict for each symbol the table names."""
    return [
        replace(judged.judgement, fix=_fix(judged, context)) for judged in _judge(block, context)
    ]


def render(block: Block, context: Context, language: str) -> str:
    """A table: symbol, signature, role, verdict."""
    # Drawing is not imported by a mere check, which must start quickly.
    from annotate.claims.call_table_html import Row, render_table
    from annotate.claims.relations import Direction, relations

    rows = []
    for judged in _judge(block, context):
        place = judged.found.place if judged.found else None
        record = judged.found.record if judged.found else None
        upstream = judged.index.tree.pin.name if judged.index else ""
        callers, callees = (
            relations(place.id, direction, context.calls(upstream), context.recordings())
            if place
            else []
            for direction in (Direction.CALLERS, Direction.CALLEES)
        )
        rows.append(
            Row(
                subject=judged.judgement.subject,
                place=place.span if place else "",
                permalink=permalink(judged.index.tree, place) if judged.index and place else None,
                signature=judged.index.signature(place) if judged.index and place else "",
                role=record.role.get(language, "") if record else "",
                verdict=judged.judgement.verdict.value,
                severity=judged.judgement.severity.value,
                message=judged.judgement.message,
                callers=callers,
                callees=callees,
                upstream=upstream,
                href=context.links.symbol(upstream, place.id) if place else None,
            )
        )
    return render_table(rows, context, language)


def _judge(block: Block, context: Context) -> list[_Judged]:
    problem = block.problem
    unknown = [name for name in block.attributes if name not in ATTRIBUTES]
    if unknown:
        problem = problem or f"a call table has no attribute “{unknown[0]}”"
    lines = [
        (block.text_line + offset, line.strip())
        for offset, line in enumerate(block.text.split("\n"))
        if line.strip()
    ]
    if not lines:
        problem = problem or "the table names no symbol; write one id on each line"
    if problem:
        return [_unverifiable(context, block.first_line, "?", problem)]
    return [_judge_row(block, context, number, text) for number, text in lines]


def _judge_row(block: Block, context: Context, number: int, text: str) -> _Judged:
    try:
        reference = parse_reference(text)
        if isinstance(reference, RangeReference):
            raise AnnotateError(f"“{text}” names no symbol", "Write path/to/file.py::symbol.")
        index = context.index(block.attributes.get("upstream", ""))
    except AnnotateError as error:
        return _unverifiable(context, number, text, sentence(error))
    found = look_for(context, index, reference)
    path = index.file_of(reference) or reference.file
    judgement = Judgement(
        kind=KIND,
        location=context.location(number),
        subject=f"{path}::{reference.qualname}",
        verdict=found.verdict,
        severity=found.verdict.severity(exact=context.exact),
        message=found.message,
        found=found.location,
        diff=found.diff,
    )
    return _Judged(judgement, text, index, found)


def _fix(judged: _Judged, context: Context) -> Fix | None:
    """What would make a row true again."""
    found, row = judged.found, judged.judgement
    if found is not None and found.verdict is Verdict.REFORMATTED:
        return Fix(f"annotate accept {row.subject}")
    if found is None or found.renamed is None:
        return None
    number = row.location.line
    line = context.page_lines[number - 1]
    # A row is nothing but its id, after what its container puts before it.
    edit = Edit(context.page, number, number, line.replace(judged.text, found.renamed.id))
    return Fix(f"name {found.renamed.id} instead", (edit,))


def _unverifiable(context: Context, line: int, subject: str, message: str) -> _Judged:
    verdict = Verdict.UNVERIFIABLE
    location = context.location(line)
    return _Judged(Judgement(KIND, location, subject, verdict, verdict.severity(), message))
