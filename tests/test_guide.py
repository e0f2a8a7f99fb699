"""The guide and the README say what is so: consoles are run, samples loaded, tables compared.

In these pages a fence with a ``title`` is a file of a reader's project, and a ``console`` fence is
what that reader types in it and sees. Each page is one session, in an empty project beside a git
repository made from ``tests/guide/v1`` and ``v2``. What is printed must be what the page shows;
``UPDATE_GUIDE=1 python -m pytest tests/test_guide.py`` writes it into the pages.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
import yaml

from annotate import cli, config, records, tables, terminal
from annotate.claims import experiment, quote
from annotate.claims.kinds import kind_of
from annotate.errors import AnnotateError, Exit
from annotate.pages import Block, blocks, read_page
from annotate.pin import Pin, Release
from annotate.project import is_unclaimed
from annotate.upstream.store import Store
from annotate.upstream.tree import TreeFile, blob_id
from annotate.verdict import Severity, Verdict

ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "docs" / "guide"
UPSTREAM = ROOT / "tests" / "guide"
TOPICS = ("authors", "ci", "configuration")
LANGUAGES = {"en": "", "zh": ".zh"}
PAGES = [f"docs/guide/{topic}{suffix}.md" for topic in TOPICS for suffix in LANGUAGES.values()]
SESSIONS = ["README.md", *PAGES]

HOST = "https://git.example.org"
DEAD_HOST = "https://intranet.example.org"
PROJECT = "/home/ada/ledger-notes"
STAND_IN = Release(
    "ledger", "1.0", "d8d9ea5a7c6c9e3b2f6b3fd1a1d2c8f5b6d0b4f9e4e6a0c2f1f7c3f0a9b8c7d6"
)


def block_list(page: str) -> list[Block]:
    return blocks(read_page(ROOT / page, page))


def pages_about(topic: str) -> list[str]:
    return [f"docs/guide/{topic}{suffix}.md" for suffix in LANGUAGES.values()]


# Sessions


@pytest.fixture(scope="session")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of bare repositories: ``ledger``, with one commit for each version."""
    folder = tmp_path_factory.mktemp("upstream")
    work = folder / "work"
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "ada@example.org" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_DATE": "2026-01-05T12:00:00Z" for who in ("AUTHOR", "COMMITTER")},
    }

    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], check=True, env=environment, cwd=folder)

    git("init", "--quiet", "--initial-branch=main", str(work))
    for version in ("v1", "v2"):
        tree = ["--git-dir", str(work / ".git"), "--work-tree", str(UPSTREAM / version)]
        git(*tree, "add", "--all", ".")
        git(*tree, "commit", "--quiet", "--message", version)
        git("--git-dir", str(work / ".git"), "tag", version)
    git("clone", "--quiet", "--bare", str(work), str(folder / "ledger"))
    return folder


def keep_stand_in(store: Store) -> None:
    """Put the release of version 1 into a store, as fetching it would."""
    pin = Pin("ledger", f"{HOST}/ledger", "0" * 40, STAND_IN)
    entries = []
    for file in sorted((UPSTREAM / "v1").rglob("*.*")):
        data = file.read_bytes()
        path = file.relative_to(UPSTREAM / "v1").as_posix()
        entries.append((path, TreeFile(blob_id(data), len(data)), data))
    store.add_tree(pin, "release", f"release {STAND_IN}", entries)


