"""Experiments: a piece of a script, or what a recording says the script printed and did.

Nothing is run here: a recording is judged by the script it was made of and by the upstream code
that ran (`annotate.recordings.check`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from annotate import recordings
from annotate.claims import pictures
from annotate.claims.compare import Expected, compare, unified_diff
from annotate.claims.context import Context
from annotate.claims.pictures.part import Part
from annotate.claims.script_quote import look_in_script
from annotate.edit import Fix
from annotate.errors import AnnotateError
from annotate.location import Location
from annotate.pages import Block
from annotate.recordings import Recording, Region
from annotate.verdict import Judgement, Verdict

KIND = "experiment"
SCRIPT_ATTRIBUTES = ("experiment", "region", "title", "hl_lines", "linenums", "id")
RESULT_ATTRIBUTES = ("run", "show", "region", "depth", "only", "title", "id")
SHOWN = ("output", *pictures.SHOWN)


@dataclass(frozen=True, slots=True)
class _Judged:
    """A verdict and what it is about: the text to show, and where that starts in the script."""

    judgement: Judgement
    text: str = ""
    first_line: int | None = None
    confirmed: str = ""
    recording: Recording | None = None
    part: Part | None = None


def check(block: Block, context: Context) -> list[Judgement]:
    """The verdict on one block."""
    return [_judge(block, context).judgement]


def check_recordings(context: Context) -> list[Judgement]:
    """One verdict for each experiment of the project: whether its recording still holds."""
    judgements = []
    for name in recordings.experiments(context.root):
        location = Location(recordings.script_path(name), 1)
        judgements.append(_judge_recording(name, location, context).judgement)
    return judgements


def render(block: Block, context: Context, language: str) -> str:
    """A card with the code, or with what running it did and the command that runs it."""
    # Drawing is not imported by a mere check, which must start quickly.
    from annotate.claims.card import Card, render_card
    from annotate.claims.run import run_place

    judged = _judge(block, context)
    judgement = judged.judgement
    footer: list[tuple[str, str | None]] = []
    if judged.confirmed and judged.part is None:
        footer.append((f"`python -B {recordings.script_path(_name(block))}`", None))
        footer += context.links.downloads(_name(block))
    card = render_card(
        Card(
            subject=judgement.subject,
            code=judged.text or block.text,
            body=pictures.draw(_shown(block), judged.part, context, language)
            if judged.part
            else "",
            first_line=judged.first_line,
            place="",
            permalink=None,
            verdict=judgement.verdict.value,
            severity=judgement.severity.value,
            message=judgement.message,
            read=judged.confirmed,
            notes=(),
            footer=footer,
            language=language,
            title=block.attributes.get("title", ""),
            anchor=block.attributes.get("id", ""),
            linenums=block.attributes.get("linenums", "1") not in ("0", "false"),
        )
    )
    return f"{card}\n{run_place(_name(block), language)}" if footer else card


def _judge(block: Block, context: Context) -> _Judged:
    location = context.location(block.first_line)
    if block.form == "labelled":
        return _judge_by_hand(block, location, context)
    name = _name(block)
    try:
        _refuse_bad_header(block)
        script = recordings.script_path(name)
    except AnnotateError as error:
        return _failed(Verdict.UNVERIFIABLE, name or "?", location, _sentence(error))
    literal = block.text if block.text.strip() else None
    if "experiment" in block.attributes:
        return _judge_code(block, script, literal, location, context)
    judged = _judge_recording(name, location, context, _shown(block))
    if judged.judgement.verdict is not Verdict.EXACT:
        return judged
    if _shown(block) in pictures.SHOWN:
        return _judge_picture(block, judged, literal, context)
    return judged if literal is None else _judge_literal(judged, literal, "recorded")


def _judge_by_hand(block: Block, location: Location, context: Context) -> _Judged:
    """Whether the script that a hand-written claim names has its code."""
    written = block.attributes.get("file", "")
    if block.problem or not written:
        problem = block.problem or "the header has no File: line"
        return _failed(Verdict.UNVERIFIABLE, written or "?", location, problem)
    try:
        found = look_in_script(context.root, written, block.text)
    except AnnotateError as error:
        return _failed(Verdict.UNVERIFIABLE, written, location, _sentence(error))
    judgement = Judgement(
        KIND,
        location,
        found.script,
        found.verdict,
        found.verdict.severity(),
        found.message,
        found=Location(found.script, found.first_line) if found.first_line else None,
        diff=found.diff,
    )
    return _Judged(judgement, found.text, found.first_line)


def _judge_picture(block: Block, judged: _Judged, literal: str | None, context: Context) -> _Judged:
    """Whether the recording has what is to be shown, and says what is quoted of it."""
    old, recording = judged.judgement, judged.recording
    assert recording is not None
    shown = _shown(block)
    try:
        part = pictures.choose(recording, _read(recording.script, context), block.attributes)
        text = pictures.text(shown, part)
        if literal is not None:
            literal, text = pictures.quoted(shown, part, literal)
    except AnnotateError as error:
        return _failed(Verdict.MISSING, old.subject, old.location, _sentence(error))
    drawn = replace(judged, text=text, part=part)
    if literal is None:
        return drawn
    compared = _judge_literal(drawn, literal, "recorded")
    # What is not as it is quoted is shown as it is quoted.
    return compared if compared.judgement.verdict is Verdict.EXACT else replace(compared, part=None)


def _judge_code(
    block: Block, script: str, literal: str | None, location: Location, context: Context
) -> _Judged:
    """Whether the script has that region, with the quoted text if any is quoted."""
    name = block.attributes.get("region", "")
    subject = f"{script}#{name}" if name else script
    try:
        region = _region(script, name, context)
    except AnnotateError as error:
        return _failed(Verdict.MISSING, subject, location, _sentence(error))
    verdict = Verdict.EXACT
    judged = _Judged(
        Judgement(
            KIND,
            location,
            subject,
            verdict,
            verdict.severity(),
            "the script has this code",
            found=Location(script, region.first_line),
        ),
        region.text,
        region.first_line,
    )
    return judged if literal is None else _judge_literal(judged, literal, script)


def _judge_recording(
    name: str, location: Location, context: Context, shown: str = "output"
) -> _Judged:
    """Whether an experiment's recording still holds, and what the script printed."""
    script = recordings.script_path(name)
    kept = recordings.recording_path(name)
    subject = f"{script} {shown}"
    try:
        source = _read(script, context)
        if not (context.root / kept).is_file():
            raise AnnotateError(f"there is no recording {kept}", f"`annotate run {name}` makes it")
    except AnnotateError as error:
        return _failed(Verdict.MISSING, subject, location, _sentence(error))
    try:
        recording = Recording.load(context.root / kept)
        index = context.index(recording.confirmed[0].tree.get("upstream", ""))
        reasons = recordings.check(recording, source, index)
    except AnnotateError as error:
        return _failed(Verdict.UNVERIFIABLE, subject, location, _sentence(error))
    output = "\n".join((*recording.stdout, *recording.stderr))
    confirmed = ", ".join(map(str, recording.confirmed))
    if reasons:
        message = "; ".join(reason.message for reason in reasons[:3])
        if len(reasons) > 3:
            message += f"; and {len(reasons) - 3} more"
        fix = Fix(f"read what it prints now: annotate run {name}")
        verdict = Verdict.EDITED
        judgement = Judgement(
            KIND, location, subject, verdict, verdict.severity(), message, fix=fix
        )
    else:
        verdict = Verdict.EXACT
        message = f"script and upstream code are those of the recording, made on {confirmed}"
        judgement = Judgement(KIND, location, subject, verdict, verdict.severity(), message)
    return _Judged(judgement, output, None, confirmed, recording)


