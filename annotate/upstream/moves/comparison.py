"""Two trees side by side: what became of each definition of the old one."""

import re
from collections.abc import Iterator
from functools import cached_property

from annotate.errors import AnnotateError, Exit
from annotate.upstream import syntax
from annotate.upstream.moves.facts import Definition, Facts, FileFacts
from annotate.upstream.moves.files import FileMoves
from annotate.upstream.moves.match import Match, Matcher
from annotate.upstream.moves.move import Change, Move, Site, TextChange, verdict_of
from annotate.upstream.moves.node import Node
from annotate.upstream.moves.parts import Apart
from annotate.upstream.moves.snapshot import Snapshot, site
from annotate.upstream.tree import Tree


class Moves:
    """What moved between two trees, in either direction of time.

    Files with the same path and content are never looked into.

    Attributes:
        old: the tree that is asked about.
        new: the tree in which things are looked for.
        files: which files went where.
    """

    def __init__(self, old: Tree, new: Tree, facts: Facts) -> None:
        self.old = Snapshot(old, facts)
        self.new = Snapshot(new, facts)
        self.files = FileMoves(self.old, self.new)
        self._moves: dict[tuple[str, str], Move] = {}

    def of(self, path: str, qualname: str) -> Move:
        """What became of one definition of the old tree.

        Raises:
            AnnotateError: the old tree has no such definition, or its file cannot be judged.
        """
        move = self._moves.get((path, qualname))
        if move is None:
            move = self._moves[path, qualname] = self._judge(path, self._definition(path, qualname))
        return move

    def all(self) -> Iterator[Move]:
        """What became of every definition of the old tree, file by file."""
        for path in self.old.blobs:
            facts = self.old.file(path)
            for definition in facts.definitions if facts else ():
                yield self.of(path, definition.qualname)

    def changed(self) -> Iterator[Move]:
        """The same for the files only that differ."""
        for node in self._matcher.old_nodes:
            yield self.of(node.path, node.definition.qualname)

    def added(self) -> list[Site]:
        """The definitions of the new tree that no old one became, file by file."""
        places = {move.new for move in self.changed() if move.new is not None}
        return [node.site for node in self._matcher.new_nodes if node.site not in places]

    def own_text_changed(self, move: Move) -> bool:
        """Whether a definition with a place changed outside the definitions inside it."""
        if move.new is None:
            return True
        (before, number_before), (after, number_after) = self._facts_of(move.old, move.new)
        return before.own_tokens(number_before) != after.own_tokens(number_after)

    @cached_property
    def _matcher(self) -> Matcher:
        return Matcher(self.old, self.new, self.files)

    @cached_property
    def _apart(self) -> Apart:
        return Apart(self._matcher)

    @cached_property
    def _nodes(self) -> dict[tuple[str, str], Node]:
        return {(node.path, node.definition.qualname): node for node in self._matcher.old_nodes}

    def _definition(self, path: str, qualname: str) -> Definition:
        facts = self.old.file(path)
        number = None if facts is None else facts.by_name.get(qualname)
        if facts is None or number is None:
            raise AnnotateError(
                f"{self.old.tree.identity} has no symbol {path}::{qualname}",
                "`annotate symbols` lists all.",
                exit_code=Exit.NOTHING_JUDGED if facts is None else Exit.USAGE,
            )
        return facts.definitions[number]

    def _judge(self, path: str, definition: Definition) -> Move:
        old = site(path, definition)
        if definition.doubt:
            return Move(Change.UNVERIFIABLE, old, None, None, 1.0, f"{definition.doubt}.")
        if self.new.blobs.get(path) == self.old.blobs[path]:
            return Move(
                Change.UNCHANGED,
                old,
                old,
                TextChange.SAME,
                1.0,
                "The file is the same, byte for byte.",
            )
        node = self._nodes[path, definition.qualname]
        match = self._matcher.matches.get(node.key)
        if match is not None:
            return self._found(match)
        if rivals := self._matcher.rivals.get(node.key):
            return _several(node, rivals, self._matcher)
        return self._lost(node)

    def _found(self, match: Match) -> Move:
        old, new = match.old, match.new
        if new.definition.doubt:
            reason = f"{new.site.id}: {new.definition.doubt}."
            return Move(Change.UNVERIFIABLE, old.site, None, None, 1.0, reason, (new.site,))
        text = self.text_change(old.site, new.site)
        verdict = verdict_of(old.site, new.site, old.name != new.name, text)
        return Move(
            verdict,
            old.site,
            new.site,
            text,
            _confidence(match, text),
            self._reason(match, text),
            tuple(copy.site for copy in match.copies),
        )

    def text_change(self, old: Site, new: Site) -> TextChange:
        """What became of a definition's text, given both places; its own name does not count."""
        before, after = self._facts_of(old, new)
        facts_before, number_before = before
        facts_after, number_after = after
        definition = facts_before.definitions[number_before]
        other = facts_after.definitions[number_after]
        if definition.text == other.text:
            return TextChange.SAME
        text_before = self.old.definition_text(old.path, definition)
        text_after = self.new.definition_text(new.path, other)
        if definition.name != other.name and definition.name.isidentifier():
            text_before = re.sub(rf"\b{re.escape(definition.name)}\b", other.name, text_before)
        if text_before == text_after:
            return TextChange.SAME
        if definition.end - definition.start != other.end - other.start:
            return TextChange.EDITED
        same = syntax.token_fingerprint(text_before) == syntax.token_fingerprint(text_after)
        return TextChange.REFORMATTED if same else TextChange.EDITED

    def _facts_of(
        self, old: Site, new: Site
    ) -> tuple[tuple[FileFacts, int], tuple[FileFacts, int]]:
        before, after = self.old.file(old.path), self.new.file(new.path)
        assert before is not None
        assert after is not None
        return (before, before.by_name[old.qualname]), (after, after.by_name[new.qualname])

    def _reason(self, match: Match, text: TextChange) -> str:
        alike = {
            TextChange.SAME: "the text is the same",
            TextChange.REFORMATTED: "the same tokens in another layout, or with other comments",
            TextChange.EDITED: f"{match.fit.similarity:.0%} of its tokens are the same",
        }[text]
        if match.stayed and match.old.definition.qualname == match.new.definition.qualname:
            context = "The name and the file are the same"
        elif match.stayed:
            context = "The name is the same but for its number"
        else:
            grounds = []
            if match.fit.same_name:
                grounds.append("the name is the same")
            if match.fit.same_container and match.old.container is not None:
                grounds.append(f"it is inside what became of {match.old.container.plain_name}")
            elif match.fit.same_container and match.old.path != match.new.path:
                grounds.append(self.files.of(match.old.path).reason)
            if match.fit.near:
                grounds.append("a neighbour moved along")
            context = "; ".join(grounds) or "No other definition is as much like it"
            context = context[0].upper() + context[1:]
        reason = f"{context}; {alike}"
        if match.copies:
            reason += f"; its old text also stands at {_listed(match.copies)}"
        elif match.stayed and text is TextChange.EDITED and match.fit.similarity < 0.9:
            pieces = self._apart.pieces(match.old)
            if pieces:
                reason += f"; part of it is now {_listed(pieces)}"
        return f"{reason}."

    def _lost(self, node: Node) -> Move:
        if self._unreadable_now(node.path):
            reason = f"{node.path} cannot be read in {self.new.tree.identity}."
            return Move(Change.UNVERIFIABLE, node.site, None, None, 1.0, reason)
        parts = self._apart.of(node)
        if parts is None and node.container is not None:
            around = self.of(node.path, node.container.definition.qualname)
            if around.verdict is Change.AMBIGUOUS:
                reason = f"It is inside {around.old.qualname}. {around.reason}"
                return Move(Change.AMBIGUOUS, node.site, None, None, 0.5, reason)
        if parts is None:
            reason = f"{self.new.tree.identity} has no such name there, and nothing enough like it."
            return Move(Change.DELETED, node.site, None, None, 0.8, reason)
        sites = tuple(each.site for each in parts.nodes)
        share = f"{parts.covered:.0%} of it"
        if parts.split:
            reason = f"{share} is spread over {_listed(parts.nodes)}."
            return Move(Change.SPLIT, node.site, None, None, parts.covered, reason, sites)
        if len(parts.nodes) > 1:
            reason = f"{share} is in each of {_listed(parts.nodes)}."
            return Move(Change.AMBIGUOUS, node.site, None, None, parts.covered, reason, sites)
        reason = f"{share} is now inside {_listed(parts.nodes)}."
        return Move(Change.MERGED, node.site, None, None, parts.covered, reason, sites)

    def _unreadable_now(self, path: str) -> bool:
        target = self.files.of(path).path
        return target is not None and self.new.file(target) is None


