"""What looking for a piece of upstream source found: shared by symbols and by lines of files."""

from dataclasses import dataclass

from annotate.claims.compare import Expected, unified_diff
from annotate.errors import AnnotateError
from annotate.location import Location, Reference
from annotate.records import Record
from annotate.upstream.index import Index, Place
from annotate.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Found:
    """What looking for a reference found.

    Attributes:
        verdict: see `annotate.verdict.Verdict`.
        message: one sentence.
        place: what was found, if anything.
        record: the record that applies, if any.
        renamed: where the text stands now, for ``moved``.
        lines: of a symbol, the (first, last) lines that hold the text now.
        diff: unified diff from the expected to the found text, or "".
    """

    verdict: Verdict
    message: str
    place: Place | None = None
    record: Record | None = None
    renamed: Place | None = None
    lines: tuple[int, int] | None = None
    diff: str = ""

    @property
    def location(self) -> Location | None:
        """Where the found text starts in the tree."""
        place = self.renamed or self.place
        return Location(place.path, place.first_line) if place else None


def unverifiable(error: AnnotateError) -> Found:
    """What is found where the bytes, or the reference, cannot be judged."""
    return Found(Verdict.UNVERIFIABLE, sentence(error))


def sentence(error: AnnotateError) -> str:
    """An error as the message of a verdict: what is wrong, and what to do about it."""
    return f"{error.message}. {error.hint}" if error.hint else error.message


def same_text_elsewhere(index: Index, expected: Expected, here: Place | None) -> Found | None:
    """Where in the tree a symbol other than ``here`` has the expected text, if any has."""
    same_text = index.with_text(expected.text_fingerprint)
    places = [place for place in same_text if place != here and not place.doubt]
    if not places:
        return None
    what = "recorded" if expected.literal is None else "quoted"
    if len(places) > 1:
        names = ", ".join(place.id for place in places[:5])
        return Found(Verdict.AMBIGUOUS, f"several symbols have the {what} text: {names}", here)
    moved = places[0]
    message = f"the {what} text is now {moved.id}"
    return Found(Verdict.MOVED, message, here or moved, renamed=moved)


def diff_from(quoted: str, place: Place, index: Index) -> str:
    """The differences from a quote to what the tree has."""
    return unified_diff(quoted, place.text, "quoted", f"{place.id} ({index.tree.identity})")


def did_you_mean(index: Index, reference: Reference) -> str:
    """The end of a sentence that names what looks most like a reference that was not found."""
    nearest = index.nearest(reference)
    return f"; did you mean {' or '.join(nearest)}?" if nearest else ""
