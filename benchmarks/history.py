"""Where symbols and lines of a real history went, judged against git's own line history.

    python -m benchmarks.history --repository PATH

Between two commits, the oracle is `git blame -M -C -C OLD..NEW`: for every line of a changed file
of the new commit, the line of the old commit that git takes it from, in whatever file that stood.
A symbol's place, says the oracle, is the definition that shares most lines with it, if that is at
least half of the lines of both. annotate's answers are counted against that, and each answer that
differs is printed, for people to judge.
"""

import argparse
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from annotate.pin import Pin
from annotate.upstream.history import History, local_repository, open_history
from annotate.upstream.moves import Facts, Move, Moves, Ranges, Site
from annotate.upstream.store import Store

COMMITS = 200
ENOUGH = 0.5
"""The share of a definition's lines, on both sides, that makes the oracle sure of its place."""

Line = tuple[str, int]
"""A path and a line, counting from 1."""


@dataclass
class Score:
    """How answers about one kind of thing compare with the oracle's.

    Attributes:
        untouched: in files that both commits have alike; every answer is trivially exact.
        exact: the same place.
        gone: neither finds a place.
        orphaned: the oracle has a place and annotate gives none.
        kept: the oracle has none, annotate says it is still there under the same id.
        beyond: the oracle has none, annotate gives a place under another id.
        other: both have a place, and it is not the same.
    """

    untouched: int = 0
    exact: int = 0
    gone: int = 0
    orphaned: int = 0
    kept: int = 0
    beyond: int = 0
    other: int = 0
    printed: list[str] = field(default_factory=list)

    def add(self, other: "Score") -> None:
        """Count another score in."""
        for name in ("untouched", "exact", "gone", "orphaned", "kept", "beyond", "other"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.printed += other.printed

    def row(self, what: str) -> str:
        """One line of the table; shares are of what the oracle has a place for."""
        placed = self.untouched + self.exact + self.orphaned + self.other
        touched = self.exact + self.orphaned + self.other
        return (
            f"{what}: {placed:,} with a place, {touched:,} of them in changed files: "
            f"exact {share(self.untouched + self.exact, placed)} "
            f"({share(self.exact, touched)} in changed files), "
            f"orphaned {self.orphaned} ({share(self.orphaned, touched)}), "
            f"elsewhere {self.other} ({share(self.other, touched)}); "
            f"without a place: gone {self.gone}, same id {self.kept}, "
            f"found by annotate {self.beyond}"
        )


def share(part: int, whole: int) -> str:
    """A percentage."""
    return f"{100 * part / whole:.2f} %" if whole else "–"


class Oracle:
    """Git's line history between two commits, for the files that differ."""

    def __init__(self, repository: Path, old: str, new: str, moves: Moves) -> None:
        self.places: dict[Line, list[Line]] = defaultdict(list)
        files = moves.files
        for path in [*files.changed, *files.added]:
            if path.endswith((".py", ".md", ".txt", ".rst", ".cfg", ".toml")):
                for line, (origin, number) in self._blame(repository, old, new, path):
                    self.places[origin, number].append((path, line))

    @staticmethod
    def _blame(repository: Path, old: str, new: str, path: str) -> Iterator[tuple[int, Line]]:
        command = ["git", "--git-dir", str(repository), "blame", "-M", "-C", "-C"]
        command += ["--line-porcelain", f"{old}..{new}", "--", path]
        done = subprocess.run(command, capture_output=True)
        if done.returncode:
            return
        commit, origin, line = "", 0, 0
        for each in done.stdout.split(b"\n"):
            if each.startswith(b"\t"):
                continue
            words = each.split(b" ")
            if len(words) >= 3 and len(words[0]) == 40 and words[1].isdigit():
                commit, origin, line = words[0].decode(), int(words[1]), int(words[2])
            elif words[0] == b"filename" and commit == old:
                yield line, (each[9:].decode("utf-8", "replace"), origin)

    def symbol(self, move: Move, moves: Moves) -> Site | None:
        """The definition of the new tree that a definition of the old one became.

        Lines hardly tell a definition from the only one inside it: where annotate gives the one
        and the lines fit both, that is taken for the same answer.
        """
        old = move.old
        lines = telling_lines(moves, old, is_old=True)
        shared: Counter[Site] = Counter()
        for line in lines:
            for site in {
                site
                for path, number in self.places.get((old.path, line), ())
                for site in around(moves, path, number)
            }:
                shared[site] += 1
        best: list[tuple[float, Site]] = []
        for site, count in shared.items():
            theirs = len(telling_lines(moves, site, is_old=False)) or 1
            if count >= ENOUGH * len(lines) and count >= ENOUGH * theirs:
                best.append((2 * count / (len(lines) + theirs), site))
        best.sort(reverse=True)
        if not best or (len(best) > 1 and best[0][0] == best[1][0]):
            return None
        chosen = best[0][1]
        for _, site in best[1:]:
            if site == move.new and (is_inside(site, chosen) or is_inside(chosen, site)):
                return site
        return chosen

    def lines(self, old: Site) -> Site | None:
        """The lines that a range became, where git has each of them exactly once, in order."""
        found = [
            self.places.get((old.path, line), [])
            for line in range(old.first_line, old.last_line + 1)
        ]
        if any(len(each) != 1 for each in (found[0], found[-1])):
            return None
        places = [each[0] for each in found if len(each) == 1]
        if len(places) < ENOUGH * len(found) or len({path for path, _ in places}) > 1:
            return None
        if any(later <= earlier for (_, earlier), (_, later) in pairwise(places)):
            return None
        return Site(places[0][0], "", places[0][1], places[-1][1])


def is_inside(site: Site, other: Site) -> bool:
    """Whether one definition stands inside another."""
    return site.path == other.path and site.qualname.startswith(f"{other.qualname}.")


def telling_lines(moves: Moves, site: Site, *, is_old: bool) -> list[int]:
    """The lines of a definition with a letter or digit on them."""
    lines = (moves.old if is_old else moves.new).lines(site.path) or []
    return [
        number
        for number in range(site.first_line, site.last_line + 1)
        if number <= len(lines) and any(character.isalnum() for character in lines[number - 1])
    ]


def around(moves: Moves, path: str, line: int) -> Iterator[Site]:
    """The definitions of the new tree that a line stands in."""
    facts = moves.new.file(path)
    for each in facts.definitions if facts else ():
        if each.first_line <= line <= each.last_line:
            yield Site(path, each.qualname, each.first_line, each.last_line)


def judge(
    history: History, repository: Path, old: str, new: str, facts: Facts
) -> tuple[Score, Score, float]:
    """Scores for symbols and for ranges between two commits, and annotate's CPU seconds."""
    start = time.process_time()
    moves = Moves(history.tree(old), history.tree(new), facts)
    answers = list(moves.all())
    seconds = time.process_time() - start
    oracle = Oracle(repository, old, new, moves)
    symbols = Score()
    title = f"{old[:10]}..{new[:10]}"
    for move in answers:
        if moves.new.blobs.get(move.old.path) == moves.old.blobs[move.old.path]:
            symbols.untouched += 1
            continue
        compare(symbols, move, oracle.symbol(move, moves), title, moves)
    lines = Score()
    ranges = Ranges(moves)
    for asked in sampled_ranges(moves):
        expected = oracle.lines(asked)
        if expected is not None:
            answer = ranges.of(asked.path, asked.first_line, asked.last_line)
            compare(lines, answer, expected, title, moves)
    return symbols, lines, seconds


def sampled_ranges(moves: Moves) -> Iterator[Site]:
    """Five lines from every seventh on of each old file that changed, with no blank line at an end.

    Git finds blank lines anywhere.
    """
    for path in [*moves.files.changed, *moves.files.gone]:
        lines = moves.old.lines(path) or []
        for first in range(1, len(lines) - 4, 7):
            if lines[first - 1].strip() and lines[first + 3].strip():
                yield Site(path, "", first, first + 4)


def compare(score: Score, move: Move, expected: Site | None, title: str, moves: Moves) -> None:
    """Count one answer, and keep it for printing where it differs from the oracle's.

    Blank lines at the ends of a range do not count.
    """
    new = move.new
    if expected is None:
        if new is None:
            score.gone += 1
        elif not move.has_moved:
            score.kept += 1
        else:
            score.beyond += 1
            score.printed.append(f"{title} beyond   {describe(move)}")
    elif new is None:
        score.orphaned += 1
        score.printed.append(f"{title} orphaned {describe(move)}; git: {expected.id}")
    elif (new.path, new.qualname) == (expected.path, expected.qualname) and (
        new.qualname or without_blanks(new, moves) == without_blanks(expected, moves)
    ):
        score.exact += 1
    else:
        score.other += 1
        score.printed.append(f"{title} other    {describe(move)}; git: {expected.id}")


def without_blanks(site: Site, moves: Moves) -> tuple[int, int]:
    """The first and last line of a range of the new tree that are not blank."""
    lines = moves.new.lines(site.path) or []
    filled = [
        number for number in range(site.first_line, site.last_line + 1) if lines[number - 1].strip()
    ]
    return (filled[0], filled[-1]) if filled else (site.first_line, site.last_line)


def describe(move: Move) -> str:
    """One line about an answer."""
    place = move.new.id if move.new else "nowhere"
    return f"{move.old.id} → {place} ({move.verdict}, {move.confidence:.2f}): {move.reason}"


def spread(history: History, count: int) -> list[str]:
    """Commits of the line of first parents, evenly spread, oldest first."""
    chain = [each.id for each in history.ancestors(history.resolve("latest"), first_parents=True)]
    chain.reverse()
    return [chain[number * (len(chain) - 1) // (count - 1)] for number in range(count)]


def main() -> None:
    """Judge all tagged releases in a row, then commits spread over the history."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repository", default="https://github.com/HIPS/autograd")
    parser.add_argument("--commits", type=int, default=COMMITS)
    parser.add_argument("--print", action="store_true", help="print every answer that differs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        with open_history(Pin("autograd", options.repository, ""), store, None) as history:
            repository = local_repository(options.repository) or next(
                (store.root / "histories").iterdir()
            )
            facts = Facts(store)
            tags = list(history.tags().values())
            newest = history.resolve("latest")
            commits = spread(history, options.commits)
            for what, pairs in (
                ("releases, each to the next", list(pairwise(tags))),
                ("releases, each to the newest commit", [(tag, newest) for tag in tags]),
                (f"{len(commits)} commits, each to the next", list(pairwise(commits))),
            ):
                run(what, pairs, history, repository, facts, options.print)


def run(
    what: str,
    pairs: list[tuple[str, str]],
    history: History,
    repository: Path,
    facts: Facts,
    is_printing: bool,
) -> None:
    """Judge each pair of commits."""
    symbols, lines, total = Score(), Score(), 0.0
    for old, new in pairs:
        of_symbols, of_lines, seconds = judge(history, repository, old, new, facts)
        symbols.add(of_symbols)
        lines.add(of_lines)
        total += seconds
    print(symbols.row(f"{what}, symbols"))
    print(lines.row(f"{what}, ranges of five lines"))
    print(f"{what}: {total:.1f} s of CPU in annotate, {10 * total / len(pairs):.2f} s for ten")
    if is_printing:
        print("\n".join(symbols.printed + lines.printed))


if __name__ == "__main__":
    main()
