"""Where a range of lines went: of a definition, of any text file, within its file or to another.

What the range lies in decides what is tried: a definition that was found carries its lines along;
else the file's lines are aligned; and what is gone from its file is looked for word by word in all
files that changed.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property

from annotate.errors import AnnotateError
from annotate.upstream.moves.comparison import Moves
from annotate.upstream.moves.facts import Definition, own_name
from annotate.upstream.moves.lines import Carried, Span, align, carry
from annotate.upstream.moves.move import Change, Move, Site, TextChange
from annotate.upstream.moves.snapshot import Snapshot

_LEGIBLE_CHARACTERS = 30
"""Without blanks, from which a range is taken to be recognisable by itself."""

_MIN_BLOCK = 0.7
_MARGIN = 0.1


class Ranges:
    """Carries ranges of lines between the two trees of a comparison."""

    def __init__(self, moves: Moves) -> None:
        self._moves = moves
        self._spans: dict[tuple[str, str], list[Span | None]] = {}

    def of(self, path: str, first: int, last: int) -> Move:
        """What became of lines ``first`` to ``last`` (from 1, both included) of a file.

        The verdict is ``UNCHANGED`` for the same text on the same lines, ``MOVED`` for the same
        text on others.

        Raises:
            AnnotateError: the old tree has no such file or lines, or no text can be read from it.
        """
        old = Site(path, "", first, last)
        lines = self._old_lines(path, last)
        moves = self._moves
        if moves.new.blobs.get(path) == moves.old.blobs[path]:
            reason = "The file is the same, byte for byte."
            return Move(Change.UNCHANGED, old, old, TextChange.SAME, 1.0, reason)
        definition = self._definition_around(path, first, last)
        doubt = ""
        if definition is not None:
            move = moves.of(path, definition.qualname)
            if move.new is not None:
                found = self._within(old, move)
                if found is not None:
                    return found
            elif move.verdict is Change.AMBIGUOUS:
                doubt = f"it lies in {definition.qualname}, and {_lower(move.reason)}"
        target = moves.files.of(path)
        if target.path is not None:
            found = self._in_file(old, target.path, target.reason)
            if found is not None and (not doubt or found.confidence >= 0.9):
                return found
        return self._elsewhere(old, lines[first - 1 : last], doubt)

    def _old_lines(self, path: str, last: int) -> list[str]:
        identity = self._moves.old.tree.identity
        if path not in self._moves.old.blobs:
            raise AnnotateError(f"{identity} has no file {path}")
        lines = self._moves.old.lines(path)
        if lines is None:
            raise AnnotateError(f"{path} of {identity} is no text that can be read")
        if last > len(lines):
            raise AnnotateError(f"{path} of {identity} has {len(lines)} lines")
        return lines

    def _definition_around(self, path: str, first: int, last: int) -> Definition | None:
        """The innermost definition that the whole range lies in."""
        facts = self._moves.old.file(path)
        around = [
            each
            for each in (facts.definitions if facts else ())
            if each.first_line <= first and last <= each.last_line
        ]
        return min(around, key=lambda each: each.last_line - each.first_line, default=None)

    def _within(self, old: Site, move: Move) -> Move | None:
        """A range inside a definition that has a place."""
        assert move.new is not None
        if (old.first_line, old.last_line) == (move.old.first_line, move.old.last_line):
            new = Site(move.new.path, "", move.new.first_line, move.new.last_line)
            text = move.text or TextChange.EDITED
            if own_name(move.old.qualname) != own_name(move.new.qualname):
                # Its own name does not count in a definition, but it does in its lines.
                text = TextChange.EDITED
            return _judged(old, new, text, move.confidence, move.reason)
        before = _cut(self._moves.old, move.old)
        after = _cut(self._moves.new, move.new)
        offset = move.old.first_line - 1
        carried = carry(before, after, old.first_line - offset, old.last_line - offset)
        if carried is None:
            return None
        shift = move.new.first_line - 1
        new = Site(move.new.path, "", carried.first + shift, carried.last + shift)
        reason = f"{_share(carried)} in {move.new.id}. {move.reason}"
        # An edit elsewhere in the definition takes nothing from lines found as they were.
        base = move.confidence if move.has_moved else 1.0
        return _judged(old, new, carried.text, base * _certainty(carried), reason)

    def _in_file(self, old: Site, path: str, ground: str) -> Move | None:
        pair = (old.path, path)
        before = self._moves.old.lines(old.path)
        after = self._moves.new.lines(path)
        if before is None or after is None:
            reason = f"{path} cannot be read in {self._moves.new.tree.identity}."
            return Move(Change.UNVERIFIABLE, old, None, None, 1.0, reason)
        if pair not in self._spans:
            self._spans[pair] = align(before, after)
        carried = carry(before, after, old.first_line, old.last_line, self._spans[pair])
        if carried is None:
            return None
        new = Site(path, "", carried.first, carried.last)
        reason = f"{_share(carried)} in {path}; {ground}."
        return _judged(old, new, carried.text, _certainty(carried), reason)

    def _elsewhere(self, old: Site, lines: Sequence[str], doubt: str) -> Move:
        """The block as a whole anywhere in the files that changed."""
        identity = self._moves.new.tree.identity
        wanted = [line.strip() for line in lines]
        if sum(len("".join(line.split())) for line in wanted) < _LEGIBLE_CHARACTERS:
            if doubt:
                return Move(Change.AMBIGUOUS, old, None, None, 0.5, f"{doubt}.".capitalize())
            reason = "These lines are gone, and too short to be recognised elsewhere."
            return Move(Change.DELETED, old, None, None, 0.7, reason)
        blocks = self._blocks(wanted)
        if not blocks or blocks[0][0] < _MIN_BLOCK:
            if doubt:
                return Move(Change.AMBIGUOUS, old, None, None, 0.5, f"{doubt}.".capitalize())
            reason = f"Less than half of these lines is left in {identity}."
            return Move(Change.DELETED, old, None, None, 0.8, reason)
        best = [block for block in blocks if block[0] > blocks[0][0] - _MARGIN]
        sites = tuple(block[1] for block in best)
        if len(best) > 1:
            listed = ", ".join(each.id for each in sites[:3])
            reason = f"These lines may be any of {listed}."
            return Move(Change.AMBIGUOUS, old, None, None, 0.5, reason, sites)
        share, new, text = best[0]
        reason = f"{share:.0%} of these lines is in {new.path}, and nowhere else."
        return _judged(old, new, text, 0.9 * share, reason)

    def _blocks(self, wanted: list[str]) -> list[tuple[float, Site, TextChange]]:
        """Runs of new lines that hold most of the wanted ones, best first."""
        total = sum(len(line) for line in wanted)
        found = []
        for path, positions in self._postings_of(wanted).items():
            lines = self._moves.new.lines(path) or []
            stripped = [line.strip() for line in lines]
            for start in sorted({line - offset for offset, line in positions}):
                first = max(0, start)
                last = min(len(lines), start + len(wanted))
                shared = Counter(stripped[first:last]) & Counter(wanted)
                share = sum(len(line) * count for line, count in shared.items()) / total
                if share >= _MIN_BLOCK:
                    while stripped[first] not in shared:
                        first += 1
                    while stripped[last - 1] not in shared:
                        last -= 1
                    same = stripped[first:last] == wanted
                    text = TextChange.SAME if same else TextChange.EDITED
                    found.append((share, Site(path, "", first + 1, last), text))
        found.sort(key=lambda block: (-block[0], block[1]))
        kept: list[tuple[float, Site, TextChange]] = []
        for block in found:
            overlaps = any(
                block[1].path == other[1].path
                and block[1].first_line <= other[1].last_line
                and other[1].first_line <= block[1].last_line
                for other in kept
            )
            if not overlaps:
                kept.append(block)
        return kept

    def _postings_of(self, wanted: list[str]) -> dict[str, list[tuple[int, int]]]:
        """For each file, where the rarer of the wanted lines stand: (offset, line from 0)."""
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for offset, line in enumerate(wanted):
            places = self._postings.get(line, ())
            if line and len(places) <= _MAX_POSTINGS:
                for path, number in places:
                    found[path].append((offset, number))
        return found

    @cached_property
    def _postings(self) -> dict[str, list[tuple[str, int]]]:
        """Where each line of the files that changed stands."""
        found: dict[str, list[tuple[str, int]]] = defaultdict(list)
        files = self._moves.files
        for path in [*files.changed, *files.added]:
            for number, line in enumerate(self._moves.new.lines(path) or []):
                found[line.strip()].append((path, number))
        return found


_MAX_POSTINGS = 30


def _cut(snapshot: Snapshot, where: Site) -> list[str]:
    return (snapshot.lines(where.path) or [])[where.first_line - 1 : where.last_line]


def _judged(old: Site, new: Site, text: TextChange, confidence: float, reason: str) -> Move:
    return Move(range_verdict(old, new, text), old, new, text, round(confidence, 2), reason)


def range_verdict(old: Site, new: Site, text: TextChange) -> Change:
    """Name the move of a range, whose id is its file and lines."""
    if old.path != new.path:
        is_edited = text is TextChange.EDITED
        return Change.MOVED_AND_CHANGED if is_edited else Change.MOVED_TO_FILE
    if text is TextChange.EDITED:
        return Change.EDITED
    if text is TextChange.REFORMATTED:
        return Change.REFORMATTED
    return Change.UNCHANGED if old == new else Change.MOVED


def _certainty(carried: Carried) -> float:
    if carried.text is TextChange.SAME and carried.found == 1.0:
        return 1.0
    return (0.5 + 0.5 * carried.found) * (1.0 if carried.edges else 0.85)


def _share(carried: Carried) -> str:
    if carried.text is TextChange.SAME:
        return "These lines are the same"
    return f"{carried.found:.0%} of these lines is left"


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:].removesuffix(".")