@dataclass
class Session:
    """A reader's project, and what became of the last command in it."""

    project: Path
    shown_and_real: list[tuple[str, str]]
    exit_code: int = 0

    def write(self, name: str, text: str) -> None:
        for shown, real in self.shown_and_real:
            text = text.replace(shown, real)
        file = self.project / name
        assert file.resolve().is_relative_to(self.project), name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n", encoding="utf-8")

    def type(self, command: str) -> str:
        """What a command prints on a terminal of 80 columns, without the final newline."""
        words = shlex.split(command)
        shown_lines = slice(None)
        if len(words) > 4 and words[-4] == "|":
            *words, _, filter_name, _, count = words
            shown_lines = {"head": slice(int(count)), "tail": slice(-int(count), None)}[filter_name]
        match words:
            case ["annotate", *arguments]:
                output = self._annotate(arguments)
            case ["cat", name]:
                output = (self.project / name).read_text("utf-8")
            case ["echo", "$?"]:
                output = f"{self.exit_code}\n"
            case _:
                pytest.fail(f"a page's console runs annotate, cat FILE and echo $?, not: {command}")
        for shown, real in self.shown_and_real:
            output = output.replace(real, shown)
        # How long a run takes, and which sandbox the kernel grants, is the machine's affair.
        output = re.sub(
            r"\([\d.]+ s, (.*), sandbox: \w+\)", r"(0.3 s, \1, sandbox: namespaces)", output
        )
        return "\n".join(output.removesuffix("\n").split("\n")[shown_lines])

    def _annotate(self, arguments: list[str]) -> str:
        output = io.StringIO()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["annotate", *arguments])
            patch.setattr(os, "execve", None)
            # On a terminal the progress bar is gone when its task has ended.
            patch.setattr(terminal, "progress", lambda: None)
            patch.chdir(self.project)
            with (
                contextlib.redirect_stdout(output),
                contextlib.redirect_stderr(output),
                pytest.raises(SystemExit) as ended,
            ):
                cli.main()
        self.exit_code = ended.value.code
        return output.getvalue()


