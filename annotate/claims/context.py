"""What a claim is judged against: trees, records, and the page it stands on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from annotate.claims.links import Links, NoLinks
from annotate.location import Location
from annotate.records import Records
from annotate.upstream.changes import Changes
from annotate.upstream.index import Index

if TYPE_CHECKING:
    # Only drawing needs these; a check, which must start quickly, does not import them.
    from annotate.claims.code_links import CodeLinks
    from annotate.recordings import Recording
    from annotate.upstream.calls.graph import CallGraph


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
        calls: upstream name → the call graph of its tree.
        recordings: the experiments' recordings, by name.
        mentions: symbol id → the claims that pages make about it.
        changes: upstream name, symbol id → how often it changed, where that is known.
        code_links: upstream name → what its code links to.
        links: where the site shows what is drawn.
        exact: whether a stand-in's text is an error.
    """

    root: Path
    page: str
    page_lines: Sequence[str]
    index: Callable[[str], Index]
    records: Records
    recorded_text: Callable[[str, str, str, str], str | None]
    calls: "Callable[[str], CallGraph]"
    recordings: "Callable[[], Mapping[str, Recording]]"
    mentions: Callable[[str], Sequence[Location]]
    changes: Callable[[str, str], Changes | None]
    code_links: "Callable[[str], CodeLinks]"
    links: Links = NoLinks()  # noqa: RUF009 (it has no state)
    exact: bool = False

    def location(self, line: int) -> Location:
        """A line of the page."""
        return Location(self.page, line)
