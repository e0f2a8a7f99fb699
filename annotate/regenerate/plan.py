"""What carrying a project to another version of its upstream would change, and what it would not.

Written is only what is safe: the pin, the fingerprints of symbols whose text is the same wherever
it stands now, the names of what moved, line ranges found again, and literal quotes of which only
layout changed. Everything else stays, and fails the check until somebody has read it
(``annotate accept``).
"""

import difflib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from annotate import config, edit, pages, records
from annotate.claims import quote as quotes
from annotate.claims.captures import closures_of
from annotate.claims.compare import shown_lines
from annotate.claims.kinds import name_of
from annotate.claims.quote_edits import put_text, rename, set_lines
from annotate.edit import Edit
from annotate.errors import AnnotateError
from annotate.location import Location, RangeReference, SymbolReference, parse_reference
from annotate.pages import Block
from annotate.pin import Pin
from annotate.project import Project, Report
from annotate.record_edits import Change as RecordChange
from annotate.record_edits import rewrite
from annotate.regenerate.pins import with_pin
from annotate.upstream import syntax
from annotate.upstream.index import Index, Place
from annotate.upstream.moves import Facts, Move, Moves, Ranges, TextChange, carry
from annotate.upstream.moves.move import Change
from annotate.upstream.store import Store
from annotate.upstream.tree import Tree

MIN_CONFIDENCE = 0.8
"""A move that is less sure is reported and not written: a wrong place is worse than none."""


@dataclass(frozen=True, slots=True)
class Carried:
    """One claim or record, and what became of what it is about.

    Attributes:
        kind: ``quote``, ``calls``, ``captures``, ``record``, ``note``, …
        location: where it stands in the project.
        subject: what it names.
        change: what became of that (`annotate.upstream.moves.Change`).
        now: what it names afterwards, or None where there is no place.
        confidence: of the move, 0 to 1.
        reason: one sentence.
        written: whether something is rewritten for it.
    """

    kind: str
    location: Location
    subject: str
    change: Change
    now: str | None
    confidence: float
    reason: str
    written: bool = False

    @property
    def needs_reading(self) -> bool:
        """Whether a person has to look: the code is not what the prose was written about."""
        return self.change not in (
            Change.UNCHANGED,
            Change.REFORMATTED,
            Change.MOVED,
            Change.MOVED_TO_FILE,
            Change.RENAMED,
            Change.MOVED_AND_RENAMED,
        )


@dataclass(frozen=True)
class Plan:
    """Everything that regenerating would do.

    Attributes:
        old: what is pinned.
        new: what would be.
        carried: each claim and record, by place.
        files: path in the project → its bytes before and after; None for no such file.
        report: the check of the project after the change.
        edges: upstream calls of the tabled symbols that appeared (+) or vanished (-).
        captures: symbol → the variables its functions captured before, and capture now.
        reading: for each claim to be read again, the paragraphs beside it: (location, text).
    """

    old: Tree
    new: Tree
    carried: tuple[Carried, ...]
    files: Mapping[str, tuple[bytes | None, bytes | None]]
    report: Report
    edges: tuple[str, ...]
    captures: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
    reading: tuple[tuple[Location, str], ...]

    @property
    def changes(self) -> dict[str, bytes | None]:
        """What to write."""
        return {path: new for path, (_, new) in self.files.items()}

    def patch(self) -> str:
        """The change as a unified diff, as ``git apply`` takes it."""
        parts: list[str] = []
        for path, (old, new) in sorted(self.files.items()):
            before = _lines(old)
            after = _lines(new)
            old_name = f"a/{path}" if old is not None else "/dev/null"
            new_name = f"b/{path}" if new is not None else "/dev/null"
            parts += difflib.unified_diff(before, after, old_name, new_name)
        return "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in parts
        )


def make_plan(project: Project, pin: Pin, tree: Tree, store: Store) -> Plan:
    """Find out what carrying a project to another version would change; nothing is written.

    Args:
        project: the project, opened at what it pins.
        pin: what it would pin; its name is the upstream's.
        tree: the files of that version.
        store: where what is derived from files is kept.

    Raises:
        AnnotateError: a page or a record cannot be read.
    """
    return _Planner(project, pin, tree, store).plan()


