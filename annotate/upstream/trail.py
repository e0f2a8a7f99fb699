"""A place followed commit by commit, where two trees alone are too far apart to tell.

Between neighbouring commits little changes, so that a name that was given away, or a file that was
renamed and then rewritten, is plain to see. The way goes through first parents where it can.
"""

from collections.abc import Iterator

from annotate.upstream.history import Commit, History
from annotate.upstream.moves.comparison import Moves
from annotate.upstream.moves.facts import Facts, own_name
from annotate.upstream.moves.move import Move, Site, TextChange, verdict_of
from annotate.upstream.moves.ranges import Ranges, range_verdict
from annotate.upstream.tree import Tree

LEAST = 0.3
"""The product of all steps' confidences below which the trail is lost."""


class Trail:
    """Follows definitions and lines from commit to commit of one history."""

    def __init__(self, history: History, facts: Facts) -> None:
        self._history = history
        self._facts = facts
        self._trees: dict[str, Tree] = {}

    def follow(self, old: str, new: str, site: Site) -> Move | None:
        """Follow a place from one commit to another, forwards, backwards or around.

        Args:
            old: the full id of the commit where the place is known.
            new: that of the commit where it is looked for.
            site: the place; without a qualified name it is lines of a file.

        Returns:
            Where it is; None where it is lost on the way, or the commits have nothing in common.

        Raises:
            AnnotateError: the history is not all there.
        """
        here, confidence, hops = site, 1.0, 0
        before = old
        for commit in self._way(old, new):
            if self._blob(before, here.path) != self._blob(commit, here.path):
                move = self._step(before, commit, here)
                confidence *= move.confidence
                if move.new is None or confidence < LEAST:
                    return None
                hops += 1
                here = move.new
            before = commit
        if before != new:
            return None
        return self._told(old, new, site, here, round(confidence, 2), hops)

    def _step(self, before: str, after: str, here: Site) -> Move:
        moves = Moves(self._tree(before), self._tree(after), self._facts)
        if here.qualname:
            return moves.of(here.path, here.qualname)
        return Ranges(moves).of(here.path, here.first_line, here.last_line)

    def _told(
        self, old: str, new: str, site: Site, here: Site, confidence: float, hops: int
    ) -> Move:
        moves = Moves(self._tree(old), self._tree(new), self._facts)
        if here.qualname:
            text = moves.text_change(site, here)
            is_renamed = own_name(site.qualname) != own_name(here.qualname)
            verdict = verdict_of(site, here, is_renamed, text)
        else:
            before = (moves.old.lines(site.path) or [])[site.first_line - 1 : site.last_line]
            after = (moves.new.lines(here.path) or [])[here.first_line - 1 : here.last_line]
            text = TextChange.SAME if before == after else TextChange.EDITED
            verdict = range_verdict(site, here, text)
        reason = f"Followed from commit to commit through {hops} that changed its file."
        return Move(verdict, site, here, text, confidence, reason)

    def _way(self, old: str, new: str) -> Iterator[str]:
        """The commits to go through behind the old one: back to what both have, then on."""
        from_old = {each.id: each for each in self._history.ancestors(old)}
        from_new = {each.id: each for each in self._history.ancestors(new)}
        common = next((each for each in from_old if each in from_new), None)
        if common is None:
            return
        yield from self._down(old, common, from_old)
        if new != common:
            upwards = [new, *self._down(new, common, from_new)]
            yield from reversed(upwards[:-1])

    def _down(self, start: str, goal: str, commits: dict[str, Commit]) -> Iterator[str]:
        """The commits behind ``start`` on the way to an ancestor, that one included."""
        leads = {goal}
        for each in reversed(commits.values()):
            if any(parent in leads for parent in each.parents):
                leads.add(each.id)
        while start != goal:
            start = next(parent for parent in commits[start].parents if parent in leads)
            yield start

    def _blob(self, commit: str, path: str) -> str | None:
        return self._history.files(self._history.commit(commit)).get(path)

    def _tree(self, commit: str) -> Tree:
        if commit not in self._trees:
            self._trees[commit] = self._history.tree(commit)
        return self._trees[commit]
