"""Records: what the project keeps about each symbol it quotes, under ``snippets/``.

One TOML file per upstream module, ``snippets/<upstream>/<path>.toml``; it names the module in
``path`` and holds one table per symbol. The upstream text itself is never recorded, only its
fingerprints, so that a repository can talk about code it does not carry.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotate.config import read_toml
from annotate.edit import write_atomically
from annotate.errors import AnnotateError
from annotate.location import Location, is_safe_path

_SHA256 = re.compile(r"[0-9a-f]{64}")
_KEYS = {"path": "path#1"}
"""Symbols whose name already says something else in a file of records."""
_QUALNAMES = {key: qualname for qualname, key in _KEYS.items()}


@dataclass(frozen=True, slots=True)
class Note:
    """A remark tied to the one line of a symbol on which ``at`` occurs.

    ``text`` maps a language code to the remark in that language.
    """

    at: str
    text: Mapping[str, str]
    location: Location


@dataclass(frozen=True, slots=True)
class Record:
    """What is kept about one symbol.

    Attributes:
        path: the module's path in the upstream tree.
        qualname: the symbol in it.
        text: sha256 of its canonical text (`annotate.upstream.syntax.text_fingerprint`).
        tokens: sha256 of its tokens (`annotate.upstream.syntax.token_fingerprint`).
        recorded: the commit or release the fingerprints were read from.
        role: language code → the part the symbol plays, in a few words.
        notes: remarks on single lines.
        location: where the record itself stands.
    """

    path: str
    qualname: str
    text: str
    tokens: str
    recorded: str
    role: Mapping[str, str]
    notes: tuple[Note, ...]
    location: Location

    @property
    def symbol(self) -> str:
        """The symbol's id."""
        return f"{self.path}::{self.qualname}"


class Records:
    """The records of one project, by upstream and symbol."""

    def __init__(self, records: Mapping[tuple[str, str, str], Record]) -> None:
        self._records = records

    def __iter__(self) -> Iterator[tuple[str, Record]]:
        """Pairs of upstream name and record, sorted."""
        for key in sorted(self._records):
            yield key[0], self._records[key]

    def __len__(self) -> int:
        return len(self._records)

    def get(self, upstream: str, path: str, qualname: str) -> Record | None:
        """The record of a symbol, or None."""
        return self._records.get((upstream, path, qualname))


def load(root: Path, folder: Path, upstreams: Iterable[str]) -> Records:
    """Read all records below ``folder``; one that does not exist holds none.

    Messages and locations give paths relative to ``root``.

    Raises:
        AnnotateError: a file is malformed, or two of them record the same symbol.
    """
    known = set(upstreams)
    records: dict[tuple[str, str, str], Record] = {}
    for file in sorted(folder.rglob("*.toml")) if folder.is_dir() else ():
        upstream = file.relative_to(folder).parts[0]
        name = file.relative_to(root).as_posix()
        if upstream not in known:
            raise AnnotateError(
                f"{name} records an upstream that is not configured: “{upstream}”",
                f"Configured: {', '.join(sorted(known))}. Records lie in a folder of that name.",
            )
        for record in _read(file, name):
            key = (upstream, record.path, record.qualname)
            if key in records:
                raise AnnotateError(
                    f"{record.symbol} is recorded twice, "
                    f"at {records[key].location} and at {record.location}",
                    "Keep one of the two.",
                )
            records[key] = record
    return Records(records)


def record_file(folder: Path, upstream: str, path: str) -> Path:
    """Where the records of one upstream module belong, unless they stand elsewhere already."""
    return folder / upstream / f"{path}.toml"


def write(
    file: Path,
    path: str,
    fingerprints: Mapping[str, tuple[str, str]],
    recorded: str,
) -> None:
    """Write the fingerprints of symbols of one module; notes, roles and comments stay.

    Args:
        file: the file of these records; written atomically.
        path: the module's path in the tree.
        fingerprints: qualified name → (text, tokens).
        recorded: the commit or release they were read from.

    Raises:
        AnnotateError: the file holds the records of another module, or cannot be written.
    """
    # Only writing needs a TOML library that keeps comments and layout; checking must stay quick.
    import tomlkit

    newline = "\n"
    if file.exists():
        text = file.read_bytes().decode("utf-8-sig")
        if "\r\n" in text:
            newline = "\r\n"
        document = tomlkit.parse(text.replace("\r\n", "\n"))
        if document.get("path") != path:
            raise AnnotateError(
                f"{file} records the module {document.get('path')}, not {path}",
                f'Move it to where that module belongs, or set path = "{path}" in it.',
            )
    else:
        document = tomlkit.document()
        document["path"] = path
    for qualname, (text_print, token_print) in fingerprints.items():
        key = _KEYS.get(qualname, qualname)
        table = document.get(key)
        if table is None:
            document.add(tomlkit.nl())
            table = tomlkit.table()
            document[key] = table
        table["text"], table["tokens"], table["recorded"] = text_print, token_print, recorded
    write_atomically(file, tomlkit.dumps(document).replace("\n", newline).encode())


