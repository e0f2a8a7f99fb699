"""One tree as the comparison sees it: blob ids, facts, texts."""

from functools import cached_property

from annotate.errors import AnnotateError
from annotate.upstream import syntax
from annotate.upstream.index import PYTHON_SUFFIXES
from annotate.upstream.moves.facts import Definition, Facts, FileFacts
from annotate.upstream.moves.move import Site
from annotate.upstream.tree import MAX_FILE_BYTES, Tree


class Snapshot:
    """A tree with its facts; everything is read when it is first asked for."""

    def __init__(self, tree: Tree, facts: Facts) -> None:
        self.tree = tree
        self._facts = facts
        self._texts: dict[str, str | None] = {}

    @cached_property
    def blobs(self) -> dict[str, str]:
        """Path → blob id; looked up once, since a folder hashes a file at every look."""
        return {path: self.tree.files[path].blob for path in self.tree.files}

    def file(self, path: str) -> FileFacts | None:
        """The facts of one file; None where there are none."""
        if path not in self.tree.files:
            return None
        return self._facts.file(self.tree, path)

    def text(self, path: str) -> str | None:
        """The decoded text of a file; None where it has none that can be judged."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def lines(self, path: str) -> list[str] | None:
        """The lines of a file, without the empty one behind its last newline."""
        text = self.text(path)
        return None if text is None else text.removesuffix("\n").split("\n")

    def definition_text(self, path: str, definition: Definition) -> str:
        """The canonical text of a definition of this tree."""
        text = self.text(path) or ""
        lines = text.split("\n")[definition.first_line - 1 : definition.last_line]
        if definition.last_column is not None:
            lines[-1] = lines[-1][: definition.last_column]
        lines[0] = lines[0][definition.first_column :]
        return syntax.canonical("\n".join(lines))

    def _read(self, path: str) -> str | None:
        file = self.tree.files.get(path)
        if file is None or file.size > MAX_FILE_BYTES:
            return None
        decode = syntax.decode if path.endswith(PYTHON_SUFFIXES) else syntax.decode_text
        try:
            return decode(self.tree.read(path))
        except AnnotateError:
            return None


def site(path: str, definition: Definition) -> Site:
    """Where a definition stands."""
    return Site(path, definition.qualname, definition.first_line, definition.last_line)
