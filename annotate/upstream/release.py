"""A tree from a release: the stand-in's source distribution, checked and read as it streams by.

The package index is the client library's default, unless pip is set to another one. The archive
waits in a temporary file until its sha256 is known to be the pinned one; only then is it opened.
Nothing is extracted and no build backend runs.
"""

import configparser
import hashlib
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

import platformdirs

from annotate.errors import AnnotateError
from annotate.pin import Pin, Release
from annotate.upstream.archive import Archive
from annotate.upstream.store import Progress, Store, unavailable
from annotate.upstream.tree import Tree

if TYPE_CHECKING:
    from pypi_simple import DistributionPackage, PyPISimple


@dataclass(frozen=True, slots=True)
class Limits:
    """What a download may cost: seconds to connect, for the next bytes and for all; bytes."""

    connect: float = 4
    read: float = 20
    total: float = 600
    archive_bytes: int = 200_000_000


def fetch(pin: Pin, store: Store, progress: Progress | None, limits: Limits | None = None) -> Tree:
    """Fetch the pinned stand-in and keep its regular files in the store.

    The folder that a source distribution wraps everything in is taken off the paths. Links,
    devices and unsafe paths are left out; `Store.left_out` lists them.

    Raises:
        AnnotateError: the pin has no release (exit code ``USAGE``), or it cannot be had, is not
            the pinned archive, or is larger than the limits (exit code ``NOTHING_JUDGED``).
    """
    limits = limits or Limits()
    if pin.release is None:
        raise AnnotateError(
            f"{pin.name}: no release stands in for commit {pin.commit}",
            'Add release = { name = "…", version = "…", sha256 = "…" } to its configuration.',
        )
    with store.temporary() as folder:
        archive = _download(pin, pin.release, folder / "archive", progress, limits)
        left_out: list[str] = []
        entries = archive.entries(pin, left_out)
        return store.add_tree(pin, "release", f"release {pin.release}", entries, left_out)


def published(upstream: str, name: str, version: str, limits: Limits | None = None) -> Release:
    """Ask the package index which archive a version is: its source distribution and sha256.

    Nothing vouches for the answer but the index; a project that wants more pins the sha256.

    Args:
        upstream: the name that errors begin with.
        name: the project's name on the index.
        version: the version as the index spells it.
        limits: how long to wait.

    Raises:
        AnnotateError: the index cannot be asked, or has no hashed source distribution of it.
    """
    import pypi_simple

    limits = limits or Limits()
    endpoint = _pip_setting("index-url") or pypi_simple.PYPI_SIMPLE_ENDPOINT
    host = urlsplit(endpoint).hostname or "the package index"
    pin = Pin(upstream, "", "")
    with pypi_simple.PyPISimple(endpoint) as client:
        client.s.verify = _pip_setting("cert") or os.environ.get("SSL_CERT_FILE") or True
        try:
            page = client.get_project_page(name, timeout=(limits.connect, limits.read))
        except pypi_simple.NoSuchProjectError as error:
            raise unavailable(
                pin,
                f"the package index {host} has no project {name}",
                "Name the package with --package.",
            ) from error
        except (OSError, ValueError, pypi_simple.UnsupportedRepoVersionError) as error:
            raise unavailable(
                pin,
                f"the package index {host} cannot be asked for {name}: {_reason(error)}",
                "Check the network and pip's index-url and cert settings, which are used here too.",
            ) from error
    for package in page.packages:
        digest = package.digests.get("sha256")
        if package.package_type == "sdist" and package.version == version and digest:
            return Release(name, version, digest)
    raise unavailable(
        pin,
        f"the package index {host} has no source distribution of {name} {version}",
        "Check the version; some releases are published as wheels only.",
    )


def _download(
    pin: Pin, release: Release, path: Path, progress: Progress | None, limits: Limits
) -> Archive:
    """Bring the archive that the pinned sha256 names into a file."""
    import pypi_simple

    endpoint = _pip_setting("index-url") or pypi_simple.PYPI_SIMPLE_ENDPOINT
    host = urlsplit(endpoint).hostname or "the package index"
    timeout = (limits.connect, limits.read)
    with pypi_simple.PyPISimple(endpoint) as client:
        client.s.verify = _pip_setting("cert") or os.environ.get("SSL_CERT_FILE") or True
        try:
            package = _find(pin, release, client, host, timeout)
            client.download_package(
                package,
                path,
                verify=False,
                progress=lambda size: _Download(pin, size, progress, limits),
                timeout=timeout,
                headers={"Accept-Encoding": "identity"},
            )
        except pypi_simple.NoSuchProjectError as error:
            raise unavailable(
                pin, f"the package index {host} has no project {release.name}", "Check the name."
            ) from error
        except (OSError, ValueError, pypi_simple.UnsupportedRepoVersionError) as error:
            raise unavailable(
                pin,
                f"release {release} cannot be had from the package index {host}: {_reason(error)}",
                "Check the network and pip's index-url and cert settings, which are used here too.",
            ) from error
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != release.sha256:
        raise unavailable(
            pin,
            f"{package.filename} from {host} is not the pinned archive: its sha256 is {digest},"
            f" not {release.sha256}",
            "Trust neither until you know which of the two is wrong.",
        )
    return Archive(path, package.filename)


