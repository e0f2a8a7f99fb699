"""A project: its configuration, the trees it pins, its records and its pages."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from annotate import config, journal, pages, records, tables
from annotate.claims import note
from annotate.claims.context import Context
from annotate.claims.kinds import kind_of
from annotate.claims.links import Links, NoLinks
from annotate.claims.subject import look_for
from annotate.config import Config
from annotate.errors import AnnotateError, Exit
from annotate.location import Location, SymbolReference
from annotate.pages import Block
from annotate.records import Records
from annotate.upstream.changes import Changes, kept
from annotate.upstream.index import Index
from annotate.upstream.sources import Progress, obtain
from annotate.upstream.store import Store
from annotate.upstream.tree import Tree
from annotate.verdict import Judgement, Severity, Verdict

if TYPE_CHECKING:
    # Only drawing needs these; a check, which must start quickly, does not import them.
    from annotate.claims.code_links import CodeLinks
    from annotate.recordings import Recording
    from annotate.upstream.calls.graph import CallGraph

PYTHON_LANGUAGES = frozenset({"python", "python3", "py", "py3", "pycon"})
_NO_LINKS = NoLinks()
_BUILT_FOLDERS = frozenset({"site", "build", "dist", "venv"})
"""Folders of the project's root that hold no page of an author; elsewhere such names may."""
_FOREIGN_FOLDERS = frozenset({"node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class Summary:
    """How many claims there are and how they fared; ``unclaimed`` counts Python fences."""

    claims: int
    ok: int
    notes: int
    warnings: int
    errors: int
    unclaimed: int


@dataclass(frozen=True)
class Report:
    """What checking a project found.

    Attributes:
        judgements: every claim with its verdict, by page and line.
        trees: what the claims were judged against.
        pages: how many pages were read.
        unclaimed: Python code, and cells of call tables, that claim nothing.
        page_claims: how many of the claims stand in pages rather than in records.
        exact: whether a stand-in is not good enough.
    """

    judgements: tuple[Judgement, ...]
    trees: tuple[Tree, ...]
    pages: int
    unclaimed: tuple[Location, ...]
    page_claims: int
    exact: bool = False

    @cached_property
    def summary(self) -> Summary:
        """The counts."""
        counts = Counter(judgement.severity for judgement in self.judgements)
        return Summary(
            claims=len(self.judgements),
            ok=counts[Severity.OK],
            notes=counts[Severity.NOTE],
            warnings=counts[Severity.WARNING],
            errors=counts[Severity.ERROR],
            unclaimed=len(self.unclaimed),
        )

    @property
    def failed(self) -> bool:
        """Whether a verdict fails the run."""
        return self.summary.errors > 0

    @property
    def nothing_judged(self) -> str:
        """Why this run says nothing about the pages, or ""."""
        if self.page_claims == 0:
            return f"no claim found on {self.pages} page{'' if self.pages == 1 else 's'}"
        if self.exact and any(tree.is_stand_in for tree in self.trees):
            return "only the release is at hand, and --exact asks for the pinned commit"
        return ""

    @property
    def exit_code(self) -> Exit:
        """What a run with this report ends with."""
        if self.failed:
            return Exit.FAILED
        return Exit.NOTHING_JUDGED if self.nothing_judged else Exit.CLEAN


class Project:
    """A project whose trees are at hand.

    Its two verbs are `check`, which judges every claim and changes nothing, and `render`, which
    turns one claim of a page into HTML.
    """

    def __init__(self, configuration: Config, indexes: dict[str, Index], store: Store) -> None:
        self.config = configuration
        self.indexes = indexes
        self._store = store

    @staticmethod
    def open(
        start: Path,
        *,
        source: str | None = None,
        exact: bool = False,
        refresh: bool = False,
        say: Callable[[str], None] = lambda _: None,
        progress: Progress | None = None,
    ) -> "Project":
        """Read the configuration found from ``start`` upwards and bring the pinned trees.

        Args:
            start: a folder in the project.
            source: where the bytes come from (`annotate.upstream.sources.obtain`).
            exact: whether a release may not stand in for the commit.
            refresh: whether to try for the commit again although a stand-in is in the store.
            say: gets one line about each source.
            progress: shown while something is fetched.

        Raises:
            AnnotateError: no or bad configuration, or no source at hand.
        """
        configuration = config.load(start)
        if journal.finish(configuration.root):
            say("finished a change of several files that was interrupted")
            configuration = config.load(start)
        store = Store()
        indexes = {}
        for pin in configuration.pins:
            tree = obtain(
                pin,
                source=source,
                exact=exact,
                refresh=refresh,
                store=store,
                say=say,
                progress=progress,
            )
            indexes[pin.name] = Index(tree, store)
        return Project(configuration, indexes, store)

    def index(self, upstream: str = "") -> Index:
        """The index of an upstream; "" means the only one.

        Raises:
            AnnotateError: the name is unknown, or several are pinned and none is named.
        """
        if upstream:
            return self.indexes[self.config.pin(upstream).name]
        if len(self.indexes) > 1:
            raise AnnotateError(
                "several upstreams are pinned and none is named",
                f"Name one of: {', '.join(self.indexes)}.",
            )
        return next(iter(self.indexes.values()))

    @cached_property
    def records(self) -> Records:
        """The project's records."""
        return records.load(self.config.root, self.config.records, self.indexes)

    def pages(self, chosen: Iterable[Path] = ()) -> list[str]:
        """The pages to check, relative to the project, sorted.

        ``chosen`` are files or folders; none means all pages the configuration names.

        Raises:
            AnnotateError: a chosen path does not exist or lies outside the project.
        """
        chosen = list(chosen)
        if not chosen:
            return sorted(set(self._configured_pages()))
        found: set[str] = set()
        for path in chosen:
            if path.is_dir():
                inside = self._relative(path)
                prefix = "" if inside == "." else f"{inside}/"
                found.update(page for page in self._configured_pages() if page.startswith(prefix))
            elif path.is_file():
                found.add(self._relative(path))
            else:
                raise AnnotateError(f"there is no page {path}", "Name a file or a folder of pages.")
        return sorted(found)

    def check(self, chosen: Iterable[Path] = (), *, exact: bool = False) -> Report:
        """Judge every claim; see `pages` for ``chosen``.

        With ``exact``, what only a stand-in could show is an error.

        Raises:
            AnnotateError: a page or a record cannot be read.
        """
        chosen = list(chosen)
        judgements: list[Judgement] = []
        unclaimed: list[Location] = []
        names = self.pages(chosen)
        for page in names:
            text = pages.read_page(self.config.root / page, page)
            context = self._context(page, text.split("\n"), exact=exact)
            blocks = pages.blocks(text)
            rows = tables.rows(text, blocks)
            if rows:
                # Only a page with such a table needs the call graph.
                from annotate.claims import written_table

                checked = written_table.check(rows, context)
                judgements += checked.judgements
                unclaimed += checked.unclaimed
            for block in blocks:
                kind = kind_of(block)
                if kind is not None:
                    judgements += kind.check(block, context)
                elif block.problem:
                    # What follows may be swallowed by it, other claims included.
                    judgements.append(_unreadable(block, context))
                elif name := _misspelt(block):
                    why = f"“{name}” is no attribute of a claim, yet names a symbol"
                    judgements.append(_unreadable(replace(block, problem=why), context))
                elif is_unclaimed(block):
                    unclaimed.append(Location(page, block.first_line))
        page_claims = len(judgements)
        if not chosen:
            told = {(judgement.subject, judgement.verdict) for judgement in judgements}
            judgements += self._check_records(told, exact=exact)
            judgements += self._check_recordings(exact=exact)
        return Report(
            judgements=tuple(sorted(judgements, key=_order)),
            trees=tuple(index.tree for index in self.indexes.values()),
            pages=len(names),
            unclaimed=tuple(unclaimed),
            page_claims=page_claims,
            exact=exact,
        )

    def render(
        self, block: Block, page: str, language: str, links: Links = _NO_LINKS
    ) -> str | None:
        """The HTML of one claim of a page (a path relative to the project).

        Returns None for a block that claims nothing.
        """
        kind = kind_of(block)
        return kind.render(block, self._context(page, links=links), language) if kind else None

    @cache  # noqa: B019 (a project lives as long as the run)
    def calls(self, upstream: str = "") -> "CallGraph":
        """The call graph of an upstream's tree."""
        from annotate.upstream.calls.kept import kept_call_graph

        return kept_call_graph(self.index(upstream))

    @cached_property
    def recordings(self) -> "Mapping[str, Recording]":
        """The recordings that can be read, by the names of their experiments."""
        # Only drawing, and what looks at calls, needs what reads recordings.
        from annotate.recordings import Recording, experiments, recording_path

        found = {}
        for name in experiments(self.config.root):
            with contextlib.suppress(AnnotateError):
                path = self.config.root / recording_path(name)
                found[name] = Recording.load(path)
        return found

    def named_symbols(self) -> list[str]:
        """The ids of the symbols that pages quote or table, aliases resolved, sorted."""
        symbols: set[str] = set()
        for subject in self._mentions:
            path, _, qualname = subject.partition("::")
            for index in self.indexes.values():
                with contextlib.suppress(AnnotateError):
                    places = index.candidates(SymbolReference(path, qualname))
                    symbols.update(place.id for place in places)
        return sorted(symbols)

    def changes(self, upstream: str, symbol: str) -> Changes | None:
        """How often a symbol changed up to the pinned commit, if `annotate log` has found out."""
        tree = self.index(upstream).tree
        return kept(self._store, tree.pin.commit, symbol) if tree.is_pinned_commit else None

    def mentions(self, symbol: str) -> Sequence[Location]:
        """The claims that pages make about a symbol, by page and line."""
        return self._mentions.get(symbol, ())

    @cached_property
    def _mentions(self) -> Mapping[str, Sequence[Location]]:
        found: dict[str, list[Location]] = {}
        for judgement in self.check().judgements:
            symbol = judgement.subject.partition(" lines ")[0]
            path, separator, qualname = symbol.partition("::")
            if judgement.kind in ("quote", "calls") and separator:
                reference = SymbolReference(path, qualname)
                # A name that an import makes means what it leads to.
                symbols = {symbol}
                for index in self.indexes.values():
                    with contextlib.suppress(AnnotateError):
                        symbols.update(place.id for place in index.candidates(reference))
                for each in symbols:
                    found.setdefault(each, []).append(judgement.location)
        return found

    @cache  # noqa: B019 (a project lives as long as the run)
    def _code_links(self, upstream: str) -> "CodeLinks":
        from annotate.claims.code_links import CodeLinks

        return CodeLinks(self.index(upstream))

    def _context(
        self,
        page: str,
        page_lines: Sequence[str] = (),
        *,
        links: Links = _NO_LINKS,
        exact: bool = False,
    ) -> Context:
        return Context(
            root=self.config.root,
            page=page,
            page_lines=page_lines,
            index=self.index,
            records=self.records,
            recorded_text=self._recorded_text,
            calls=self.calls,
            recordings=lambda: self.recordings,
            mentions=self.mentions,
            changes=self.changes,
            code_links=self._code_links,
            links=links,
            exact=exact,
        )

    def _configured_pages(self) -> Iterator[str]:
        for pattern in self.config.pages:
            for path in self.config.root.glob(pattern):
                parts = path.relative_to(self.config.root).parts
                skipped = parts[0] in _BUILT_FOLDERS or any(
                    part.startswith(".") or part in _FOREIGN_FOLDERS for part in parts
                )
                # A link out of the project is not the project's page, and must not be written.
                inside = path.resolve().is_relative_to(self.config.root)
                if inside and path.is_file() and not skipped:
                    yield "/".join(parts)

    def _relative(self, path: Path) -> str:
        try:
            return path.resolve().relative_to(self.config.root).as_posix()
        except ValueError as error:
            raise AnnotateError(
                f"{path} is not inside the project {self.config.root}",
                "Run the command from the project that holds the page.",
            ) from error

    def _check_recordings(self, *, exact: bool) -> "list[Judgement]":
        """Whether the recordings of all experiments still hold."""
        if not any((self.config.root / config.EXPERIMENTS).glob("*.py")):
            return []
        # Only a project with experiments needs what reads recordings.
        from annotate.claims import experiment

        return experiment.check_recordings(self._context("", exact=exact))

    def _check_records(self, told: set[tuple[str, Verdict]], *, exact: bool) -> Iterator[Judgement]:
        """Judge the notes of every record, and the record itself where no page told the same.

        A literal quote does not lean on the record, and may hold where that is stale.
        """
        for upstream, record in self.records:
            index = self.indexes[upstream]
            context = self._context(record.location.path)
            found = look_for(context, index, SymbolReference(record.path, record.qualname))
            if (record.symbol, found.verdict) not in told:
                yield Judgement(
                    kind="record",
                    location=record.location,
                    subject=record.symbol,
                    verdict=found.verdict,
                    severity=found.verdict.severity(exact=exact),
                    message=found.message,
                    found=found.location,
                    diff=found.diff,
                )
            if found.place is not None:
                same_text = found.verdict is Verdict.EXACT
                yield from note.check(record, found.place, index, exact=exact, same_text=same_text)

    def _recorded_text(self, upstream: str, recorded: str, path: str, qualname: str) -> str | None:
        """The text a fingerprint was read from, if that tree is in the store."""
        index = self._recorded_index(upstream, recorded)
        try:
            place = index.find(SymbolReference(path, qualname)) if index else None
        except AnnotateError:
            return None
        return place.text if place else None

    @cache  # noqa: B019 (a project lives as long as the run)
    def _recorded_index(self, upstream: str, recorded: str) -> Index | None:
        pin = self.config.pin(upstream)
        if pin.release is not None and recorded == f"release {pin.release}":
            tree = self._store.release_tree(pin)
        else:
            tree = self._store.tree(replace(pin, commit=recorded))
        return Index(tree, self._store) if tree else None


def is_unclaimed(block: Block) -> bool:
    """Whether a block shows Python code without claiming anything about it."""
    return block.form == "labelled" or block.language in PYTHON_LANGUAGES


def _misspelt(block: Block) -> str | None:
    """The attribute of a fence that looks as if it were meant for a claim, or None."""
    return next((name for name, value in block.attributes.items() if ".py::" in value), None)


def _unreadable(block: Block, context: Context) -> Judgement:
    verdict = Verdict.UNVERIFIABLE
    location = context.location(block.first_line)
    return Judgement("fence", location, "?", verdict, verdict.severity(), block.problem)


def _order(judgement: Judgement) -> tuple[str, int, str, str]:
    return (
        judgement.location.path,
        judgement.location.line,
        judgement.kind,
        judgement.subject,
    )
