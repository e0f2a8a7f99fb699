"""Where things stand in a built site, seen from one of its pages."""

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from annotate.atlas import Atlas
from annotate.fences import claim_id
from annotate.location import Location
from annotate.pages import blocks, read_page

_HEADING = re.compile(r"#[ \t]+(?P<title>.+?)(?:[ \t]+#*)?(?:[ \t]*\{[^}]*\})?")


class PageFile:
    """A page as its author wrote it: its title, and the lines on which claims start."""

    def __init__(self, root: Path, name: str) -> None:
        self._text = read_page(root / name, name)
        self._name = name

    @cached_property
    def title(self) -> str:
        """Its first heading, or its path."""
        for line in self._text.split("\n"):
            if match := _HEADING.fullmatch(line):
                return match["title"]
        return self._name

    @cached_property
    def starts(self) -> Sequence[int]:
        """The lines on which blocks start, and 0."""
        return [0, *(block.first_line for block in blocks(self._text))]


class Addresses:
    """Addresses relative to one page, in its language where there is such a page.

    Args:
        page_url: the page that is drawn, relative to the site.
        urls: path of a page's file in the project → its address relative to the site.
        source_urls: path of a generated page's file below the docs folder → likewise.
        atlases: upstream name → its atlas.
        suffix: what file names of this page's language have before ``.md`` (".zh"), or "".
        other_suffixes: those of the site's other languages.
        page_file: path of a page's file in the project → the page.
        downloads: experiment → the paths in the site of what can be downloaded of it.
    """

    def __init__(
        self,
        page_url: str,
        urls: Mapping[str, str],
        source_urls: Mapping[str, str],
        atlases: Mapping[str, Atlas],
        suffix: str,
        other_suffixes: Sequence[str],
        page_file: Callable[[str], PageFile],
        downloads: Mapping[str, Sequence[str]],
    ) -> None:
        self._page_url = page_url
        self._urls = urls
        self._source_urls = source_urls
        self._atlases = atlases
        self._suffix = suffix
        self._other_suffixes = tuple(f"{other}.md" for other in other_suffixes)
        self._page_file = page_file
        self._downloads = downloads

    def symbol(self, upstream: str, symbol: str) -> str | None:
        """Where the atlas shows a symbol, or None."""
        atlas = self._atlases.get(upstream)
        address = atlas.address(symbol) if atlas else None
        if address is None:
            return None
        localised = address.page.removesuffix(".md") + f"{self._suffix}.md"
        url = self._source_urls.get(localised) or self._source_urls.get(address.page)
        if url is None:
            return None
        return self._relative(url) + (f"#{address.anchor}" if address.anchor else "")

    def claim(self, location: Location) -> tuple[str, str] | None:
        """The title of the page of this language that makes a claim, and the claim's address."""
        in_this_language = (
            location.path.endswith(f"{self._suffix}.md")
            if self._suffix
            else not location.path.endswith(self._other_suffixes)
        )
        href = self.location(location) if in_this_language else None
        return (self._page_file(location.path).title, href) if href else None

    def downloads(self, experiment: str) -> Sequence[tuple[str, str]]:
        """The name and the address of each file that the site offers about an experiment."""
        return [
            (path.rpartition("/")[2], self._relative(path))
            for path in self._downloads.get(experiment, ())
        ]

    def location(self, location: Location) -> str | None:
        """Where a line of a page is shown: at the block it belongs to."""
        url = self._urls.get(location.path)
        if url is None:
            return None
        starts = self._page_file(location.path).starts
        start = max(line for line in starts if line <= location.line)
        return self._relative(url) + (f"#{claim_id(start)}" if start else "")

    def _relative(self, url: str) -> str:
        """From this page's address to another, both relative to the site."""
        here = self._page_url.rpartition("/")[0] or "."
        folder, slash, file = url.rpartition("/")
        relative = posixpath.relpath(folder or ".", here)
        if not file:
            return f"{relative}/" if slash or relative != "." else "./"
        return file if relative == "." else f"{relative}/{file}"
