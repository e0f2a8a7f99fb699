"""Source distributions, sound and hostile, and a package index that serves them."""

import gzip
import hashlib
import html
import http.server
import io
import tarfile
import zipfile
from collections.abc import Iterable, Mapping

from annotate.pin import Release

Member = tuple[tarfile.TarInfo, bytes]


def file(name: str, data: bytes = b"") -> Member:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    return info, data


def other(name: str, kind: bytes, target: str = "") -> Member:
    """Make a member that is no regular file: a link, a device, a folder."""
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    return info, b""


def tar_gz(members: Iterable[Member], tar_format: int = tarfile.PAX_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", format=tar_format) as tar:
        for info, data in members:
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def sdist(files: Mapping[str, bytes], top: str = "upstream-1.0") -> bytes:
    return tar_gz(file(f"{top}/{path}", data) for path, data in files.items())


def zip_of(members: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def truncated_tar_gz(archive: bytes, kept: int) -> bytes:
    """Cut the tar, not its compression, after so many bytes."""
    return gzip.compress(gzip.decompress(archive)[:kept], mtime=0)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def release_of(archive: bytes, version: str = "1.0") -> Release:
    return Release("upstream", version, sha256(archive))


class IndexServer(http.server.ThreadingHTTPServer):
    """A simple package index (PEP 503) of one project, ``upstream``, on loopback.

    Attributes:
        archives: file name → bytes.
        hashes: whether the project page tells the sha256 of each archive.
        page: serve these bytes as the project page instead, if not None.
        status: answer every request with this status instead, if it is not 0.
        labels: whether archives are sent as compressed text (``Content-Encoding: gzip``), as some
            servers do with all that ends in ``.gz``, to a client that accepts it.
        missing: how many bytes at the end of each archive are promised but not sent.
        requests: the path of each request.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _IndexHandler)
        self.archives: dict[str, bytes] = {}
        self.hashes = True
        self.page: bytes | None = None
        self.status = 0
        self.labels = False
        self.missing = 0
        self.requests: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/simple"


class _IndexHandler(http.server.BaseHTTPRequestHandler):
    server: IndexServer

    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        archive = self.server.archives.get(self.path.removeprefix("/files/"))
        if self.server.status:
            self._answer(self.server.status, "text/plain", b"")
        elif self.path == "/simple/upstream/":
            page = self.server.page
            self._answer(200, "text/html", self._project_page() if page is None else page)
        elif archive is not None:
            self._answer(200, "application/octet-stream", archive, self.server.missing)
        else:
            self._answer(404, "text/plain", b"")

    def log_message(self, *arguments: object) -> None:
        pass

    def _project_page(self) -> bytes:
        links = (
            f'<a href="/files/{html.escape(name)}'
            + (f"#sha256={sha256(data)}" if self.server.hashes else "")
            + f'">{html.escape(name)}</a>'
            for name, data in self.server.archives.items()
        )
        return f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>".encode()

    def _answer(self, status: int, content_type: str, body: bytes, missing: int = 0) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        accepted = self.headers.get("Accept-Encoding", "")
        if self.server.labels and self.path.endswith(".gz") and "gzip" in accepted:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(body[: len(body) - missing])
