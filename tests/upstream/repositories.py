"""Git repositories built object by object, and the servers that the tests fetch from."""

import http.server
import os
import socket
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

Entry = tuple[str, bytes, str]
"""One line of a tree object: mode, name, object id."""

_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_AUTHOR_DATE": "1000000000 +0000",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_COMMITTER_DATE": "1000000000 +0000",
}


class Repository:
    """A bare repository whose objects are written as they are asked for, sound or not."""

    def __init__(self, path: Path, object_format: str = "sha1") -> None:
        self.path = path
        self.url = path.as_uri()
        path.mkdir(parents=True)
        self.git("init", "--quiet", "--bare", f"--object-format={object_format}")

    def git(self, *arguments: str, data: bytes = b"") -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.path, env=_ENVIRONMENT, input=data, capture_output=True
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip()

    def blob(self, data: bytes) -> str:
        return self.git("hash-object", "-w", "--stdin", data=data)

    def tree(self, entries: Iterable[Entry]) -> str:
        """Write a tree in the order given, without any of git's checks."""
        data = b"".join(
            mode.encode() + b" " + name + b"\0" + bytes.fromhex(object_id)
            for mode, name, object_id in entries
        )
        return self.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", data=data)

    def files(self, files: Mapping[str, bytes]) -> str:
        """Write a tree of plain files; a slash in a path makes a subtree."""
        here = {path: data for path, data in files.items() if "/" not in path}
        below: dict[str, dict[str, bytes]] = {}
        for path in files.keys() - here.keys():
            folder, _, rest = path.partition("/")
            below.setdefault(folder, {})[rest] = files[path]
        entries = [("100644", path.encode(), self.blob(data)) for path, data in here.items()]
        entries += [("40000", folder.encode(), self.files(rest)) for folder, rest in below.items()]
        return self.tree(sorted(entries, key=lambda entry: entry[1] + b"/" * (entry[0] == "40000")))

    def commit(self, tree: str, message: str = "A commit") -> str:
        """Write a commit without a parent; nothing points at it."""
        return self.git("commit-tree", "-m", message, tree)

    def branch(self, name: str, commit: str) -> None:
        self.git("update-ref", f"refs/heads/{name}", commit)


class GitServer(http.server.ThreadingHTTPServer):
    """git's smart HTTP: ``git http-backend`` behind a server on loopback.

    Attributes:
        requests: the method and path of each request.
        bytes_received: the length of all request bodies.
        bytes_sent: the length of all response bodies.
        status: answer every request with this status instead, if it is not 0.
        redirect: send every request there instead, if it is not "".
        login: the Authorization header without which requests are answered by 401, if not "".
        with_protocol_2: whether the client's wish for protocol version 2 is heard.
        pause: where set, every pack is sent only by half until the event is set.
        half_sent: set when half a pack is out.
    """

    daemon_threads = True

    def __init__(self, root: Path) -> None:
        super().__init__(("127.0.0.1", 0), _GitHandler)
        self.root = root
        self.requests: list[tuple[str, str]] = []
        self.bytes_received = 0
        self.bytes_sent = 0
        self.status = 0
        self.redirect = ""
        self.login = ""
        self.with_protocol_2 = True
        self.pause: threading.Event | None = None
        self.half_sent = threading.Event()

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server_port}/{name}"


class _GitHandler(http.server.BaseHTTPRequestHandler):
    server: GitServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])))

    def log_message(self, *arguments: object) -> None:
        pass

    def _answer(self, body: bytes) -> None:
        self.server.requests.append((self.command, self.path))
        self.server.bytes_received += len(body)
        status = self.server.status
        if self.server.redirect:
            status = 302
        elif self.server.login and self.headers.get("Authorization") != self.server.login:
            status = 401
        if status:
            self.send_response(status)
            self.send_header("Location", self.server.redirect)
            self.send_header("WWW-Authenticate", 'Basic realm="private"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        head, _, content = self._run_backend(body).partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.server.bytes_sent += len(content)
        if self.server.pause is not None and b"PACK" in content:
            self.wfile.write(content[: len(content) // 2])
            self.wfile.flush()
            self.server.half_sent.set()
            self.server.pause.wait()
            content = content[len(content) // 2 :]
        try:
            self.wfile.write(content)
        except ConnectionError:
            self.close_connection = True

    def _run_backend(self, body: bytes) -> bytes:
        path, _, query = self.path.partition("?")
        environment = _ENVIRONMENT | {
            "GIT_PROJECT_ROOT": str(self.server.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }
        if self.server.with_protocol_2 and "Git-Protocol" in self.headers:
            environment["GIT_PROTOCOL"] = self.headers["Git-Protocol"]
        return subprocess.run(
            ["git", "http-backend"], env=environment, input=body, capture_output=True
        ).stdout


@contextmanager
def serving(server: http.server.HTTPServer) -> Iterator[None]:
    """Answer requests in a thread for as long as the block runs."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def silent_port() -> Iterator[int]:
    """Open a port that takes connections and never says a word."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


@contextmanager
def full_port() -> Iterator[int]:
    """Open a port whose queue is full: what comes after gets no answer, as in a black hole."""
    with closing(socket.create_server(("127.0.0.1", 0), backlog=0)) as server:
        port = server.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        for connection in waiting:
            connection.setblocking(False)
            connection.connect_ex(("127.0.0.1", port))
        try:
            yield port
        finally:
            for connection in waiting:
                connection.close()


@contextmanager
def closed_port() -> Iterator[int]:
    """Name a port that refuses connections: bound, but not listening."""
    with closing(socket.socket()) as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]
