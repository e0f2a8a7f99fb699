"""Notes on lines: each is tied to a piece of the code, which must stand on exactly one line."""

from annotate.records import Record
from annotate.upstream.index import Index, Place
from annotate.verdict import Judgement, Verdict

KIND = "note"


def check(
    record: Record, place: Place, index: Index, *, exact: bool, same_text: bool
) -> list[Judgement]:
    """One verdict for each note of a record.

    Args:
        record: the record.
        place: the symbol it is about.
        index: the tree's symbols.
        exact: whether a stand-in's text is an error.
        same_text: whether the tree has the recorded text.
    """
    judgements = []
    for note in record.notes:
        count = sum(note.at in line for line in place.text.split("\n"))
        if count == 1:
            verdict = Verdict.EXACT
            message = "the code it is about stands on one line"
        elif index.tree.is_stand_in and not same_text:
            verdict = Verdict.STAND_IN
            message = f"{index.tree.identity} has another text, without “{note.at}” on one line"
        elif count == 0:
            verdict = Verdict.MISSING
            message = f"no line of {place.id} contains “{note.at}”"
        else:
            verdict = Verdict.AMBIGUOUS
            message = f"{count} lines of {place.id} contain “{note.at}”; choose a longer piece"
        judgements.append(
            Judgement(
                kind=KIND,
                location=note.location,
                subject=f"{record.symbol} at “{note.at}”",
                verdict=verdict,
                severity=verdict.severity(exact=exact),
                message=message,
            )
        )
    return judgements
