"""What became of one definition between two trees."""

from dataclasses import dataclass
from enum import StrEnum

from annotate.location import RangeReference


class Change(StrEnum):
    """Every answer to "where did it go"; the last five give no place.

    ``MOVED`` is within the file: into or out of a class, say. What merely stands on other lines
    of its file under its own name is ``UNCHANGED``; a range of lines, which has no name, is
    ``MOVED`` then.
    """

    UNCHANGED = "unchanged"
    REFORMATTED = "reformatted"
    EDITED = "edited"
    MOVED = "moved"
    MOVED_TO_FILE = "moved-to-file"
    RENAMED = "renamed"
    MOVED_AND_RENAMED = "moved-and-renamed"
    MOVED_AND_CHANGED = "moved-and-changed"
    SPLIT = "split"
    MERGED = "merged"
    DELETED = "deleted"
    AMBIGUOUS = "ambiguous"
    UNVERIFIABLE = "unverifiable"


class TextChange(StrEnum):
    """What became of the text itself, wherever it stands; its own name does not count."""

    SAME = "same"
    REFORMATTED = "reformatted"
    EDITED = "edited"


@dataclass(frozen=True, slots=True, order=True)
class Site:
    """Where something stands in a tree; ``qualname`` is "" for lines of a file."""

    path: str
    qualname: str
    first_line: int
    last_line: int

    @property
    def id(self) -> str:
        """The symbol's id, or the file and its lines."""
        if self.qualname:
            return f"{self.path}::{self.qualname}"
        return str(RangeReference(self.path, self.first_line, self.last_line))


@dataclass(frozen=True, slots=True)
class Move:
    """Where a definition, or a range of lines, went.

    Attributes:
        verdict: what became of it.
        old: where it stood.
        new: where it stands; None where the verdict gives no place.
        text: what became of its text; None without a place.
        confidence: from 0 (a guess) to 1 (the same text under the same name); of a verdict
            without a place, how sure it is that there is none.
        reason: one sentence.
        candidates: the places it may be, best first, where several fit or it was taken apart.
    """

    verdict: Change
    old: Site
    new: Site | None
    text: TextChange | None
    confidence: float
    reason: str
    candidates: tuple[Site, ...] = ()

    @property
    def has_moved(self) -> bool:
        """Whether it stands under another id."""
        return self.new is not None and (self.old.path, self.old.qualname) != (
            self.new.path,
            self.new.qualname,
        )


def verdict_of(old: Site, new: Site, is_renamed: bool, text: TextChange) -> Change:
    """Name a move of a definition that has a place."""
    same_file = old.path == new.path
    if same_file and old.qualname == new.qualname:
        return {
            TextChange.SAME: Change.UNCHANGED,
            TextChange.REFORMATTED: Change.REFORMATTED,
            TextChange.EDITED: Change.EDITED,
        }[text]
    if text is TextChange.EDITED:
        return Change.MOVED_AND_CHANGED
    if is_renamed:
        return Change.RENAMED if same_file else Change.MOVED_AND_RENAMED
    return Change.MOVED if same_file else Change.MOVED_TO_FILE