def _read(file: Path, name: str) -> Iterator[Record]:
    document = read_toml(file)
    path = document.pop("path", None)
    if not isinstance(path, str) or not is_safe_path(path):
        raise AnnotateError(
            f"{name} does not say which module it records",
            'Start it with path = "package/module.py".',
        )
    lines = file.read_text("utf-8-sig").split("\n")
    for qualname, table in document.items():
        location = Location(name, _line_of_table(lines, qualname))
        if not isinstance(table, dict):
            raise AnnotateError(
                f"{location}: “{qualname}” must be a table, one for each symbol",
                f'Write its keys below ["{qualname}"].',
            )
        yield _record(path, _QUALNAMES.get(qualname, qualname), table, location, lines)


def _record(
    path: str, qualname: str, table: dict[str, Any], location: Location, lines: list[str]
) -> Record:
    for key in table:
        if key not in ("text", "tokens", "recorded", "role", "notes"):
            hint = "Known: text, tokens, recorded, role.LANGUAGE, notes."
            if isinstance(table[key], dict):
                hint += f' A name with a dot needs quotes: ["{qualname}.{key}"].'
            raise AnnotateError(
                f"{location}: the record of {qualname} has an unknown key “{key}”", hint
            )
    for key in ("text", "tokens"):
        if not isinstance(table.get(key), str) or not _SHA256.fullmatch(table[key]):
            raise AnnotateError(
                f"{location}: {key} of {qualname} is not a sha256 digest",
                f"Take the table out; annotate accept {path}::{qualname} writes another.",
            )
    if not isinstance(table.get("recorded"), str):
        raise AnnotateError(
            f"{location}: the record of {qualname} does not say where it was recorded from",
            f"Take the table out; annotate accept {path}::{qualname} writes another.",
        )
    notes = table.get("notes", [])
    if not isinstance(notes, list):
        raise AnnotateError(
            f"{location}: notes of {qualname} must be a list of tables",
            f'Begin each with [["{qualname}".notes]].',
        )
    return Record(
        path=path,
        qualname=qualname,
        text=table["text"],
        tokens=table["tokens"],
        recorded=table["recorded"],
        role=_texts(table.get("role", {}), f"{location}: role of {qualname}"),
        notes=tuple(_notes(notes, location, lines)),
        location=location,
    )


def _notes(tables: list[object], record: Location, lines: list[str]) -> Iterator[Note]:
    after = record.line
    for table in tables:
        note = _note(table, Location(record.path, after), lines)
        after = note.location.line
        yield note


def _note(table: object, record: Location, lines: list[str]) -> Note:
    if not isinstance(table, dict) or not isinstance(table.get("at"), str) or not table["at"]:
        raise AnnotateError(
            f"{record}: a note does not say which code it is about", 'Add at = "a piece of it".'
        )
    text = {key: value for key, value in table.items() if key != "at"}
    location = Location(record.path, _line_of_note(lines, record.line, table["at"]))
    return Note(table["at"], _texts(text, f"{location}: the note"), location)


def _texts(table: object, where: str) -> Mapping[str, str]:
    if not isinstance(table, dict) or not all(isinstance(text, str) for text in table.values()):
        raise AnnotateError(f"{where} must map language codes to text", 'For example en = "…".')
    return dict(table)


def _line_of_table(lines: list[str], qualname: str) -> int:
    """The line of a symbol's header; tomllib keeps no positions."""
    escaped = qualname.replace("\\", "\\\\").replace('"', '\\"')
    headers = (f'["{escaped}"]', f"['{qualname}']", f"[{qualname}]")
    for number, line in enumerate(lines, 1):
        if line.strip() in headers:
            return number
    return 1


def _line_of_note(lines: list[str], after: int, at: str) -> int:
    for number, line in enumerate(lines[after:], after + 1):
        if line.lstrip().startswith("at") and _value_of_line(line) == at:
            return number
    return after


def _value_of_line(line: str) -> object:
    try:
        return tomllib.loads(line).get("at")
    except tomllib.TOMLDecodeError:
        return None
