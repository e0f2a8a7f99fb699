"""Lines of one text in another: which became which, and where a range of them is now.

Alignment in passes, each only where the passes before left gaps: equal lines that occur once on
both sides (Cohen's patience diff), other equal lines, lines equal but for blanks, and last the
words of changed lines, so that a line a formatter broke in two is found as well.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from rapidfuzz.distance import LCSseq

from annotate.upstream.moves.move import TextChange
from annotate.upstream.syntax import canonical

_WORD = re.compile(r"\w+|[^\w\s]")
_MAX_GAP_WORDS = 4_000
_MIN_LINE = 0.5
_MIN_ONLY_LINE = 0.4

ENOUGH = 0.5
"""The share of a range, by its characters, that must be found for the range to have a place."""


@dataclass(frozen=True, slots=True)
class Span:
    """The lines one old line became, counting from 0, both included.

    ``similarity`` is 1 for an equal line and less for a changed one.
    """

    first: int
    last: int
    similarity: float


@dataclass(frozen=True, slots=True)
class Carried:
    """A range of lines in the new text.

    Attributes:
        first: its first line, counting from 1.
        last: its last line, included.
        text: what became of its text.
        found: the share of its old text that is still there, 0 to 1.
        edges: whether the lines at both ends were found themselves, not inferred.
    """

    first: int
    last: int
    text: TextChange
    found: float
    edges: bool


def align(old: Sequence[str], new: Sequence[str]) -> list[Span | None]:
    """For each old line, what it became; None where it is gone. Never out of order."""
    spans: list[Span | None] = [None] * len(old)
    for left, right in _equal(old, new, 0, len(old), 0, len(new)):
        spans[left] = Span(right, right, 1.0)
    stripped_old = ["".join(line.split()) for line in old]
    stripped_new = ["".join(line.split()) for line in new]
    for first, last, start, end in _gaps(spans, len(new)):
        for left, right in _equal(stripped_old, stripped_new, first, last, start, end):
            spans[left] = Span(right, right, 0.99)
    for first, last, start, end in _gaps(spans, len(new)):
        _by_words(old, new, (first, last, start, end), spans)
    return spans


def carry(
    old: Sequence[str],
    new: Sequence[str],
    first: int,
    last: int,
    spans: Sequence[Span | None] | None = None,
) -> Carried | None:
    """Find lines ``first`` to ``last`` (from 1, both included) of the old text in the new.

    Args:
        old: all lines of the old text.
        new: all lines of the new text.
        first: the range's first line.
        last: its last line.
        spans: what `align` says of the two texts, where it is known.

    Returns:
        None where less than `ENOUGH` of the range is left.
    """
    if spans is None:
        spans = align(old, new)
    filled = [line for line in range(first - 1, last) if old[line].strip()]
    # Blank lines look all the same: those at the ends of a range go where the rest goes.
    core = range(filled[0], filled[-1] + 1) if filled else range(first - 1, last)
    weights = {line: len("".join(old[line].split())) for line in core}
    present = [(line, span) for line in core if (span := spans[line]) is not None]
    if filled:
        found = sum(weights[line] * span.similarity for line, span in present)
        found /= sum(weights.values())
    else:
        found = len(present) / len(core)
    if not present or found < ENOUGH:
        return None
    start, is_start = _start(spans, core[0], present[0])
    end, is_end = _end(spans, core[-1], present[-1], len(new))
    for _ in range(core[0] - (first - 1)):
        if start > 0 and not new[start - 1].strip():
            start -= 1
    for _ in range(last - 1 - core[-1]):
        if end + 1 < len(new) and not new[end + 1].strip():
            end += 1
    before, after = old[first - 1 : last], new[start : end + 1]
    if canonical("\n".join(before)) == canonical("\n".join(after)):
        text = TextChange.SAME
    elif _bare(before) == _bare(after):
        text = TextChange.REFORMATTED
    else:
        text = TextChange.EDITED
    return Carried(start + 1, end + 1, text, min(found, 1.0), is_start and is_end)


def _start(spans: Sequence[Span | None], first: int, present: tuple[int, Span]) -> tuple[int, bool]:
    """The first new line of a range; lines that replaced its lost first ones belong to it."""
    line, span = present
    if line == first:
        return span.first, True
    before = spans[first - 1] if first > 0 else Span(-1, -1, 1.0)
    if before is not None and before.last + 1 < span.first:
        return before.last + 1, False
    return span.first, False


def _end(
    spans: Sequence[Span | None], last: int, present: tuple[int, Span], length: int
) -> tuple[int, bool]:
    line, span = present
    if line == last:
        return span.last, True
    after = spans[last + 1] if last + 1 < len(spans) else Span(length, length, 1.0)
    if after is not None and after.first - 1 > span.last:
        return after.first - 1, False
    return span.last, False


def _bare(lines: Sequence[str]) -> str:
    return "".join("".join(line.split()) for line in lines)


def _equal(
    old: Sequence[str], new: Sequence[str], first: int, last: int, start: int, end: int
) -> list[tuple[int, int]]:
    """Pairs of equal lines within two ranges, in order on both sides."""
    pairs: list[tuple[int, int]] = []
    pending = [(first, last, start, end)]
    while pending:
        first, last, start, end = pending.pop()
        while first < last and start < end and old[first] == new[start]:
            pairs.append((first, start))
            first, start = first + 1, start + 1
        while first < last and start < end and old[last - 1] == new[end - 1]:
            last, end = last - 1, end - 1
            pairs.append((last, end))
        if first == last or start == end:
            continue
        anchors = _unique_in_order(old, new, first, last, start, end)
        if anchors:
            for left, right in [*anchors, (last, end)]:
                pending.append((first, left, start, right))
                first, start = left, right
                if left < last and right < end:
                    pairs.append((left, right))
                    first, start = left + 1, right + 1
        else:
            pairs += _longest_common(old, new, first, last, start, end)
    return sorted(pairs)


def _unique_in_order(
    old: Sequence[str], new: Sequence[str], first: int, last: int, start: int, end: int
) -> list[tuple[int, int]]:
    """The longest run, in order on both sides, of equal lines that occur once on each side."""
    counts_old, counts_new = Counter(old[first:last]), Counter(new[start:end])
    position = {new[line]: line for line in range(start, end) if counts_new[new[line]] == 1}
    pairs = [
        (line, position[old[line]])
        for line in range(first, last)
        if counts_old[old[line]] == 1 and old[line] in position and old[line].strip()
    ]
    tails: list[int] = []
    tail_pairs: list[int] = []
    before: list[int] = []
    for number, (_, right) in enumerate(pairs):
        length = bisect_left(tails, right)
        before.append(tail_pairs[length - 1] if length else -1)
        tails[length : length + 1] = [right]
        tail_pairs[length : length + 1] = [number]
    chain = []
    number = tail_pairs[-1] if tail_pairs else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


def _longest_common(
    old: Sequence[str], new: Sequence[str], first: int, last: int, start: int, end: int
) -> list[tuple[int, int]]:
    """Equal lines of a longest common subsequence; blank lines alone say nothing."""
    pairs = []
    for block in LCSseq.opcodes(list(old[first:last]), list(new[start:end])):
        if block.tag != "equal":
            continue
        for offset in range(block.src_end - block.src_start):
            left, right = first + block.src_start + offset, start + block.dest_start + offset
            pairs.append((left, right))
    return pairs if any(old[left].strip() for left, _ in pairs) else []


def _gaps(spans: Sequence[Span | None], length: int) -> list[tuple[int, int, int, int]]:
    """Runs of old lines without a place, and the new lines between their neighbours' places."""
    gaps = []
    line, start = 0, 0
    while line < len(spans):
        span = spans[line]
        if span is not None:
            start = span.last + 1
            line += 1
            continue
        first = line
        while line < len(spans) and spans[line] is None:
            line += 1
        following = spans[line] if line < len(spans) else None
        end = following.first if following is not None else length
        if start < end:
            gaps.append((first, line, start, end))
    return gaps


