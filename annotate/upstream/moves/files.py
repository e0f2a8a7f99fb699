"""Which file of one tree became which of another.

Like git's rename detection (gitdiffcore, "diffcore-rename"): files that are gone against files
that are new, the same content first, then at least half of it; here by lines, and with a margin
over the runner-up.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from annotate.upstream.moves.snapshot import Snapshot

MIN_SIMILARITY = 0.5
MIN_MARGIN = 0.1
_NAME_BONUS = 0.1
_PACKAGE_BONUS = 0.25
_MAX_POSTINGS = 50


@dataclass(frozen=True, slots=True)
class FileMove:
    """Where a file went; ``similarity`` is 1 for the same content. ``path`` None: nowhere."""

    path: str | None
    similarity: float
    reason: str


class FileMoves:
    """The files that two trees do not have in common, and which of them belong together.

    Attributes:
        changed: paths of both trees with different content.
        gone: paths of the old tree only.
        added: paths of the new tree only.
    """

    def __init__(self, old: Snapshot, new: Snapshot) -> None:
        self._old = old
        self._new = new
        before, after = old.blobs, new.blobs
        self.changed = [path for path in before if after.get(path, before[path]) != before[path]]
        self.gone = [path for path in before if path not in after]
        self.added = [path for path in after if path not in before]

    def of(self, path: str) -> FileMove:
        """Where a file of the old tree is in the new one."""
        if path in self._new.blobs:
            same = self._new.blobs[path] == self._old.blobs.get(path)
            return FileMove(path, 1.0 if same else 0.0, "the path is the same")
        return self.renamed.get(path) or FileMove(None, 0.0, "the file is gone")

    @cached_property
    def renamed(self) -> dict[str, FileMove]:
        """Old path → where it went, for the files that are gone and were found again."""
        found = self._same_content()
        taken = {move.path for move in found.values()}
        gone = [path for path in self.gone if path not in found]
        added = [path for path in self.added if path not in taken]
        if not gone or not added:
            return found
        scores = self._scores(gone, added)
        for path, (target, score) in _mutual_best(scores).items():
            reason = f"{score:.0%} of its lines are in {target}"
            found[path] = FileMove(target, min(score, 0.99), reason)
        return found

    def _same_content(self) -> dict[str, FileMove]:
        before, after = defaultdict(list), defaultdict(list)
        for path in self.gone:
            before[self._old.blobs[path]].append(path)
        for path in self.added:
            after[self._new.blobs[path]].append(path)
        found = {}
        for blob, paths in before.items():
            targets = after.get(blob, [])
            if not self._says_something(paths[0]):
                continue
            for path in paths:
                name = PurePosixPath(path).name
                fitting = [each for each in targets if PurePosixPath(each).name == name]
                rivals = [each for each in paths if PurePosixPath(each).name == name]
                if len(targets) == len(paths) == 1:
                    found[path] = FileMove(targets[0], 1.0, "the file's content is the same")
                elif len(fitting) == len(rivals) == 1:
                    found[path] = FileMove(fitting[0], 1.0, "content and file name are the same")
        return found

    def _says_something(self, path: str) -> bool:
        return len(self._lines(self._old, path)) > 2

    def _scores(self, gone: list[str], added: list[str]) -> dict[tuple[str, str], float]:
        """Similarity by shared lines, each line weighing as many characters as it has."""
        lines_after = {path: self._lines(self._new, path) for path in added}
        having: dict[str, list[str]] = defaultdict(list)
        for path, lines in lines_after.items():
            for line in lines:
                having[line].append(path)
        scores = {}
        for path in gone:
            lines = self._lines(self._old, path)
            candidates = {_as_package(path)} & lines_after.keys()
            for line in lines:
                if len(having[line]) <= _MAX_POSTINGS:
                    candidates.update(having[line])
            for target in sorted(candidates):
                theirs = lines_after[target]
                shared = _weight(lines & theirs)
                total = max(_weight(lines), _weight(theirs))
                score = shared / total if total else 0.0
                if _is_package_pair(path, target):
                    # The rest of the module may have gone elsewhere in the package.
                    score = max(score, shared / (_weight(lines) or 1))
                scores[path, target] = score
        return scores

    @staticmethod
    def _lines(snapshot: Snapshot, path: str) -> Counter[str]:
        lines = snapshot.lines(path) or []
        return Counter(line.strip() for line in lines if line.strip())


def _weight(lines: Counter[str]) -> int:
    return sum(len(line) * count for line, count in lines.items())


def _as_package(path: str) -> str:
    return f"{path.removesuffix('.py')}/__init__.py" if path.endswith(".py") else ""


def _is_package_pair(path: str, other: str) -> bool:
    """Whether a module became a package, or the other way round."""
    return other == _as_package(path) or path == _as_package(other)


def _mutual_best(scores: dict[tuple[str, str], float]) -> dict[str, tuple[str, float]]:
    """Pairs that fit well enough, and better by a margin than any other of either side."""

    def weighed(pair: tuple[str, str]) -> float:
        if _is_package_pair(*pair):
            return scores[pair] + _PACKAGE_BONUS
        same_name = PurePosixPath(pair[0]).name == PurePosixPath(pair[1]).name
        return scores[pair] + _NAME_BONUS * same_name

    by_old, by_new = defaultdict(list), defaultdict(list)
    for pair in scores:
        by_old[pair[0]].append(weighed(pair))
        by_new[pair[1]].append(weighed(pair))
    found = {}
    for pair, score in scores.items():
        rivals = sorted(by_old[pair[0]])[-2:-1] + sorted(by_new[pair[1]])[-2:-1]
        is_best = all(weighed(pair) >= rival + MIN_MARGIN for rival in rivals)
        enough = MIN_SIMILARITY - (_PACKAGE_BONUS if _is_package_pair(*pair) else 0)
        if score >= enough and is_best:
            found[pair[0]] = (pair[1], score)
    return found
