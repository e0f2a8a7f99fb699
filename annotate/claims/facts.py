"""What is known of one symbol: signature, callers, callees, captures, where it is discussed.

The atlas is made of these blocks; a page may use them as well. The claim is that the symbol is
there with the recorded text, as for an empty quote; all else is generated.
"""

from dataclasses import dataclass, replace

from annotate.claims import quote
from annotate.claims.context import Context
from annotate.claims.found import Found, sentence
from annotate.claims.subject import look_for
from annotate.errors import AnnotateError
from annotate.location import RangeReference, parse_reference
from annotate.pages import Block
from annotate.upstream.index import Index
from annotate.verdict import Judgement, Verdict

KIND = "facts"
ATTRIBUTES = ("symbol", "module", "upstream", "id", "level")
QUOTED = "quoted"
"""The class of a block that shows the source as well."""


@dataclass(frozen=True, slots=True)
class _Judged:
    judgement: Judgement
    index: Index | None = None
    found: Found | None = None


def check(block: Block, context: Context) -> list[Judgement]:
    """The verdict on one block."""
    return [_judge(block, context).judgement]


def render(block: Block, context: Context, language: str) -> str:
    """A list of facts; of a module, the list of its symbols."""
    # Drawing is not imported by a mere check, which must start quickly.
    from annotate.claims import facts_html
    from annotate.claims.captures import closures_of
    from annotate.claims.relations import Direction, experiments_running, lines_run, relations

    judged = _judge(block, context)
    if judged.index is None:
        return facts_html.failed(judged.judgement)
    upstream = judged.index.tree.pin.name
    if "module" in block.attributes:
        path = block.attributes["module"]
        return facts_html.module(judged.index, path, context, language)
    if judged.found is None or judged.found.place is None:
        return facts_html.failed(judged.judgement)
    place = judged.found.place
    above = ""
    if "level" in block.attributes:
        above = facts_html.heading(place, block.attributes)
    if QUOTED in block.classes:
        shown = replace(
            block, classes=("python", quote.SHOWN), attributes={"source": judged.judgement.subject}
        )
        above += quote.render(shown, context, language)
    graph = context.calls(upstream)
    recordings = context.recordings()
    sheet = facts_html.Sheet(
        place=place,
        signature=judged.index.signature(place),
        callers=relations(place.id, Direction.CALLERS, graph, recordings),
        callees=relations(place.id, Direction.CALLEES, graph, recordings),
        unresolved=sorted({call.expression for call in graph.unresolved_in(place.id)}),
        captures=closures_of(judged.index, place, nested=False),
        mentions=context.mentions(place.id),
        experiments=experiments_running(place.id, recordings),
        changes=context.changes(upstream, place.id),
        ran=lines_run(judged.index, place, recordings),
    )
    return above + facts_html.symbol(sheet, upstream, context, language)


def _judge(block: Block, context: Context) -> _Judged:
    location = context.location(block.first_line)
    attributes = block.attributes
    subject = attributes.get("symbol") or attributes.get("module") or "?"
    try:
        if block.problem:
            raise AnnotateError(block.problem)
        for name in attributes:
            if name not in ATTRIBUTES:
                raise AnnotateError(f"facts have no attribute “{name}”", ", ".join(ATTRIBUTES))
        index = context.index(attributes.get("upstream", ""))
        reference = parse_reference(subject)
        if isinstance(reference, RangeReference) == ("symbol" in attributes):
            raise AnnotateError("it names no symbol", 'Write symbol="path/to/file.py::name"')
    except AnnotateError as error:
        verdict = Verdict.UNVERIFIABLE
        message = sentence(error)
        return _Judged(Judgement(KIND, location, subject, verdict, verdict.severity(), message))
    found = look_for(context, index, reference)
    severity = found.verdict.severity(exact=context.exact)
    judgement = Judgement(
        KIND, location, subject, found.verdict, severity, found.message, found.location
    )
    return _Judged(judgement, index, found)