def _judge_literal(judged: _Judged, literal: str, what: str) -> _Judged:
    """Whether a quoted text is the one that was found."""
    expected = Expected.of_text(literal)
    found = Expected.of_text(judged.text).literal or ""
    python = judged.first_line is not None
    verdict = compare(expected, found, python=python)
    if verdict is Verdict.EXACT:
        return judged
    old = judged.judgement
    message = f"the quote is not the text {'of ' if python else ''}{what}"
    if verdict is Verdict.REFORMATTED:
        message = "only layout or comments differ"
    diff = unified_diff(expected.literal or "", found, "quoted", what)
    judgement = Judgement(
        KIND,
        old.location,
        old.subject,
        verdict,
        verdict.severity(),
        message,
        found=old.found,
        diff=diff,
    )
    return replace(judged, judgement=judgement)


def _refuse_bad_header(block: Block) -> None:
    if block.problem:
        raise AnnotateError(block.problem)
    attributes: Mapping[str, str] = block.attributes
    known = SCRIPT_ATTRIBUTES if "experiment" in attributes else RESULT_ATTRIBUTES
    for name in attributes:
        if name not in known:
            raise AnnotateError(
                f"an experiment has no attribute “{name}”", f"Known: {', '.join(known)}"
            )
    if known is RESULT_ATTRIBUTES:
        if "run" not in attributes:
            raise AnnotateError("it does not say which experiment", 'Add run="NAME"')
        shown = _shown(block)
        if shown not in SHOWN:
            raise AnnotateError(f"“{shown}” cannot be shown", f"Known: {', '.join(SHOWN)}")
        for name in ("region", "depth", "only"):
            if shown == "output" and name in attributes:
                raise AnnotateError(f"the output has no {name}", "It is shown as a whole")


def _shown(block: Block) -> str:
    return block.attributes.get("show", "output")


def _name(block: Block) -> str:
    return block.attributes.get("experiment") or block.attributes.get("run", "")


def _read(script: str, context: Context) -> bytes:
    try:
        return (context.root / script).read_bytes()
    except OSError as error:
        names = ", ".join(recordings.experiments(context.root))
        raise AnnotateError(
            f"there is no script {script}", f"Experiments: {names}" if names else ""
        ) from error


def _region(script: str, name: str, context: Context) -> Region:
    """A named region of a script, or all of it."""
    try:
        text = _read(script, context).decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise AnnotateError(f"{script} is not UTF-8 (byte {error.start})") from error
    if not name:
        text = text.strip("\n")
        return Region("", 1, text.count("\n") + 1, text)
    regions = recordings.regions(text)
    if name not in regions:
        names = ", ".join(regions)
        raise AnnotateError(f"{script} has no region “{name}”", f"It has: {names}" if names else "")
    return regions[name]


def _failed(verdict: Verdict, subject: str, location: Location, message: str) -> _Judged:
    return _Judged(Judgement(KIND, location, subject, verdict, verdict.severity(), message))


def _sentence(error: AnnotateError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message
