"""The command line as its users run it: a process of its own, a real git repository, no network."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.projects import files_below
from tests.upstream.archives import IndexServer, sdist, sha256, truncated_tar_gz
from tests.upstream.repositories import Repository, serving

CHECKOUT = Path(__file__).resolve().parents[1]
CORE = (
    b'"""A kettle."""\n\n\ndef boil(litres):\n    return 4186 * litres\n\n\ndef pour():\n    pass\n'
)
FILES = {"README.md": b"# Kettle\n", "kettle/core.py": CORE, "kettle/__init__.py": b""}
OTHER = FILES | {"kettle/core.py": CORE.replace(b"4186", b"4200")}

EMPTY = '```{.python source="kettle/core.py::boil"}\n```\n'
EXACT = EMPTY.replace("}\n", "}\ndef boil(litres):\n    return 4186 * litres\n")
EDITED = EXACT.replace("4186", "1")
MOVED = EXACT.replace("core.py", "pots.py")
DEAD_HOST = "http://127.0.0.1:1/kettle"


@dataclass
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str


@dataclass
class Sandbox:
    """A project, a cache and an upstream that belong to one test."""

    tmp: Path
    repository: Repository
    commit: str
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.root = self.tmp / "project"
        self.root.mkdir()
        self.cache = self.tmp / "cache"

    def configure(self, repository: str = "", commit: str = "", more: str = "") -> None:
        self.write(
            "annotate.toml",
            f'[upstream.kettle]\nrepository = "{repository or self.repository.url}"\n'
            f'commit = "{commit or self.commit}"\n{more}',
        )

    def release(self, archive: bytes, hexdigest: str = "") -> str:
        """The configuration's line about a stand-in."""
        digest = hexdigest or sha256(archive)
        return f'release = {{ name = "upstream", version = "1.0", sha256 = "{digest}" }}\n'

    def write(self, name: str, text: str | bytes) -> Path:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def environ(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.tmp / "home"),
            "ANNOTATE_CACHE": str(self.cache),
            "PYTHONPATH": str(CHECKOUT),
            # Nothing answers there, so that no test asks the real package index.
            "PIP_INDEX_URL": "http://127.0.0.1:1/simple",
            "PIP_CONFIG_FILE": os.devnull,
            **self.environment,
        }

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-P", "-W", "error", "-m", "annotate.cli", *arguments]

    def run(self, *arguments: str, cwd: Path | None = None) -> Ran:
        done = subprocess.run(
            self.command(*arguments),
            cwd=cwd or self.root,
            env=self.environ(),
            capture_output=True,
            timeout=60,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in out + err, err
        return Ran(done.returncode, out, err)

    def snapshot(self) -> dict[str, tuple[bytes, int]]:
        """The bytes and times of everything in the project."""
        return {
            path: (data, (self.root / path).stat().st_mtime_ns)
            for path, data in files_below(self.root).items()
        }


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, str, str]:
    """A repository with two commits that no branch names."""
    repository = Repository(tmp_path_factory.mktemp("served") / "kettle.git")
    commits = [repository.commit(repository.files(files)) for files in (FILES, OTHER)]
    return repository, commits[0], commits[1]


@pytest.fixture
def sandbox(tmp_path: Path, upstream: tuple[Repository, str, str]) -> Sandbox:
    made = Sandbox(tmp_path, *upstream[:2])
    made.configure()
    return made


@pytest.fixture
def index(sandbox: Sandbox) -> Iterator[IndexServer]:
    """A package index, and pip set to it."""
    server = IndexServer()
    server.archives["upstream-1.0.tar.gz"] = sdist(FILES)
    sandbox.environment["PIP_INDEX_URL"] = server.url
    with serving(server):
        yield server


# Exit codes and what is printed


def test_clean(sandbox: Sandbox) -> None:
    sandbox.write("page.md", EXACT + EMPTY)
    first = sandbox.run("verify")
    assert (first.code, first.out) == (
        0,
        f"kettle: read commit {sandbox.commit}\n\n"
        "2 claims on 1 page: 2 ok, 0 notes, 0 warnings, 0 errors; 0 unclaimed\n",
    )
    assert f"kettle: fetched commit {sandbox.commit[:7]} from file://" in first.err
    again = sandbox.run("verify")
    assert (again.code, again.out) == (first.code, first.out)
    assert again.err == f"kettle: reading commit {sandbox.commit[:7]} from the store\n"


