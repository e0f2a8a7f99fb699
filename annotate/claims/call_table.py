"""Call tables: symbols of a page side by side, with their signature and the part they play.

Each line of a ``{.calls}`` fence names one symbol; each is a claim of its own.
"""

from dataclasses import dataclass

from annotate.claims.card import Row, render_table
from annotate.claims.context import Context
from annotate.claims.quote import permalink
from annotate.claims.subject import Found, look_for
from annotate.errors import AnnotateError
from annotate.location import RangeReference, parse_reference
from annotate.pages import Block
from annotate.upstream.index import Index
from annotate.verdict import Judgement, Verdict

KIND = "calls"
ATTRIBUTES = ("upstream", "id")


@dataclass(frozen=True, slots=True)
class _Judged:
    judgement: Judgement
    index: Index | None = None
    found: Found | None = None


def matches(block: Block) -> bool:
    """Whether a block is a call table."""
    return block.language == "calls"


def check(block: Block, context: Context) -> list[Judgement]:
    """One verdict for each symbol the table names."""
    return [judged.judgement for judged in _judge(block, context)]


def render(block: Block, context: Context, language: str) -> str:
    """A table: symbol, signature, role, verdict."""
    rows = []
    for judged in _judge(block, context):
        place = judged.found.place if judged.found else None
        record = judged.found.record if judged.found else None
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
            )
        )
    return render_table(rows, language)


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
            raise AnnotateError(f"“{text}” names no symbol")
        index = context.index(block.attributes.get("upstream", ""))
    except AnnotateError as error:
        return _unverifiable(context, number, text, error.message)
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
    return _Judged(judgement, index, found)


def _unverifiable(context: Context, line: int, subject: str, message: str) -> _Judged:
    verdict = Verdict.UNVERIFIABLE
    location = context.location(line)
    return _Judged(Judgement(KIND, location, subject, verdict, verdict.severity(), message))