def _several(node: Node, rivals: list[Node], matcher: Matcher) -> Move:
    best = max(matcher.similarity(node, rival) for rival in rivals)
    if len(rivals) == 1:
        reason = f"{rivals[0].site.id} is {best:.0%} like it, but as much like another definition."
    else:
        reason = f"It may be any of {_listed(rivals)}; none is the better one by enough."
    sites = tuple(rival.site for rival in rivals)
    return Move(Change.AMBIGUOUS, node.site, None, None, 0.5, reason, sites)


def _confidence(match: Match, text: TextChange) -> float:
    fit = match.fit
    if match.stayed:
        if text is not TextChange.EDITED:
            return 1.0
        return round(0.6 + 0.4 * fit.similarity - 0.1 * bool(match.copies), 2)
    context = 0.04 * (fit.same_name + fit.same_container + fit.near)
    if text is not TextChange.EDITED:
        return round(min(1.0, 0.88 + context), 2)
    return round(min(0.97, 0.4 + 0.45 * fit.similarity + context), 2)


_SHOWN = 3


def _listed(nodes: "tuple[Node, ...] | list[Node]") -> str:
    shown = [node.site.id for node in nodes[:_SHOWN]]
    more = len(nodes) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join(shown) if len(shown) < 3 else f"{shown[0]}, {shown[1]} and {shown[2]}"
