"""A project's configuration: what is pinned and where its pages and records are."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotate.errors import AnnotateError
from annotate.location import is_safe_path
from annotate.pin import Pin, Release, is_full_commit

EXPERIMENTS = "docs/experiments"
"""The folder of the experiment scripts; their recordings lie in ``recordings`` in it."""

FILE_NAMES = ("annotate.toml", "pyproject.toml")
DEFAULT_PAGES = ("docs/**/*.md", "docs/**/*.txt")
PAGES_WITHOUT_DOCS = ("**/*.md", "**/*.txt")


@dataclass(frozen=True, slots=True)
class Config:
    """What one project says about itself.

    Attributes:
        root: the folder that holds the configuration file; all other paths are relative to it.
        file: the configuration file.
        pins: the upstreams, in the order of the file; never empty.
        pages: glob patterns of the pages that make claims.
        records: the folder of the records.
    """

    root: Path
    file: Path
    pins: tuple[Pin, ...]
    pages: tuple[str, ...]
    records: Path

    def pin(self, name: str) -> Pin:
        """The pin of that name.

        Raises:
            AnnotateError: no upstream has this name.
        """
        for pin in self.pins:
            if pin.name == name:
                return pin
        names = ", ".join(pin.name for pin in self.pins)
        raise AnnotateError(
            f"no upstream is called “{name}”", f"{self.file.name} configures: {names}."
        )


def load(start: Path) -> Config:
    """Read the configuration of the project that contains ``start``.

    ``annotate.toml`` wins over ``pyproject.toml`` in one folder; the nearest folder upwards that
    configures annotate is the project. In ``annotate.toml`` the tables may stand with or without
    their ``tool.annotate`` prefix.

    Raises:
        AnnotateError: there is no configuration, or it is malformed; the message names the place.
    """
    for folder in (start.resolve(), *start.resolve().parents):
        for name in FILE_NAMES:
            file = folder / name
            if file.is_file():
                table = _annotate_table(file)
                if table is not None:
                    return _config(folder, file, table)
    raise AnnotateError(
        f"no annotate configuration in {start} or above it",
        "Add [tool.annotate.upstream.NAME] with repository and commit to pyproject.toml, "
        "or to an annotate.toml.",
    )


def read_toml(file: Path) -> dict[str, Any]:
    """Parse one TOML file.

    Raises:
        AnnotateError: it cannot be read, is not UTF-8, or is malformed; with line and column.
    """
    try:
        return tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise AnnotateError(
            f"{file} cannot be read: {error.strerror}", "Check that it exists and its permissions."
        ) from error
    except UnicodeDecodeError as error:
        raise AnnotateError(
            f"{file} is not UTF-8 (byte {error.start})", "Save it as UTF-8; TOML allows no other."
        ) from error
    except RecursionError as error:
        raise AnnotateError(f"{file} is nested too deeply to be read", "Write it flat.") from error
    except tomllib.TOMLDecodeError as error:
        raise AnnotateError(
            f"{file} is not valid TOML: {error}",
            "Mend the line it names; https://toml.io tells how.",
        ) from error


def _annotate_table(file: Path) -> dict[str, Any] | None:
    document = read_toml(file)
    tool = document.get("tool")
    if isinstance(tool, dict) and "annotate" in tool:
        return _table(tool["annotate"], file, "tool.annotate")
    return document if file.name == "annotate.toml" else None


def _config(root: Path, file: Path, table: dict[str, Any]) -> Config:
    _refuse_unknown(table, ("upstream", "pages", "records"), file, "tool.annotate")
    upstreams = _table(table.get("upstream", {}), file, "upstream")
    if not upstreams:
        raise AnnotateError(
            f"{file} pins no upstream",
            "Add [tool.annotate.upstream.NAME] with repository and commit.",
        )
    pins = tuple(
        _pin(root, name, _table(upstream, file, f"upstream.{name}"), file)
        for name, upstream in upstreams.items()
    )
    default = DEFAULT_PAGES if (root / "docs").is_dir() else PAGES_WITHOUT_DOCS
    return Config(
        root=root,
        file=file,
        pins=pins,
        pages=_patterns(table.get("pages", list(default)), file),
        records=root / _folder(table, "records", "snippets", file),
    )


def _patterns(value: object, file: Path) -> tuple[str, ...]:
    hint = 'Write them relative to the project, for example pages = ["docs/**/*.md"].'
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise AnnotateError(f"{file}: pages must be a list of glob patterns", hint)
    for pattern in value:
        if not is_safe_path(pattern):
            raise AnnotateError(f"{file}: pages: “{pattern}” does not stay in the project", hint)
        if any("**" in part and part != "**" for part in pattern.split("/")):
            message = f"{file}: pages: “{pattern}” has a ** that is not a whole folder name"
            raise AnnotateError(message, hint)
    return tuple(value)


def _pin(root: Path, name: str, table: dict[str, Any], file: Path) -> Pin:
    where = f"{file}: upstream.{name}"
    _refuse_unknown(table, ("repository", "commit", "release"), file, f"upstream.{name}")
    if not is_safe_path(name) or "/" in name:
        raise AnnotateError(f"{where}: “{name}” cannot name an upstream", "Use letters and digits.")
    repository = _string(table, "repository", where)
    if "://" not in repository and (root / repository).is_dir():
        repository = (root / repository).resolve().as_uri()
    # An empty commit pins the release itself, which then stands in for nothing.
    pins_release = table.get("commit") == "" and "release" in table
    commit = "" if pins_release else _string(table, "commit", where)
    if commit and not is_full_commit(commit):
        raise AnnotateError(
            f"{where}: commit “{commit}” is not a full commit id",
            "Write all 40 (or 64) lower-case hex digits; branches, tags and short ids can move.",
        )
    release = None
    if "release" in table:
        entry = _table(table["release"], file, f"upstream.{name}.release")
        _refuse_unknown(entry, ("name", "version", "sha256"), file, f"upstream.{name}.release")
        release = Release(
            name=_string(entry, "name", f"{where}.release"),
            version=_string(entry, "version", f"{where}.release"),
            sha256=_string(entry, "sha256", f"{where}.release").lower(),
        )
        if len(release.sha256) != 64 or not set(release.sha256) <= set("0123456789abcdef"):
            raise AnnotateError(
                f"{where}.release: sha256 “{release.sha256}” is not a SHA-256 digest",
                "Write the 64 hex digits of the source distribution's sha256.",
            )
    return Pin(name, repository, commit, release)


def _table(value: object, file: Path, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise AnnotateError(f"{file}: {name} must be a table", f"Write it as [{name}].")
    return value


def _string(table: Mapping[str, Any], key: str, where: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise AnnotateError(f"{where}: {key} is missing", f'Add {key} = "…".')
    return value.strip()


def _folder(table: Mapping[str, Any], key: str, default: str, file: Path) -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or not is_safe_path(value):
        raise AnnotateError(
            f"{file}: {key} must be a folder inside the project",
            f'Write it relative to the project: {key} = "{default}".',
        )
    return value


def _refuse_unknown(table: Mapping[str, Any], known: Iterable[str], file: Path, where: str) -> None:
    for key in table:
        if key not in known:
            raise AnnotateError(
                f"{file}: {where} has an unknown key “{key}”", f"Known: {', '.join(known)}."
            )