def test_failing(sandbox: Sandbox) -> None:
    sandbox.write("page.md", EDITED)
    ran = sandbox.run("verify")
    assert ran.code == 1
    assert "page.md:1: error: edited quote of kettle/core.py::boil\n" in ran.out
    assert "    found at kettle/core.py:4\n" in ran.out
    assert "    -    return 1 * litres\n    +    return 4186 * litres\n" in ran.out


@pytest.mark.parametrize(
    ("page", "message"),
    [("prose\n", "no claim found on 1 page"), (None, "no claim found on 0 pages")],
)
def test_nothing_judged(sandbox: Sandbox, page: str | None, message: str) -> None:
    if page is not None:
        sandbox.write("page.md", page)
    ran = sandbox.run("verify")
    assert ran.code == 3
    assert ran.out.endswith(f"nothing was judged: {message}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("verify", "--frobnicate"), "--frobnicate"),
        (("verify", "--format", "xml"), "'xml' is not one of"),
        (("frobnicate",), "No such command 'frobnicate'"),
        (("show",), "Missing argument 'SYMBOL'"),
        (("accept",), "name a SYMBOL, or say --new"),
        (("verify", "--source", "elsewhere"), "there is no source “elsewhere”"),
        (("show", "kettle"), "has no kettle"),
        (("show", "kettle/core.py::boyl"), "Nearest: kettle/core.py::boil"),
        (("show", "../core.py::boil"), "is not inside the upstream tree"),
        (("show", "kettle/core.py::boil", "--upstream", "pot"), "no upstream is called “pot”"),
        (("symbols", "nothing"), "no symbol of commit"),
        (("accept", "kettle/core.py::boyl"), "has no symbol kettle/core.py::boyl"),
        (("build",), "mkdocs.yml"),
    ],
)
def test_wrong_usage(sandbox: Sandbox, arguments: tuple[str, ...], message: str) -> None:
    sandbox.write("page.md", EXACT)
    ran = sandbox.run(*arguments)
    assert ran.code == 2
    assert message in ran.err


def test_help_and_version(sandbox: Sandbox) -> None:
    assert sandbox.run("--help").out.startswith("Usage:")
    assert re.search(r"\d+\.\d+", sandbox.run("--version").out)


# Formats


def test_json(sandbox: Sandbox) -> None:
    sandbox.write("page.md", EXACT + "\n" + MOVED + "\n```python\nx\n```\n")
    ran = sandbox.run("verify", "--format", "json")
    document = json.loads(ran.out)
    assert ran.code == 1
    assert document["upstream"] == {
        "name": "kettle",
        "repository": sandbox.repository.url,
        "commit": sandbox.commit,
        "source": "git",
        "identity": f"commit {sandbox.commit}",
    }
    assert [claim["verdict"] for claim in document["claims"]] == ["exact", "moved"]
    moved = document["claims"][1]
    assert (moved["path"], moved["line"], moved["found"]) == ("page.md", 6, "kettle/core.py:4")
    assert moved["fix"]["edits"] == [
        {
            "path": "page.md",
            "first_line": 6,
            "last_line": 6,
            "text": '```{.python source="kettle/core.py::boil"}',
        }
    ]
    assert document["unclaimed"] == [{"path": "page.md", "line": 11}]


