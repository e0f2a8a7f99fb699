"""Rewriting record files: fingerprints and names change, every other byte stays.

A file is cut into its head and one block for each symbol: the table's header, what follows up to
the next symbol's header, sub-tables such as notes included. TOML is not parsed again here: the
files were read before (`annotate.records`), and what is written is read again afterwards.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from annotate.errors import AnnotateError

_HEADER = re.compile(
    r"""\[\[?\s*(?P<key>"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)(?P<rest>[^\]]*)\]\]?.*"""
)
_BARE = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True)
class Change:
    """What to write about one symbol; None keeps what is there.

    Attributes:
        path: the module it belongs to now.
        qualname: its name now.
        text: the fingerprint of its text.
        tokens: the fingerprint of its tokens.
        recorded: what the fingerprints were read from.
    """

    path: str
    qualname: str
    text: str | None = None
    tokens: str | None = None
    recorded: str | None = None


@dataclass(frozen=True, slots=True)
class _Block:
    qualname: str
    lines: tuple[str, ...]


def rewrite(
    files: Mapping[str, tuple[str, str]],
    changes: Mapping[tuple[str, str], Change],
    file_of: Callable[[str], str],
    order: Callable[[str, str], int],
) -> dict[str, str | None]:
    """The record files that change.

    Args:
        files: name of each file → the module it records and its text, with LF line ends.
        changes: (module, symbol) → what to write about it.
        file_of: where the records of a module belong that has none yet.
        order: where a symbol stands in its module now, so that one which comes from another
            file finds the same place again when it goes back.

    Raises:
        AnnotateError: a symbol would be recorded twice in one file.

    Returns:
        The new text of each file that changes; None for one that has no records left.
    """
    heads: dict[str, list[str]] = {}
    blocks: dict[str, list[_Block]] = {}
    modules = {name: module for name, (module, _) in files.items()}
    for name, (_, text) in files.items():
        heads[name], blocks[name] = _cut(text)
    names = {module: name for name, module in modules.items()}
    for name in files:
        targets = {
            changes[modules[name], block.qualname].path
            if (modules[name], block.qualname) in changes
            else modules[name]
            for block in blocks[name]
        }
        # A module that moved as a whole takes its file along.
        if len(targets) == 1 and targets != {modules[name]} and not targets & names.keys():
            (target,) = targets
            new_name = file_of(target)
            heads[new_name] = [_with_value(line, "path", target) for line in heads.pop(name)]
            moved = [_changed(block, changes, modules[name]) for block in blocks.pop(name)]
            blocks[new_name] = moved
            names[target] = new_name
            modules[new_name] = target
    leaving: list[tuple[str, _Block]] = []
    for name, (module, _) in files.items():
        if name not in blocks:
            continue
        kept: list[_Block] = []
        for block in blocks[name]:
            change = changes.get((module, block.qualname))
            new = _changed(block, changes, module)
            if change is None or change.path == module:
                kept.append(new)
                continue
            leaving.append((change.path, new))
        blocks[name] = kept
    for path, block in leaving:
        target = names.setdefault(path, file_of(path))
        heads.setdefault(target, [f"path = {json.dumps(path)}", ""])
        _insert(blocks.setdefault(target, []), block, partial(order, path))
    for name, found in blocks.items():
        taken = [block.qualname for block in found]
        for qualname in taken:
            if taken.count(qualname) > 1:
                raise AnnotateError(
                    f"{name} would record {qualname} twice: it has a record of that name already",
                    "Take the older one out.",
                )
    result: dict[str, str | None] = {
        name: None for name in files if name not in blocks or not blocks[name]
    }
    for name, found in blocks.items():
        if found:
            text = "\n".join([*heads[name], *(line for block in found for line in block.lines)])
            if name not in files or text != files[name][1]:
                result[name] = text
    return {name: text for name, text in result.items() if text is not None or name in files}


def _cut(text: str) -> tuple[list[str], list[_Block]]:
    head: list[str] = []
    blocks: list[_Block] = []
    for line in text.split("\n"):
        match = _HEADER.fullmatch(line.strip())
        name = _name(match["key"]) if match else None
        is_new = name is not None and (not blocks or blocks[-1].qualname != name)
        if is_new and name is not None:
            # Comments right above a header belong to it.
            above: list[str] = []
            lines = list(blocks[-1].lines) if blocks else head
            while lines and lines[-1].startswith("#"):
                above.insert(0, lines.pop())
            if blocks:
                blocks[-1] = replace(blocks[-1], lines=tuple(lines))
            blocks.append(_Block(name, (*above, line)))
        elif blocks:
            blocks[-1] = replace(blocks[-1], lines=(*blocks[-1].lines, line))
        else:
            head.append(line)
    return head, blocks


def _changed(block: _Block, changes: Mapping[tuple[str, str], Change], module: str) -> _Block:
    change = changes.get((module, block.qualname))
    if change is None:
        return block
    lines = []
    in_table = True
    for line in block.lines:
        match = _HEADER.fullmatch(line.strip())
        if match and _name(match["key"]) == block.qualname:
            in_table = not match["rest"].strip() and not line.strip().startswith("[[")
            if change.qualname != block.qualname:
                line = line.replace(match["key"], _key(change.qualname), 1)
        elif in_table:
            for key in ("text", "tokens", "recorded"):
                value = getattr(change, key)
                if value is not None:
                    line = _with_value(line, key, value)
        lines.append(line)
    return _Block(change.qualname, tuple(lines))


def _with_value(line: str, key: str, value: str) -> str:
    """A line ``key = "old"`` with another value; any other line as it is."""
    match = re.fullmatch(rf"""(\s*{key}\s*=\s*)("[^"]*"|'[^']*')(.*)""", line)
    return f"{match[1]}{json.dumps(value)}{match[3]}" if match else line


def _insert(blocks: list[_Block], block: _Block, position: Callable[[str], int]) -> None:
    """Put a block before the first one whose symbol stands later in the module."""
    here = position(block.qualname)
    index = next(
        (n for n, other in enumerate(blocks) if position(other.qualname) > here), len(blocks)
    )
    lines = list(block.lines)
    while lines and not lines[-1].strip():
        lines.pop()
    if index and blocks[index - 1].lines[-1].strip():
        blocks[index - 1] = replace(blocks[index - 1], lines=(*blocks[index - 1].lines, ""))
    blocks.insert(index, replace(block, lines=(*lines, "")))


def _name(key: str) -> str:
    if key.startswith('"'):
        return str(json.loads(key))
    return key[1:-1] if key.startswith("'") else key


def _key(qualname: str) -> str:
    return qualname if _BARE.fullmatch(qualname) else json.dumps(qualname, ensure_ascii=False)