@pytest.fixture
def session(tmp_path: Path, upstream: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    project = tmp_path / "project"
    (project / "docs").mkdir(parents=True)
    monkeypatch.setenv("ANNOTATE_CACHE", str(tmp_path / "store"))
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    keep_stand_in(Store())
    return Session(
        project,
        [
            (HOST, upstream.as_uri()),
            # Nothing listens on port 1: a host that refuses every connection.
            (DEAD_HOST, "http://127.0.0.1:1"),
            (DEAD_HOST.removeprefix("https://"), "127.0.0.1"),
            (PROJECT, str(project)),
        ],
    )


def console(session: Session, text: str) -> str:
    """A console's text with every command's output replaced by what it prints now."""
    lines = []
    for line in text.split("\n"):
        if line.startswith("$ "):
            lines.append(line)
            output = session.type(line.removeprefix("$ "))
            if output:
                lines.append(output)
    return "\n".join(lines)


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_about("configuration"))
def test_the_site_of_the_page_can_be_built(page: str, session: Session) -> None:
    for block in block_list(page):
        if "title" in block.attributes:
            session.write(block.attributes["title"], block.text)
    build = [sys.executable, "-m", "annotate.cli", "build"]
    built = subprocess.run(build, cwd=session.project, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    site = session.project / "site" / "zero" / "index.html"
    assert "an amount is positive" in site.read_text("utf-8")


@pytest.mark.parametrize("page", SESSIONS)
def test_what_the_console_shows_is_what_is_printed(page: str, session: Session) -> None:
    lines = (ROOT / page).read_text("utf-8").split("\n")
    shown, printed = [], []
    for block in block_list(page):
        if "title" in block.attributes:
            session.write(block.attributes["title"], block.text)
        elif block.language == "console":
            assert block.text.startswith("$ "), f"{page}:{block.text_line} shows no command"
            shown.append(block.text)
            printed.append(console(session, block.text))
            if os.environ.get("UPDATE_GUIDE"):
                # In place of the block's first line; its other lines go, and none is counted anew.
                first, last = block.text_line - 1, block.last_line - 1
                lines[first:last] = [printed[-1], *[None] * (last - first - 1)]
    assert shown, f"{page} shows no console"
    if os.environ.get("UPDATE_GUIDE"):
        text = "\n".join(line for line in lines if line is not None)
        (ROOT / page).write_text(text, encoding="utf-8")
    else:
        assert printed == shown, "UPDATE_GUIDE=1 writes what is printed into the pages"


@pytest.mark.parametrize("page", pages_about("authors"))
def test_every_way_to_name_a_symbol_finds_one(page: str, session: Session) -> None:
    (configuration, *_) = (block for block in block_list(page) if block.language == "toml")
    session.write(configuration.attributes["title"], configuration.text)
    ids = [text.strip(" `") for _, text in cells(page, "pin")]
    assert len(ids) > 3
    for symbol in ids:
        session.type(shlex.join(["annotate", "show", symbol]))
        assert session.exit_code == 0, symbol


# What the pages show besides


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_are_no_claims(page: str) -> None:
    all_blocks = block_list(page)
    found = [block for block in all_blocks if kind_of(block) or is_unclaimed(block)]
    assert [f"{page}:{block.first_line}" for block in found] == []
    assert tables.rows(read_page(ROOT / page, page), all_blocks) == []


@pytest.mark.parametrize("page", SESSIONS)
def test_configuration_and_records_are_accepted(page: str, tmp_path: Path) -> None:
    for number, block in enumerate(block_list(page)):
        if block.language != "toml":
            continue
        title = block.attributes["title"]
        file = tmp_path / str(number) / title
        file.parent.mkdir(parents=True)
        file.write_text(block.text, encoding="utf-8")
        root = tmp_path / str(number)
        if title in config.FILE_NAMES:
            assert config.load(root).file == file
        else:
            assert len(records.load(root, root / "snippets", ["ledger"])) > 0


@pytest.mark.parametrize("page", SESSIONS)
def test_every_command_line_can_be_typed(page: str) -> None:
    text = read_page(ROOT / page, page)
    commands = re.findall(r"`(annotate [^`\n]+)`", text)
    commands += re.findall(r"(?:^|[ /&])(annotate [a-z][^\n&#|]*)$", fenced(page, "sh"), re.M)
    commands += re.findall(r"\b(annotate [a-z][^\n|]*)$", fenced(page, "yaml"), re.M)
    assert commands, f"{page} names no command"
    for command in commands:
        verb, *arguments = shlex.split(command)[1:]
        if verb.startswith("-"):
            verb, arguments = None, [verb]
        entry = cli.cli if verb is None else cli.cli.commands[verb]
        try:
            entry.make_context(verb, arguments, resilient_parsing=False)
        except (click.exceptions.Exit, click.MissingParameter):
            pass  # --help, or a command that is only named
        except click.ClickException as error:
            pytest.fail(f"{page}: {command}: {error.format_message()}")


def fenced(page: str, language: str) -> str:
    return "\n".join(block.text for block in block_list(page) if block.language == language)


@pytest.mark.parametrize("topic", TOPICS)
def test_both_languages_have_the_same_sections(topic: str) -> None:
    english, chinese = (
        re.findall(r"^#+ .*\{ #([a-z-]+) \}$", read_page(ROOT / page, page), re.M)
        for page in pages_about(topic)
    )
    assert english == chinese
    assert len(english) > 3


@pytest.mark.parametrize("page", pages_about("ci"))
def test_the_workflow_is_well_formed(page: str) -> None:
    files = [yaml.safe_load(block.text) for block in block_list(page) if block.language == "yaml"]
    (workflow,) = (file for file in files if "jobs" in file)
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert any("annotate verify" in step.get("run", "") for step in steps)
    actions = [step["uses"] for step in steps if "uses" in step]
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action) for action in actions), actions


# Tables


def cells(page: str, section: str) -> list[list[str]]:
    """The first table of a section, without its header."""
    _, _, text = read_page(ROOT / page, page).partition(f"{{ #{section} }}\n")
    lines = re.search(r"(?:^\|.*\|\n)+", text, re.M)
    assert lines, f"{page} has no table in section {section}"
    return [line.strip("|").split("|") for line in lines[0].split("\n")[2:-1]]


def table(page: str, section: str) -> dict[str, str]:
    """What the first column of a section's table holds as code → the rest of the row."""
    found: dict[str, str] = {}
    for first, *others in cells(page, section):
        for name in re.findall(r"`([^`]+)`", first):
            assert name not in found, f"{page}: {name} stands twice in {section}"
            found[name] = "|".join(others)
    return found