def _by_words(
    old: Sequence[str],
    new: Sequence[str],
    gap: tuple[int, int, int, int],
    spans: list[Span | None],
) -> None:
    """Give the old lines of a gap the new lines that hold most of their words."""
    first, last, start, end = gap
    words_old = [(word, line) for line in range(first, last) for word in _WORD.findall(old[line])]
    words_new = [(word, line) for line in range(start, end) for word in _WORD.findall(new[line])]
    if len(words_old) > _MAX_GAP_WORDS or len(words_new) > _MAX_GAP_WORDS:
        return
    matcher = SequenceMatcher(
        None, [word for word, _ in words_old], [word for word, _ in words_new], autojunk=False
    )
    weights, new_weights = _weights(words_old), _weights(words_new)
    shared: dict[int, Counter[int]] = {line: Counter() for line in range(first, last)}
    for block in matcher.get_matching_blocks():
        for offset in range(block.size):
            word, line = words_old[block.a + offset]
            shared[line][words_new[block.b + offset][1]] += len(word)
    threshold = _MIN_ONLY_LINE if last - first == end - start == 1 else _MIN_LINE
    for line in range(first, last):
        weight = sum(shared[line].values())
        if weight and weight >= threshold * weights[line]:
            where = [each for each, count in shared[line].items() if 4 * count >= weight] or [
                max(shared[line], key=lambda each: shared[line][each])
            ]
            start, end = min(where), max(where)
            # A bracket alone on a line is little, but wholly this line's.
            while start - 1 in shared[line] and shared[line][start - 1] == new_weights[start - 1]:
                start -= 1
            while end + 1 in shared[line] and shared[line][end + 1] == new_weights[end + 1]:
                end += 1
            spans[line] = Span(start, end, min(0.98, weight / weights[line]))


def _weights(words: list[tuple[str, int]]) -> Counter[int]:
    """How many characters of words each line has."""
    weights: Counter[int] = Counter()
    for word, line in words:
        weights[line] += len(word)
    return weights
