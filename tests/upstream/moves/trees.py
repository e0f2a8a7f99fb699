"""Trees out of dictionaries, and cases out of text files."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from annotate.pin import Pin
from annotate.upstream.tree import Tree, TreeFile, blob_id


def tree(files: Mapping[str, str | bytes], name: str = "tree") -> Tree:
    """A tree that lies in memory."""
    contents = {
        path: data.encode() if isinstance(data, str) else data for path, data in files.items()
    }
    blobs = {blob_id(data): data for data in contents.values()}
    listed = {path: TreeFile(blob_id(data), len(data)) for path, data in sorted(contents.items())}
    return Tree(Pin("upstream", "", ""), "folder", name, listed, blobs.__getitem__)


@dataclass(frozen=True)
class Case:
    """Two trees, and what is to be said of the old one's definitions.

    ``expected``: old id → (verdict, new id or ""); what is not named is unchanged.
    """

    old: dict[str, str]
    new: dict[str, str]
    expected: dict[str, tuple[str, str]]
    added: set[str]


def read_case(file: Path) -> Case:
    """Read a case: a title, then sections ``=== old PATH``, ``=== new PATH``, ``=== expect``."""
    old: dict[str, str] = {}
    new: dict[str, str] = {}
    expected: dict[str, tuple[str, str]] = {}
    added: set[str] = set()
    for section in file.read_text(encoding="utf-8").split("\n=== ")[1:]:
        head, _, body = section.partition("\n")
        kind, _, path = head.partition(" ")
        if kind == "expect":
            for line in filter(None, body.splitlines()):
                source, _, answer = line.partition(" => ")
                verdict, _, target = answer.partition(" ")
                if source == "+":
                    added.add(verdict)
                else:
                    expected[source] = (verdict, target)
        else:
            text = body if body.endswith("\n") else f"{body}\n"
            (old if kind == "old" else new)[path] = text
    assert old, file
    assert new, file
    assert expected or added, file
    return Case(old, new, expected, added)
