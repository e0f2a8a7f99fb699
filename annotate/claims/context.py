"""What a claim is judged against: trees, records, and the page it stands on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotate.location import Location
from annotate.records import Records
from annotate.upstream.index import Index


@dataclass(frozen=True)
class Context:
    """Everything `check` and `render` of a kind of claim may look at.

    Attributes:
        root: the project's folder.
        page: the page's path, relative to the project.
        page_lines: the page's lines, for fixes.
        index: upstream name → the symbols of its tree; "" means the only one; raises
            `AnnotateError` where that is not clear.
        records: what the project keeps about symbols.
        recorded_text: the text a fingerprint was recorded from, if that tree is at hand: takes
            upstream name, ``recorded``, path and qualified name.
        exact: whether a stand-in's text is an error.
    """

    root: Path
    page: str
    page_lines: Sequence[str]
    index: Callable[[str], Index]
    records: Records
    recorded_text: Callable[[str, str, str, str], str | None]
    exact: bool = False

    def location(self, line: int) -> Location:
        """A line of the page."""
        return Location(self.page, line)