def _find(
    pin: Pin, release: Release, client: "PyPISimple", host: str, timeout: tuple[float, float]
) -> "DistributionPackage":
    """Find the archive on the index that the pinned sha256 names."""
    packages = client.get_project_page(release.name, timeout=timeout).packages
    for package in packages:
        if package.digests.get("sha256") == release.sha256:
            if package.package_type != "sdist":
                raise AnnotateError(
                    f"{pin.name}: the sha256 of release {release} is that of {package.filename},"
                    " which is not a source distribution",
                    "Pin the sha256 of the .tar.gz of that version.",
                )
            if package.version != release.version:
                raise AnnotateError(
                    f"{pin.name}: the sha256 of release {release} is that of {package.filename}",
                    "Pin the version and the sha256 of the same archive.",
                )
            return package
    sources = [
        package
        for package in packages
        if package.package_type == "sdist" and package.version == release.version
    ]
    unhashed = [package for package in sources if "sha256" not in package.digests]
    if unhashed:
        return unhashed[0]
    if sources:
        raise unavailable(
            pin,
            f"the package index {host} has another {sources[0].filename}: its sha256 is"
            f" {sources[0].digests['sha256']}, not {release.sha256}",
            "Trust neither until you know which of the two is wrong.",
        )
    raise unavailable(
        pin,
        f"the package index {host} has no source distribution of {release}",
        "Check the version; some releases are published as wheels only.",
    )


class _Download:
    """Follows a download for our progress, and ends one that is too large or too slow."""

    def __init__(
        self, pin: Pin, size: int | None, progress: Progress | None, limits: Limits
    ) -> None:
        self._pin, self._size, self._progress, self._limits = pin, size, progress, limits
        self._received = 0
        self._deadline = time.monotonic() + limits.total

    def __enter__(self) -> Self:
        if self._progress:
            self._progress.start(f"downloading {self._pin.release}", self._size)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._progress:
            self._progress.stop()

    def update(self, increment: int) -> None:
        """Another piece has come."""
        self._received += increment
        if self._received > self._limits.archive_bytes:
            raise unavailable(
                self._pin,
                f"release {self._pin.release} has more than {self._limits.archive_bytes:,} bytes",
                "annotate reads no larger archive.",
            )
        if time.monotonic() > self._deadline:
            raise unavailable(
                self._pin,
                f"release {self._pin.release} had not all come after {self._limits.total:g} s",
                "Try again later.",
            )
        if self._progress:
            self._progress.advance(increment)


def _pip_setting(name: str) -> str | None:
    """Read what pip is set to: a variable ``PIP_…``, or else pip's configuration files.

    Read here, because pip has no interface for it and need not be installed. Only the section
    ``[global]`` counts.
    """
    value = os.environ.get(f"PIP_{name.replace('-', '_').upper()}")
    if value:
        return value
    parser = configparser.RawConfigParser()
    for path in _pip_files():
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError) as error:
            raise AnnotateError(
                f"pip's configuration file {path} is malformed",
                "`pip config debug` shows what pip reads and where.",
            ) from error
    return parser.get("global", name, fallback=None) or None


def _pip_files() -> list[Path]:
    """List the files that pip reads, a later one overruling the earlier ones.

    After "Configuration" in pip's documentation.
    """
    file_name = "pip.ini" if os.name == "nt" else "pip.conf"
    named = os.environ.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return []
    machine = platformdirs.site_config_dir("pip", appauthor=False, multipath=True)
    folders = [*machine.split(os.pathsep), "/etc"]
    if not named:
        folders.append(str(Path.home() / ("pip" if os.name == "nt" else ".pip")))
        if sys.platform == "darwin":
            folders.append(str(Path.home() / ".config" / "pip"))
        folders.append(platformdirs.user_config_dir("pip", appauthor=False, roaming=True))
    folders.append(sys.prefix)
    files = [Path(folder) / file_name for folder in folders]
    return [*files, Path(named)] if named else files


def _reason(error: Exception) -> str:
    """Say in few words why a request failed, without the address, which may hold a login."""
    from requests import exceptions

    match error:
        case exceptions.SSLError():
            return "its certificate is not trusted"
        case exceptions.ProxyError():
            return "the proxy refuses"
        case exceptions.Timeout():
            return "no answer in time"
        case exceptions.HTTPError(response=response) if response is not None:
            return f"it answered {response.status_code}"
        case exceptions.ChunkedEncodingError() | exceptions.ContentDecodingError():
            return "the download broke off"
        case exceptions.ConnectionError():
            return "no connection"
        case exceptions.InvalidSchema() | exceptions.MissingSchema() | exceptions.InvalidURL():
            return "its address is not one over https or http"
        case exceptions.RequestException():
            return type(error).__name__
        case ValueError():
            return "its answer is not that of a package index"
        case _:
            return str(error)