SEVERITY = {
    "en": {severity: severity.value for severity in Severity},
    "zh": {
        Severity.OK: "通过",
        Severity.NOTE: "提示",
        Severity.WARNING: "警告",
        Severity.ERROR: "错误",
    },
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_verdicts(language: str) -> None:
    page = f"docs/guide/authors{LANGUAGES[language]}.md"
    rows = table(page, "verdicts")
    assert list(rows) == [verdict.value for verdict in Verdict]
    for verdict in Verdict:
        assert rows[verdict].split("|")[0].strip() == SEVERITY[language][verdict.severity()]


@pytest.mark.parametrize("page", pages_about("authors"))
def test_attributes_of_a_quote(page: str) -> None:
    assert sorted(table(page, "quotes")) == sorted(quote.ATTRIBUTES)


@pytest.mark.parametrize("page", pages_about("authors"))
def test_what_can_be_shown_of_an_experiment(page: str) -> None:
    assert sorted(table(page, "experiments")) == sorted(experiment.SHOWN)


@pytest.mark.parametrize("page", pages_about("ci"))
def test_exit_codes(page: str) -> None:
    assert list(table(page, "exit-codes")) == [str(code.value) for code in Exit]


@pytest.mark.parametrize("page", pages_about("ci"))
def test_formats(page: str) -> None:
    assert list(table(page, "formats")) == list(cli.FORMATS)


def known_keys(tmp_path: Path, table_name: str) -> list[str]:
    """The keys of a table of the configuration, as the message about an unknown one lists them."""
    (tmp_path / "annotate.toml").write_text(
        f'[upstream.NAME]\nrepository = "{HOST}"\ncommit = "{"0" * 40}"\n'
        f'[upstream.NAME.release]\nname = "a"\nversion = "1"\nsha256 = "{"0" * 64}"\n'
        f"[{table_name}.unknown]\n".replace("[.", "[")
    )
    with pytest.raises(AnnotateError, match="unknown key") as caught:
        config.load(tmp_path)
    return caught.value.hint.removeprefix("Known: ").removesuffix(".").split(", ")


@pytest.mark.parametrize("page", pages_about("configuration"))
def test_configuration_keys_and_defaults(page: str, tmp_path: Path) -> None:
    expected = {key for key in known_keys(tmp_path, "") if key != "upstream"}
    upstream_keys = known_keys(tmp_path, "upstream.NAME")
    expected |= {f"upstream.NAME.{key}" for key in upstream_keys if key != "release"}
    release_keys = known_keys(tmp_path, "upstream.NAME.release")
    expected |= {f"upstream.NAME.release.{key}" for key in release_keys}
    rows = table(page, "keys")
    assert set(rows) == expected

    (tmp_path / "docs").mkdir()
    (tmp_path / "annotate.toml").write_text(
        f'[upstream.a]\nrepository = "{HOST}"\ncommit = "{"0" * 40}"\n'
    )
    loaded = config.load(tmp_path)
    for pattern in loaded.pages:
        assert f"`{pattern}`" in rows["pages"]
    assert f"`{loaded.records.relative_to(tmp_path).as_posix()}`" in rows["records"]


# On every verb that reads the pinned tree, and explained once.
COMMON_OPTIONS = {"--source", "--exact"}


@pytest.mark.parametrize("page", pages_about("configuration"))
def test_commands_and_their_options(page: str) -> None:
    rows = table(page, "commands")
    assert sorted(rows) == sorted(cli.cli.commands)
    for name, verb in cli.cli.commands.items():
        options = {max(p.opts, key=len) for p in verb.params if isinstance(p, click.Option)}
        assert set(re.findall(r"`(--[a-z-]+)`", rows[name])) == options - COMMON_OPTIONS, name


# Between annotate and a script it runs; not for people.
INTERNAL_VARIABLES = {"ANNOTATE_TRACE"}


@pytest.mark.parametrize("page", pages_about("configuration"))
def test_environment_variables(page: str) -> None:
    source = "\n".join(file.read_text("utf-8") for file in (ROOT / "annotate").rglob("*.py"))
    read = set(re.findall(r"\"(ANNOTATE_[A-Z_]+)\"", source)) - INTERNAL_VARIABLES
    assert {name for name in table(page, "environment") if name.startswith("ANNOTATE")} == read