class _Planner:
    def __init__(self, project: Project, pin: Pin, tree: Tree, store: Store) -> None:
        self._project = project
        self._pin = pin
        self._store = store
        self._old = project.index(pin.name)
        self._new = Index(tree, store)
        self._moves = Moves(self._old.tree, tree, Facts(store))
        self._ranges = Ranges(self._moves)
        self._root = project.config.root
        self._symbols: dict[str, str | None] = {}

    def plan(self) -> Plan:
        files: dict[str, tuple[bytes | None, bytes | None]] = {}
        carried: list[Carried] = []
        reading: list[tuple[Location, str]] = []
        for page in self._project.pages():
            found, edits, text = self._page(page)
            carried += found
            reading += _beside(page, text, [each for each in found if each.needs_reading])
            if edits:
                data = (self._root / page).read_bytes()
                files[page] = (data, edit.apply(data, edits))
        found_records, record_files = self._records()
        carried += found_records
        files |= record_files
        name = self._project.config.file.relative_to(self._root).as_posix()
        old_configuration = self._project.config.file.read_bytes()
        new_configuration = with_pin(old_configuration, self._old.tree.pin, self._pin)
        if new_configuration != old_configuration:
            files[name] = (old_configuration, new_configuration)
        files = {path: pair for path, pair in files.items() if pair[0] != pair[1]}
        return Plan(
            old=self._old.tree,
            new=self._new.tree,
            carried=tuple(sorted(carried, key=lambda each: (each.location, each.subject))),
            files=files,
            report=self._check_after(files),
            edges=tuple(self._edges()),
            captures=self._captures(),
            reading=tuple(reading),
        )

    # Pages

    def _page(self, page: str) -> tuple[list[Carried], list[Edit], str]:
        text = pages.read_page(self._root / page, page)
        lines = text.split("\n")
        carried: list[Carried] = []
        edits: list[Edit] = []
        for block in pages.blocks(text):
            for found, block_edits in self._block(page, lines, block):
                carried.append(replace(found, written=bool(block_edits)))
                edits += block_edits
        return carried, edits, text

    def _block(
        self, page: str, lines: list[str], block: Block
    ) -> Iterator[tuple[Carried, list[Edit]]]:
        location = Location(page, block.first_line)
        if name_of(block) == "quote":
            try:
                quote = quotes.read(block)
            except AnnotateError as error:
                subject = block.attributes.get("source", "?")
                yield _lost("quote", location, subject, error.message), []
                return
            if self._is_ours(quote.upstream):
                yield self._quote(page, lines, block, quote)
        elif block.language == "calls" and self._is_ours(block.attributes.get("upstream", "")):
            for offset, line in enumerate(block.text.split("\n")):
                if line.strip():
                    yield self._row(Location(page, block.text_line + offset), lines, line.strip())
        elif block.language in ("captures", "facts") and "symbol" in block.attributes:
            yield self._attribute(location, lines, block)

    def _is_ours(self, upstream: str) -> bool:
        return upstream == self._pin.name or (not upstream and len(self._project.indexes) == 1)

    def _quote(
        self, page: str, lines: list[str], block: Block, quote: quotes.Quote
    ) -> tuple[Carried, list[Edit]]:
        location = Location(page, block.first_line)
        if isinstance(quote.reference, RangeReference):
            return self._range(location, lines, block, quote.reference)
        carried, move = self._symbol("quote", location, quote.reference)
        if move is None or move.new is None:
            return carried, []
        edits: list[Edit] = []
        new_place = self._place(move)
        old_place = self._old.find(quote.reference)
        if new_place is None or old_place is None:
            return carried, []
        chosen = quote.lines
        if quote.lines is not None:
            chosen = self._carried_lines(old_place, new_place, quote.lines)
            if chosen is None:
                return replace(carried, change=Change.EDITED, now=None), []
        if not _is_safe(move):
            if move.confidence >= MIN_CONFIDENCE and chosen not in (None, quote.lines):
                # The symbol changed, but not in the quoted lines.
                edits.append(set_lines(block, page, lines, shown_lines(chosen)))
            return carried, edits
        if carried.now is not None and carried.now != str(quote.reference):
            edits += rename(block, page, lines, carried.now)
            lines = edited(lines, edits)
        if chosen is not None and chosen != quote.lines:
            edits = [*edits[:-1], set_lines(block, page, lines, shown_lines(chosen))]
        if quote.literal is not None:
            part = new_place.text if chosen is None else part_of(new_place.text, chosen)
            if syntax.canonical(quote.literal) != part and self._was_right(old_place, quote):
                edits.append(put_text(block, page, lines, part))
        return carried, edits

    def _was_right(self, old: Place, quote: quotes.Quote) -> bool:
        """Whether a literal quote had the old text, so that it may have the new one."""
        literal = syntax.canonical(quote.literal or "")
        old_part = old.text if quote.lines is None else part_of(old.text, quote.lines)
        return syntax.token_fingerprint(literal) == syntax.token_fingerprint(old_part)

    def _range(
        self, location: Location, lines: list[str], block: Block, reference: RangeReference
    ) -> tuple[Carried, list[Edit]]:
        try:
            place = self._old.lines(reference)
            move = (
                self._ranges.of(reference.file, place.first_line, place.last_line)
                if place
                else None
            )
        except AnnotateError as error:
            return _lost("quote", location, str(reference), error.message), []
        if move is None:
            return _lost("quote", location, str(reference), "It was not there before."), []
        now = move.new.id if move.new else None
        if reference.last is None and move.new and move.new.path == reference.file:
            now = str(reference)
        carried = _carried("quote", location, str(reference), move, now)
        safe = move.confidence >= MIN_CONFIDENCE and move.text is TextChange.SAME
        if now is None or now == str(reference) or not safe:
            return carried, []
        return carried, list(rename(block, location.path, lines, now))

    def _row(self, location: Location, lines: list[str], text: str) -> tuple[Carried, list[Edit]]:
        reference = _symbol_reference(text)
        if reference is None:
            return _lost("calls", location, text, "It names no symbol."), []
        carried, move = self._symbol("calls", location, reference)
        if not _is_safe(move) or carried.now is None or carried.now == text:
            return carried, []
        line = lines[location.line - 1]
        new = line.replace(text, carried.now, 1)
        return carried, [Edit(location.path, location.line, location.line, new)]

    def _attribute(
        self, location: Location, lines: list[str], block: Block
    ) -> tuple[Carried, list[Edit]]:
        text = block.attributes["symbol"]
        reference = _symbol_reference(text)
        if reference is None:
            return _lost(block.language, location, text, "It names no symbol."), []
        carried, move = self._symbol(block.language, location, reference)
        if not _is_safe(move) or carried.now is None or carried.now == text:
            return carried, []
        line = lines[location.line - 1]
        new = line.replace(text, carried.now, 1)
        return carried, [Edit(location.path, location.line, location.line, new)]

    def _symbol(
        self, kind: str, location: Location, reference: SymbolReference
    ) -> tuple[Carried, Move | None]:
        """What became of a symbol, and what to call it now."""
        try:
            place = self._old.find(reference)
            if place is None:
                return _lost(kind, location, str(reference), "It was not there before."), None
            move = self._moves.of(place.path, place.qualname)
        except AnnotateError as error:
            return _lost(kind, location, str(reference), error.message), None
        now = move.new.id if move.new else None
        self._symbols[place.id] = now
        if move.new is not None and self._still_means(reference, move.new.id):
            # The name the author chose, an alias perhaps, leads to the same symbol.
            now = str(reference)
        return _carried(kind, location, str(reference), move, now), move

    def _still_means(self, reference: SymbolReference, symbol: str) -> bool:
        try:
            place = self._new.find(reference)
        except AnnotateError:
            return False
        return place is not None and place.id == symbol

    def _place(self, move: Move) -> Place | None:
        if move.new is None:
            return None
        table = self._new.module(move.new.path)
        symbol = table.symbols.get(move.new.qualname)
        return table.place(symbol) if symbol else None

    def _carried_lines(
        self, old: Place, new: Place, lines: tuple[int, int]
    ) -> tuple[int, int] | None:
        """Where some lines of a symbol are in what it became; None unless all are as they were."""
        before, after = old.text.split("\n"), new.text.split("\n")
        if lines[1] > len(before):
            return None
        found = carry(before, after, *lines)
        if found is None or found.text is not TextChange.SAME or not found.edges:
            return None
        return found.first, found.last

    # Records

    def _records(
        self,
    ) -> tuple[list[Carried], dict[str, tuple[bytes | None, bytes | None]]]:
        carried: list[Carried] = []
        changes: dict[tuple[str, str], RecordChange] = {}
        files: dict[str, tuple[str, str]] = {}
        raw: dict[str, bytes] = {}
        for upstream, record in self._project.records:
            if upstream != self._pin.name:
                continue
            name = record.location.path
            if name not in raw:
                raw[name] = (self._root / name).read_bytes()
                text = raw[name].decode("utf-8-sig").replace("\r\n", "\n")
                files[name] = (record.path, text)
            reference = SymbolReference(record.path, record.qualname)
            found, move = self._symbol("record", record.location, reference)
            change = self._record_change(reference, move, found)
            if change is not None:
                changes[record.path, record.qualname] = change
            carried.append(replace(found, written=change is not None))
            carried += self._notes(record, move)
        folder = self._project.config.records
        texts = rewrite(
            files,
            changes,
            lambda path: (
                records.record_file(folder, self._pin.name, path).relative_to(self._root).as_posix()
            ),
            self._position,
        )
        result: dict[str, tuple[bytes | None, bytes | None]] = {}
        for name, rewritten in texts.items():
            old = raw.get(name)
            result[name] = (old, None if rewritten is None else _encoded(rewritten, old))
        return carried, result

    def _record_change(
        self, reference: SymbolReference, move: Move | None, found: Carried
    ) -> RecordChange | None:
        """What to write into a record: nothing unless the recorded text is what was read again."""
        record = self._project.records.get(self._pin.name, reference.file, reference.qualname)
        if move is None or not _is_safe(move) or found.now is None or record is None:
            return None
        old, new = self._old.find(reference), self._place(move)
        if old is None or new is None or syntax.text_fingerprint(old.text) != record.text:
            return None
        now = _symbol_reference(found.now)
        if now is None or move.text is not TextChange.SAME:
            return None
        return RecordChange(
            now.file,
            now.qualname,
            syntax.text_fingerprint(new.text),
            syntax.token_fingerprint(new.text),
            replace(self._new.tree, pin=self._pin).recorded_as,
        )

    def _notes(self, record: records.Record, move: Move | None) -> Iterator[Carried]:
        place = self._place(move) if move is not None else None
        for note in record.notes:
            count = sum(note.at in line for line in place.text.split("\n")) if place else 0
            subject = f"{record.symbol} at “{note.at}”"
            if count == 1:
                change, reason = Change.UNCHANGED, "The code it is about stands on one line."
            elif count == 0:
                change, reason = Change.DELETED, "The code it is about is gone."
            else:
                change, reason = Change.AMBIGUOUS, f"{count} lines have the code it is about."
            yield Carried("note", note.location, subject, change, subject, 1.0, reason)

    def _position(self, path: str, qualname: str) -> int:
        try:
            symbol = self._new.module(path).symbols.get(qualname)
        except AnnotateError:
            symbol = None
        return symbol.first_line if symbol else 0

    # What else changes

    def _check_after(self, files: Mapping[str, tuple[bytes | None, bytes | None]]) -> Report:
        """Check the project as it would be, in a copy of what is checked."""
        with tempfile.TemporaryDirectory(prefix="annotate-") as folder:
            copy = Path(folder).resolve()
            kept = [
                self._project.config.file.relative_to(self._root).as_posix(),
                *self._project.pages(),
            ]
            for top in (self._project.config.records, self._root / "docs/experiments"):
                if top.is_dir():
                    kept += [
                        path.relative_to(self._root).as_posix()
                        for path in top.rglob("*")
                        if path.is_file()
                    ]
            for path in kept:
                (copy / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self._root / path, copy / path)
            for path, (_, data) in files.items():
                (copy / path).parent.mkdir(parents=True, exist_ok=True)
                if data is None:
                    (copy / path).unlink()
                else:
                    (copy / path).write_bytes(data)
            tree = replace(self._new.tree, pin=self._pin)
            indexes = {**self._project.indexes, self._pin.name: Index(tree, self._store)}
            return Project(config.load(copy), indexes, self._store).check()

    def _edges(self) -> Iterator[str]:
        from annotate.upstream.calls.kept import kept_call_graph

        old_graph, new_graph = kept_call_graph(self._old), kept_call_graph(self._new)
        for symbol, now in sorted(self._symbols.items()):
            if now is None:
                continue
            before = {self._now(edge.callee) for edge in old_graph.callees_of(symbol)}
            after = {edge.callee for edge in new_graph.callees_of(now)}
            yield from (f"- {now} → {callee}" for callee in sorted(before - after))
            yield from (f"+ {now} → {callee}" for callee in sorted(after - before))

    def _now(self, symbol: str) -> str:
        """The id of an old symbol in the new tree, or the old one."""
        path, _, qualname = symbol.partition("::")
        if not qualname:
            return symbol
        try:
            move = self._moves.of(path, qualname)
        except AnnotateError:
            return symbol
        return move.new.id if move.new else symbol

    def _captures(self) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        changed = {}
        for symbol, now in sorted(self._symbols.items()):
            before = self._captured(self._old, symbol)
            after = self._captured(self._new, now) if now else before
            if before != after:
                changed[symbol] = (before, after)
        return changed

    def _captured(self, index: Index, symbol: str) -> tuple[str, ...]:
        reference = _symbol_reference(symbol)
        try:
            place = index.find(reference) if reference else None
            closures = closures_of(index, place, nested=True) if place else ()
        except AnnotateError:
            return ()
        return tuple(sorted({each.name for closure in closures for each in closure.captures}))


