"""Where a reader's browser takes Python from: a content delivery network, or the site itself.

Pyodide (https://pyodide.org) is CPython compiled to WebAssembly; its lock file names the wheels
that were built for it, with their sha256.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from annotate.errors import AnnotateError

PACKAGES = ("numpy",)
"""What experiments may import besides the standard library and the pinned code."""

LOCK = "pyodide-lock.json"
FILES = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", LOCK)
"""What Pyodide consists of, in the order in which it loads itself."""

_CDN = "https://cdn.jsdelivr.net"
_CDN_VERSION = "0.27.7"
_CDN_BYTES = 16_900_000
# Of the files of the npm package `pyodide` 0.27.7, which the CDN serves under /npm/ unchanged.
_CDN_INTEGRITY = {
    "pyodide.js": "sha384-90so5tCKvl0xs9agU29IMKlAVzhfzFX7QO//YxQkRhJG58bBZrFN+2ZTRB026X5X",
    "pyodide.asm.js": "sha384-J3SxzZJh4tkb2bgoUc72zArF45FJ+ngsbiqNsmxqkkecNVpZ/bUHAM0JMp+YPVpx",
    "pyodide.asm.wasm": "sha384-wDap6JvXxf3C8g5beY3kd1xMIjAtw/oTKjTqGltdxc+B9VXnYyYBoM7hveNKilxM",
    "python_stdlib.zip": "sha384-VLeJs79hxVEBNt1hRU5Wo7VmBcyb4sdW564EJAvEWDin3Aa3QXLHm3E5mOg2GiFH",
    LOCK: "sha384-1cFE0bj3+mm1a83kcqiWxoaBhrf6jPPJJORlx1TComnZ0WaHwE4znlohwPXL5tUL",
}
_CDN_WHEELS = {
    # From the lock file of that version.
    "numpy-2.0.2-cp312-cp312-pyodide_2024_0_wasm32.whl": (
        "ebb61241d962b98b21597d7ce43b67668a6d5bab3acec4fbe958657320d7cd08"
    ),
}


@dataclass(frozen=True, slots=True)
class Runtime:
    """A Pyodide that browsers can load.

    Attributes:
        version: Pyodide's.
        base: the address of its files, ending in a slash; relative to the site's own files of
            *Run* where `files` is not empty.
        wheels: the addresses of the packages' wheels, relative to `base` or absolute.
        integrity: address, as in `base` + file name or `wheels` → what Subresource Integrity has
            the browser check (https://www.w3.org/TR/SRI/).
        size: bytes before compression, all together.
        files: what the site has to carry: file name below `base` → file.
    """

    version: str
    base: str
    wheels: tuple[str, ...]
    integrity: Mapping[str, str]
    size: int
    files: Mapping[str, Path]

    @property
    def host(self) -> str:
        """The host that is asked for it, or "" for the site's own."""
        return urlsplit(self.base).netloc


def from_cdn() -> Runtime:
    """The Pyodide of a content delivery network, each of its files checked by the browser."""
    base = f"{_CDN}/npm/pyodide@{_CDN_VERSION}/"
    wheels = {
        f"{_CDN}/pyodide/v{_CDN_VERSION}/full/{name}": digest
        for name, digest in _CDN_WHEELS.items()
    }
    integrity = {f"{base}{name}": digest for name, digest in _CDN_INTEGRITY.items()}
    integrity |= {
        address: f"sha256-{base64.b64encode(bytes.fromhex(digest)).decode()}"
        for address, digest in wheels.items()
    }
    return Runtime(
        version=_CDN_VERSION,
        base=base,
        wheels=tuple(wheels),
        integrity=MappingProxyType(integrity),
        size=_CDN_BYTES,
        files=MappingProxyType({}),
    )


def from_folder(folder: Path, base: str) -> Runtime:
    """A copy of Pyodide and its wheels in a folder, to be carried by the site below ``base``.

    Raises:
        AnnotateError: a file is missing, its lock file cannot be read, or a wheel is not the one
            that the lock file names.
    """
    try:
        lock = json.loads(_existing(folder, LOCK).read_bytes())
        version = str(lock["info"]["version"])
        digests = _wheels(lock["packages"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AnnotateError(
            f"{folder / LOCK} cannot be read: {error!r}", "Take it from a release of Pyodide."
        ) from error
    files = {name: _existing(folder, name) for name in (*FILES, *digests)}
    for name, digest in digests.items():
        if hashlib.sha256(files[name].read_bytes()).hexdigest() != digest:
            raise AnnotateError(
                f"{files[name]} is not the file that {LOCK} names (its sha256 differs)",
                f"Take the one that was made for Pyodide {version}.",
            )
    return Runtime(
        version=version,
        base=base,
        wheels=tuple(digests),
        integrity=MappingProxyType({}),
        size=sum(path.stat().st_size for path in files.values()),
        files=MappingProxyType(files),
    )


def _wheels(packages: Mapping[str, Mapping[str, object]]) -> dict[str, str]:
    """File name → sha256 of the wheels of `PACKAGES` and all that they depend on."""
    digests: dict[str, str] = {}
    waiting = list(PACKAGES)
    while waiting:
        package = packages[waiting.pop()]
        name = str(package["file_name"])
        if name not in digests:
            digests[name] = str(package["sha256"])
            depends = package["depends"]
            waiting += depends if isinstance(depends, list) else []
    return digests


def _existing(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        wanted = ", ".join(FILES)
        raise AnnotateError(
            f"{folder} has no {name}",
            f"A folder for Run holds {wanted} of one release of Pyodide, and its wheel of numpy.",
        )
    return path
