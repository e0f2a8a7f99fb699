"""A bare repository served over smart HTTP from this machine, counting what it sends."""

import http.server
import os
import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks.measure import Run, Sample


class Server:
    """Runs ``git http-backend`` for one repository on a free port of the loopback address."""

    def __init__(self, repository: Path) -> None:
        self._sent = 0
        handler = _handler(repository, self._count)
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def address(self) -> str:
        """What to fetch from."""
        return f"http://127.0.0.1:{self._server.server_port}/"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def counting(self, fetch: Run) -> Run:
        """The same run, its sample saying how many bytes were sent to it."""

        def counted() -> Sample:
            before = self._sent
            sample = fetch()
            return replace(sample, received=self._sent - before)

        return counted

    def _count(self, size: int) -> None:
        self._sent += size


def _handler(
    repository: Path, count: Callable[[int], None]
) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(b"")

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers["Content-Length"])))

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

        def _answer(self, body: bytes) -> None:
            path, _, query = self.path.partition("?")
            answered = subprocess.run(
                ["git", "http-backend"],
                input=body,
                stdout=subprocess.PIPE,
                check=True,
                env={
                    **os.environ,
                    "GIT_CONFIG_GLOBAL": os.devnull,
                    "GIT_PROJECT_ROOT": str(repository),
                    "GIT_HTTP_EXPORT_ALL": "1",
                    "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                    "REQUEST_METHOD": self.command,
                    "PATH_INFO": path,
                    "QUERY_STRING": query,
                    "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                    "CONTENT_LENGTH": str(len(body)),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                },
            ).stdout
            headers, _, content = answered.partition(b"\r\n\r\n")
            self.send_response(200)
            for line in headers.decode("ascii").splitlines():
                name, _, value = line.partition(":")
                self.send_header(name, value.strip())
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            count(len(content))

    return Handler