def test_github_and_sarif(sandbox: Sandbox) -> None:
    sandbox.write("docs/a, b%.md", EDITED)
    ran = sandbox.run("verify", "--format", "github")
    assert ran.out.startswith(
        "::error file=docs/a%2C b%25.md,line=1,title=edited%3A kettle/core.py%3A%3Aboil::"
        "kettle/core.py::boil has other code now%0A--- quoted%0A"
    )
    assert len(ran.out.splitlines()) == 2
    ran = sandbox.run("verify", "--format", "sarif")
    (result,) = json.loads(ran.out)["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "docs/a%2C%20b%25.md"}


@pytest.mark.parametrize("output", ["text", "json", "github", "sarif"])
def test_the_same_input_gives_the_same_bytes_and_nothing_is_written(
    sandbox: Sandbox, output: str
) -> None:
    sandbox.write("docs/b.md", EXACT + "\n" + EDITED + "\n" + MOVED)
    sandbox.write("docs/a.md", EMPTY + "\n```{.calls}\nkettle/core.py::pour\n```\n")
    sandbox.write("docs/c.txt", "```\nnever closed")
    sandbox.run("accept", "kettle/core.py::pour")
    before = sandbox.snapshot()
    runs = []
    for seed in ("1", "2"):
        sandbox.environment["PYTHONHASHSEED"] = seed
        runs.append(sandbox.run("verify", "--format", output, cwd=sandbox.root / "docs"))
    assert runs[0].code == runs[1].code == 1
    assert runs[0].out == runs[1].out
    assert sandbox.snapshot() == before


# Pages


def test_chosen_pages(sandbox: Sandbox) -> None:
    sandbox.write("docs/good.md", EXACT)
    sandbox.write("docs/deep/bad.md", EDITED)
    assert sandbox.run("verify", "good.md", cwd=sandbox.root / "docs").code == 0
    assert sandbox.run("verify", "docs/deep").code == 1
    assert sandbox.run("verify").code == 1


# Sources


def test_sources(sandbox: Sandbox, upstream: tuple[Repository, str, str]) -> None:
    sandbox.write("page.md", EXACT)
    nothing = sandbox.run("verify", "--source", "store")
    assert nothing.code == 3
    assert "the store does not have it" in nothing.err
    assert "annotate fetch" in nothing.err

    checkout = sandbox.tmp / "checkout"
    for path, data in OTHER.items():
        (checkout / path).parent.mkdir(parents=True, exist_ok=True)
        (checkout / path).write_bytes(data)
    for source in ("../checkout", "folder:../checkout", str(checkout)):
        ran = sandbox.run("verify", "--source", source)
        assert ran.code == 1
        assert f"the pin is commit {sandbox.commit}" in ran.out
        assert "+    return 4200 * litres" in ran.out

    assert sandbox.run("fetch").out == f"kettle: read commit {sandbox.commit}, 3 files\n"
    assert sandbox.run("verify", "--source", "store").code == 0
    assert sandbox.run("verify", "--source", "git").code == 0
    assert sandbox.run("verify", "--source", "release").code == 2


def test_a_stand_in(sandbox: Sandbox, index: IndexServer) -> None:
    archive = sdist(OTHER)
    index.archives = {"upstream-1.0.tar.gz": archive}
    sandbox.write("page.md", EMPTY)
    sandbox.run("accept", "kettle/core.py::boil")
    sandbox.cache = sandbox.tmp / "another cache"
    sandbox.configure(repository=DEAD_HOST, more=sandbox.release(archive))

    ran = sandbox.run("verify")
    assert ran.code == 0
    assert "127.0.0.1 cannot be reached" in ran.err
    assert ran.out.startswith(
        f"kettle: read release upstream 1.0, a stand-in for commit {sandbox.commit}\n"
    )
    assert "page.md:1: note: stand-in quote of kettle/core.py::boil\n" in ran.out

    exact = sandbox.run("verify", "--exact")
    assert exact.code == 1
    assert "page.md:1: error: stand-in quote of kettle/core.py::boil\n" in exact.out

    # What only a literal quote says holds for the release; whether for the commit, nobody knows.
    sandbox.write(
        "page.md", EMPTY.replace("boil", "pour").replace("}\n", "}\ndef pour():\n    pass\n")
    )
    for name in list(files_below(sandbox.root / "snippets")):
        (sandbox.root / "snippets" / name).unlink()
    assert sandbox.run("verify").code == 0
    assert sandbox.run("verify", "--exact").code == 3

    refused = sandbox.run("show", "kettle/core.py::boil", "--exact")
    assert refused.code == 3
    assert "release upstream 1.0 may not stand in for it" in refused.err


# The other verbs


def test_show(sandbox: Sandbox) -> None:
    ran = sandbox.run("show", "kettle.core::boil")
    assert (ran.code, ran.out) == (
        0,
        f"kettle/core.py::boil  kettle/core.py:4-5  (commit {sandbox.commit})\n"
        "4  def boil(litres):\n5      return 4186 * litres\n",
    )
    assert "1  # Kettle\n" in sandbox.run("show", "README.md#L1").out


def test_code_does_not_steer_the_terminal(sandbox: Sandbox) -> None:
    upstream = sandbox.tmp / "hostile"
    upstream.mkdir()
    (upstream / "m.py").write_bytes(b"def f():\n    return '\x1b[31m'\n\n\nf('\x1b[2J')\n")
    source = ("--source", str(upstream))
    sandbox.write("page.md", "```{.python source='m.py::f'}\ndef f():\n    return 1\n```\n")
    runs = [
        sandbox.run("show", "m.py::f", *source),
        sandbox.run("symbols", *source),
        sandbox.run("verify", *source),
        sandbox.run("show", "m.py::f('\x1b')", *source),
    ]
    for ran in runs:
        assert "\x1b" not in ran.out + ran.err
        assert r"\x1b" in ran.out + ran.err


def test_symbols(sandbox: Sandbox) -> None:
    ran = sandbox.run("symbols", "boil")
    assert (ran.code, ran.out) == (0, "kettle/core.py::boil\tfunction\tkettle/core.py:4-5\n")
    assert len(sandbox.run("symbols").out.splitlines()) == 2
    assert len(sandbox.run("symbols", "kettle/*::p*").out.splitlines()) == 1


def test_accept(sandbox: Sandbox) -> None:
    sandbox.write("page.md", EMPTY)
    before = sandbox.snapshot()
    ran = sandbox.run("accept", "--new")
    line = f"from {sandbox.commit} in snippets/kettle/kettle/core.py.toml\n"
    assert (ran.code, ran.out) == (0, f"kettle/core.py::boil: recorded {line}")
    after = sandbox.snapshot()
    assert after.keys() - before.keys() == {"snippets/kettle/kettle/core.py.toml"}
    assert {path: after[path] for path in before} == before
    assert sandbox.run("accept", "--new").out == ""
    assert sandbox.run("accept", "kettle/core.py::boil").out == (
        f"kettle/core.py::boil: unchanged {line}"
    )


def test_a_record_meets_another_commit(
    sandbox: Sandbox, upstream: tuple[Repository, str, str]
) -> None:
    sandbox.write("page.md", EMPTY)
    sandbox.run("accept", "--new")
    sandbox.configure(commit=upstream[2])
    ran = sandbox.run("verify")
    assert ran.code == 1
    # The old side is the text at the commit it was recorded from, which the store has.
    assert f"    --- recorded from {sandbox.commit[:12]}\n" in ran.out
    assert "    -    return 4186 * litres\n    +    return 4200 * litres\n" in ran.out
    sandbox.run("accept", "kettle/core.py::boil")
    assert sandbox.run("verify").code == 0


# Bad input: one clear message with place and remedy, and nothing written

FULL_OF_ZEROS = "0" * 40
RECORD = (
    'path = "kettle/core.py"\n\n[boil]\n'
    f'text = "{"0" * 64}"\ntokens = "{"0" * 64}"\nrecorded = "{FULL_OF_ZEROS}"\n'
)


@dataclass
class Bad:
    """Input to be refused: its files, what the command ends with, and what it must say."""

    code: int
    says: tuple[str, ...]
    files: dict[str, str | bytes] = field(default_factory=dict)
    configuration: dict[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ("verify",)


BAD = {
    "unknown symbol": Bad(
        1,
        ("page.md:1: error: missing", "defines no boyl; did you mean kettle/core.py::boil?"),
        {"page.md": EMPTY.replace("boil", "boyl")},
    ),
    "wrong path": Bad(
        1,
        ("page.md:1: error: missing", "no file kettle/cor.py; did you mean kettle/core.py::boil?"),
        {"page.md": EMPTY.replace("core", "cor")},
    ),
    "path outside the tree": Bad(
        1,
        ("page.md:1: error: unverifiable", "is not inside the upstream tree. Give it relative"),
        {"page.md": EMPTY.replace("kettle/", "../")},
    ),
    "page not UTF-8": Bad(
        2,
        ("annotate: page.md:2 is not UTF-8 (byte 2)", "Save the page as UTF-8, or"),
        {"page.md": b"a\n\xff\n"},
    ),
    "page with lone carriage returns": Bad(
        2,
        ("annotate: page.md:1 has a carriage return", "LF or CRLF"),
        {"page.md": b"a\rb\n"},
    ),
    "page that is not there": Bad(
        2, ("there is no page nothing.md", "Name a file"), arguments=("verify", "nothing.md")
    ),
    "page outside the project": Bad(
        2,
        ("is not inside the project", "Run the command from the project"),
        arguments=("verify", ".."),
    ),
    "short commit": Bad(
        2,
        ("annotate.toml: upstream.kettle: commit “4b825dc” is not a full", "40 (or 64) lower-case"),
        configuration={"commit": "4b825dc"},
    ),
    "branch for a commit": Bad(
        2, ("commit “main” is not a full commit id",), configuration={"commit": "main"}
    ),
    "malformed TOML": Bad(
        2,
        ("annotate.toml is not valid TOML: ", "line 4, column 7", "Mend the line"),
        configuration={"more": "commit\n"},
    ),
    "unknown key": Bad(
        2,
        ("annotate.toml: upstream.kettle has an unknown key “branch”", "Known: repository,"),
        configuration={"more": 'branch = "main"\n'},
    ),
    "configuration in another encoding": Bad(
        2,
        ("annotate.toml is not UTF-8 (byte 0)", "Save it as UTF-8"),
        {"annotate.toml": "[upstream]".encode("utf-16")},
    ),
    "conflicting records": Bad(
        2,
        ("kettle/core.py::boil is recorded twice, at snippets/kettle/a.toml:3 and at", "Keep one"),
        {"snippets/kettle/a.toml": RECORD, "snippets/kettle/b.toml": RECORD},
    ),
    "malformed record": Bad(
        2,
        ("snippets/kettle/a.toml is not valid TOML", "line 7"),
        {"snippets/kettle/a.toml": RECORD + "[boil\n"},
    ),
    "unreachable host": Bad(
        3,
        ("127.0.0.1 cannot be reached", "Check the network"),
        configuration={"repository": DEAD_HOST},
    ),
    "repository that is not there": Bad(
        3,
        ("there is no repository at file:///nowhere", "Check the path"),
        configuration={"repository": "file:///nowhere"},
    ),
    "commit that is not there": Bad(
        3,
        (f"has no commit {FULL_OF_ZEROS}", "Check the commit id"),
        configuration={"commit": FULL_OF_ZEROS},
    ),
    "address with a login": Bad(
        2,
        ("carries a login", "~/.netrc"),
        configuration={"repository": "https://ada:secret@git.example.org/kettle"},
    ),
    "address that is an option": Bad(
        2,
        ("does not fetch from “--upload-pack=x”", "https://HOST"),
        configuration={"repository": "--upload-pack=x"},
    ),
    "source folder that is not there": Bad(
        3,
        ("the source folder nowhere does not exist", "Give the folder"),
        arguments=("verify", "--source", "nowhere/"),
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(sandbox: Sandbox, name: str) -> None:
    bad = BAD[name]
    sandbox.write("page.md", EXACT)
    sandbox.configure(**bad.configuration)
    for file, text in bad.files.items():
        sandbox.write(file, text)
    before = sandbox.snapshot()
    ran = sandbox.run(*bad.arguments)
    assert ran.code == bad.code, ran.err
    said = ran.out if bad.code == 1 else ran.err
    for words in bad.says:
        assert words in said
    assert "secret" not in ran.out + ran.err
    if bad.code != 1:
        assert ran.out == ""
    assert sandbox.snapshot() == before


@pytest.mark.parametrize("verb", ["verify", "fetch", "show x::y", "symbols", "accept x::y", "run"])
def test_no_configuration(sandbox: Sandbox, verb: str) -> None:
    (sandbox.root / "annotate.toml").unlink()
    ran = sandbox.run(*verb.split())
    assert (ran.code, ran.out) == (2, "")
    assert f"no annotate configuration in {sandbox.root} or above it" in ran.err
    assert "[tool.annotate.upstream.NAME]" in ran.err


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable to the superuser")
def test_unreadable_configuration(sandbox: Sandbox) -> None:
    (sandbox.root / "annotate.toml").chmod(0)
    ran = sandbox.run("verify")
    assert ran.code == 2
    assert "annotate.toml cannot be read: Permission denied" in ran.err


@pytest.mark.parametrize("case", ["wrong hash", "truncated", "cut short", "no such project"])
def test_a_bad_stand_in(sandbox: Sandbox, index: IndexServer, case: str) -> None:
    archive = sdist(FILES)
    digest = ""
    match case:
        case "wrong hash":
            digest, says = "0" * 64, "has another upstream-1.0.tar.gz: its sha256 is"
        case "truncated":
            archive = truncated_tar_gz(archive, 700)
            says = "upstream-1.0.tar.gz is damaged"
        case "cut short":
            index.missing = 50
            says = "upstream"
        case _:
            index.status, says = 404, "the package index 127.0.0.1 has no project upstream"
    index.archives = {"upstream-1.0.tar.gz": archive}
    sandbox.write("page.md", EXACT)
    sandbox.configure(repository=DEAD_HOST, more=sandbox.release(archive, digest))
    before = sandbox.snapshot()
    ran = sandbox.run("verify")
    assert (ran.code, ran.out) == (3, "")
    assert says in ran.err
    assert re.search(r"\n  [A-Z][^\n]*\.\n\Z", ran.err), "no remedy at the end"
    assert sandbox.snapshot() == before
    assert not [file for file in sandbox.cache.rglob("*") if file.is_file()]


# Pipes, signals, encodings


def test_a_reader_that_goes_away(sandbox: Sandbox) -> None:
    sandbox.write("page.md", "\n".join([EDITED] * 3000))
    sandbox.run("fetch")
    with subprocess.Popen(
        sandbox.command("verify"),
        cwd=sandbox.root,
        env=sandbox.environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        err = process.stderr.read().decode()
    assert process.returncode == 1
    assert err == f"kettle: reading commit {sandbox.commit[:7]} from the store\n"


def test_an_interrupt(sandbox: Sandbox) -> None:
    sandbox.write("page.md", EXACT)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(30)
        sandbox.configure(repository=f"http://127.0.0.1:{silent.getsockname()[1]}/kettle")
        with subprocess.Popen(
            sandbox.command("verify"),
            cwd=sandbox.root,
            env=sandbox.environ(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            # First annotate asks whether the host answers at all, then git comes and waits.
            connections = [silent.accept()[0] for _ in range(2)]
            # As a terminal does: to all that the command has started.
            os.killpg(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=30)
            for connection in connections:
                connection.close()
    assert process.returncode == 130
    assert (out, err.decode().strip()) == (b"", "annotate: interrupted")
    assert not [file for file in sandbox.cache.rglob("*") if file.is_file()]


def test_a_terminal_that_cannot_say_everything(sandbox: Sandbox) -> None:
    sandbox.environment["PYTHONIOENCODING"] = "latin-1"
    sandbox.write("页.md", EDITED.replace("1 *", "'…' *"))
    for output in ("text", "json"):
        ran = sandbox.run("verify", "--format", output)
        assert ran.code == 1
        assert r"\u9875.md" in ran.out


def test_a_page_whose_name_is_no_text(sandbox: Sandbox) -> None:
    try:
        Path(os.fsdecode(os.fsencode(sandbox.root) + b"/\xff.md")).write_text(EDITED)
    except OSError:
        pytest.skip("this file system has only names that are text")
    for output in ("text", "json", "github", "sarif"):
        assert sandbox.run("verify", "--format", output).code == 1