def part_of(text: str, lines: tuple[int, int]) -> str:
    """Some lines of a symbol's text, counted from its first, as canonical text."""
    return syntax.canonical("\n".join(text.split("\n")[lines[0] - 1 : lines[1]]))


def edited(lines: list[str], edits: list[Edit]) -> list[str]:
    """A page's lines after edits of single lines."""
    result = list(lines)
    for each in edits:
        result[each.first - 1] = each.text
    return result


def _is_safe(move: Move | None) -> bool:
    return (
        move is not None
        and move.new is not None
        and move.confidence >= MIN_CONFIDENCE
        and move.text is not TextChange.EDITED
    )


def _symbol_reference(text: str) -> SymbolReference | None:
    try:
        reference = parse_reference(text)
    except AnnotateError:
        return None
    return reference if isinstance(reference, SymbolReference) else None


def _carried(kind: str, location: Location, subject: str, move: Move, now: str | None) -> Carried:
    return Carried(kind, location, subject, move.verdict, now, move.confidence, move.reason)


def _lost(kind: str, location: Location, subject: str, reason: str) -> Carried:
    return Carried(kind, location, subject, Change.UNVERIFIABLE, None, 1.0, reason)


def _beside(page: str, text: str, stale: list[Carried]) -> list[tuple[Location, str]]:
    """The paragraphs right before and right after each claim that is to be read again, once."""
    lines = text.split("\n")
    blocks = pages.blocks(text)
    found: dict[int, str] = {}
    for each in stale:
        block = next(
            (each_block for each_block in blocks if _contains(each_block, each.location.line)), None
        )
        first, last = (block.first_line, block.last_line) if block else (each.location.line,) * 2
        for start, end in (_paragraph_before(lines, first), _paragraph_after(lines, last)):
            if start < end and not any(_contains(other, start + 1) for other in blocks):
                found[start + 1] = "\n".join(lines[start:end])
    return [(Location(page, line), paragraph) for line, paragraph in sorted(found.items())]


def _contains(block: Block, line: int) -> bool:
    return block.first_line <= line <= block.last_line


def _paragraph_before(lines: list[str], line: int) -> tuple[int, int]:
    """The lines, from 0 and with an open end, of the paragraph that ends before a line."""
    end = line - 1
    while end > 0 and not lines[end - 1].strip():
        end -= 1
    start = end
    while start > 0 and lines[start - 1].strip():
        start -= 1
    return start, end


def _paragraph_after(lines: list[str], line: int) -> tuple[int, int]:
    start = line
    while start < len(lines) and not lines[start].strip():
        start += 1
    end = start
    while end < len(lines) and lines[end].strip():
        end += 1
    return start, end


def _lines(data: bytes | None) -> list[str]:
    return data.decode(errors="surrogateescape").splitlines(keepends=True) if data else []


def _encoded(text: str, old: bytes | None) -> bytes:
    """A record file's bytes, with the line ends and the byte order mark it had."""
    if old is None:
        return text.encode()
    newline = "\r\n" if b"\r\n" in old else "\n"
    bom = "\ufeff" if old.startswith(b"\xef\xbb\xbf") else ""
    return (bom + text.replace("\n", newline)).encode()
