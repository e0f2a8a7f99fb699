"""A definition's history: the commits that changed it, through renames and moves.

How merges count: where a definition is the same in a merge as in one of its parents, only that
parent is followed (the first such), as `git log` does for a file. Where it differs from all of
them, every parent that has it is followed; the merge itself is listed only if none has.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from annotate.upstream.history import Commit, History
from annotate.upstream.moves.comparison import Moves
from annotate.upstream.moves.facts import Facts, token_number
from annotate.upstream.moves.move import Move, TextChange
from annotate.upstream.tree import Tree

INTRODUCED = "introduced"
FILE_RENAME = "file rename"
MOVE = "move"
RENAME = "rename"
DECORATOR_CHANGE = "decorator change"
SIGNATURE_CHANGE = "signature change"
BODY_CHANGE = "body change"
REFORMATTED = "reformatted"

KINDS = (
    INTRODUCED,
    FILE_RENAME,
    MOVE,
    RENAME,
    DECORATOR_CHANGE,
    SIGNATURE_CHANGE,
    BODY_CHANGE,
    REFORMATTED,
)
"""What a commit can do to a definition; several are joined by ``+`` in this order.

``file rename``: its file got another path. ``move``: it went to another file, or into or out of a
class or function. ``signature change``: what stands between the name and the body, base classes
among it. ``body change``: everything else, and all of an assignment or a registration.
``reformatted``: only layout or comments; it stands alone, or with a move or rename.
"""


@dataclass(frozen=True, slots=True)
class Step:
    """One commit that changed a definition, and the definition's id after it."""

    commit: Commit
    kind: str
    symbol: str
    path: str


class Lineage:
    """Follows definitions through one history."""

    def __init__(self, history: History, facts: Facts) -> None:
        self._history = history
        self._facts = facts
        self._trees: dict[str, Tree] = {}

    def of(self, start: str, path: str, qualname: str) -> Iterator[Step]:
        """The commits that changed a definition, newest first, the introducing one last.

        Args:
            start: the full id of the commit where the definition has that id.
            path: its file there.
            qualname: its qualified name there.

        Raises:
            AnnotateError: the history is not all there.
        """
        pending: dict[str, list[tuple[str, str]]] = {start: [(path, qualname)]}
        for commit in self._history.ancestors(start):
            for place in pending.pop(commit.id, ()):
                step, origins = self._step(commit, *place)
                if step is not None:
                    yield step
                for parent, origin in origins:
                    places = pending.setdefault(parent, [])
                    if origin not in places:
                        places.append(origin)
            if not pending:
                return

    def _step(
        self, commit: Commit, path: str, qualname: str
    ) -> tuple[Step | None, list[tuple[str, tuple[str, str]]]]:
        """What a commit did to a definition, and where to go on: (parent, place)."""
        symbol = f"{path}::{qualname}"
        for parent in commit.parents:
            if self._is_same(commit.id, parent, path, qualname):
                return None, [(parent, (path, qualname))]
        moves: list[tuple[str, Move, Moves]] = []
        for parent in commit.parents:
            comparison = Moves(self._tree(commit.id), self._tree(parent), self._facts)
            move = comparison.of(path, qualname)
            if move.new is not None:
                moves.append((parent, move, comparison))
        origins = [
            (parent, (move.new.path, move.new.qualname))
            for parent, move, _ in moves
            if move.new is not None
        ]
        if not moves:
            return Step(commit, INTRODUCED, symbol, path), []
        if len(commit.parents) > 1:
            same = [number for number, each in enumerate(moves) if not _kind(each[1], each[2])]
            return None, [origins[same[0]]] if same else origins
        kind = _kind(moves[0][1], moves[0][2])
        return (Step(commit, kind, symbol, path) if kind else None), origins

    def _is_same(self, commit: str, parent: str, path: str, qualname: str) -> bool:
        after, before = self._tree(commit), self._tree(parent)
        if path not in before.files:
            return False
        if before.files[path].blob == after.files[path].blob:
            return True
        facts_after = self._facts.file(after, path)
        facts_before = self._facts.file(before, path)
        if facts_after is None or facts_before is None or qualname not in facts_before.by_name:
            return False
        new = facts_after.definitions[facts_after.by_name[qualname]]
        old = facts_before.definitions[facts_before.by_name[qualname]]
        return new.text == old.text

    def _tree(self, commit: str) -> Tree:
        if commit not in self._trees:
            self._trees[commit] = self._history.tree(commit)
        return self._trees[commit]


def _kind(move: Move, comparison: Moves) -> str:
    """What was done to a definition on the way from ``move.new`` (the parent) to ``move.old``."""
    after, before = move.old, move.new
    assert before is not None
    kinds = set()
    facts_after = comparison.old.file(after.path)
    facts_before = comparison.new.file(before.path)
    assert facts_after is not None
    assert facts_before is not None
    number_after = facts_after.by_name[after.qualname]
    number_before = facts_before.by_name[before.qualname]
    definition_after = facts_after.definitions[number_after]
    definition_before = facts_before.definitions[number_before]
    if after.path != before.path:
        renamed = comparison.files.renamed.get(after.path)
        is_file_rename = renamed is not None and renamed.path == before.path
        kinds.add(FILE_RENAME if is_file_rename else MOVE)
    if definition_after.around != definition_before.around:
        kinds.add(MOVE)
    if definition_after.name != definition_before.name:
        kinds.add(RENAME)
    if move.text is TextChange.REFORMATTED:
        kinds.add(REFORMATTED)
    elif move.text is TextChange.EDITED:
        head_after, head_before = facts_after.head(number_after), facts_before.head(number_before)
        decorators_after, signature_after = _split(head_after)
        decorators_before, signature_before = _split(head_before)
        if decorators_after != decorators_before:
            kinds.add(DECORATOR_CHANGE)
        if signature_after != signature_before:
            kinds.add(SIGNATURE_CHANGE)
        body_after = facts_after.masked(number_after)[len(head_after) :]
        body_before = facts_before.masked(number_before)[len(head_before) :]
        if body_after != body_before or not kinds - {FILE_RENAME, MOVE, RENAME}:
            kinds.add(BODY_CHANGE)
    return "+".join(kind for kind in KINDS if kind in kinds)


_KEYWORDS = frozenset(token_number(word) for word in ("async", "def", "class"))


def _split(head: list[int]) -> tuple[list[int], list[int]]:
    """Decorators, and the rest but for the name itself."""
    for position, token in enumerate(head):
        if token in _KEYWORDS:
            name = position + 1 + (token == token_number("async"))
            return head[:position], head[position:name] + head[name + 1 :]
    return [], head
