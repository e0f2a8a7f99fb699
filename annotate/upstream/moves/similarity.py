"""How alike two definitions are, and which of many are worth comparing."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TypeVar

from rapidfuzz.distance import Indel

Key = TypeVar("Key")

SHINGLE = 3
"""Content tokens in a row that definitions share where one came from the other."""

MAX_POSTINGS = 200
"""A shingle that more definitions have says nothing about any of them."""


def similarity(old: Sequence[int], new: Sequence[int]) -> float:
    """The share of content tokens two definitions have in common in the same order: 0 to 1.

    Twice the longest common subsequence over the sum of the lengths.
    """
    if not old and not new:
        return 1.0
    return Indel.normalized_similarity(old, new)


def shingles(tokens: Sequence[int]) -> set[tuple[int, ...]]:
    """Every run of `SHINGLE` tokens; of fewer tokens all of them."""
    if len(tokens) <= SHINGLE:
        return {tuple(tokens)} if tokens else set()
    return {tuple(tokens[start : start + SHINGLE]) for start in range(len(tokens) - SHINGLE + 1)}


def containment(part: Sequence[int], whole: Sequence[int]) -> float:
    """The share of the part's shingles that the whole has as well: 0 to 1."""
    wanted = shingles(part)
    return len(wanted & shingles(whole)) / len(wanted) if wanted else 0.0


class ShingleIndex:
    """Finds the definitions that share most of their rarer shingles with a given one."""

    def __init__(self, entries: Iterable[tuple[int, Sequence[int]]]) -> None:
        self._postings: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for key, tokens in entries:
            for shingle in shingles(tokens):
                self._postings[shingle].append(key)

    def nearest(self, tokens: Sequence[int], limit: int) -> list[int]:
        """The keys that share most shingles, best first; ties in the order of the keys."""
        counts: Counter[int] = Counter()
        for shingle in shingles(tokens):
            found = self._postings.get(shingle, ())
            if len(found) <= MAX_POSTINGS:
                counts.update(found)
        best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:limit]
        return [key for key, _ in best]
