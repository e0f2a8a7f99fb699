"""Configuration: where it is found, what it means, and what is refused with its place."""

from pathlib import Path
from typing import Any

import pytest

from annotate import config
from annotate.errors import AnnotateError, Exit
from annotate.pin import Release
from tests.projects import COMMIT, CONFIGURATION, RELEASE_SHA256

SHORT = '[upstream.a]\nrepository = "https://git.example.org/a"\n'
FULL = f'{SHORT}commit = "{COMMIT}"\n'


def load(folder: Path, text: str | bytes, name: str = "annotate.toml") -> config.Config:
    data = text if isinstance(text, bytes) else text.encode()
    (folder / name).write_bytes(data)
    return config.load(folder)


def test_what_a_project_says(tmp_path: Path) -> None:
    found = load(tmp_path, CONFIGURATION)
    (pin,) = found.pins
    assert (found.root, found.file) == (tmp_path, tmp_path / "annotate.toml")
    assert (pin.name, pin.commit) == ("kettle", COMMIT)
    assert pin.release == Release("kettle", "1.0", RELEASE_SHA256)
    assert found.records == tmp_path / "snippets"
    assert found.pin("kettle") is pin


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("annotate.toml", ""),
        ("annotate.toml", "tool.annotate."),
        ("pyproject.toml", "tool.annotate."),
    ],
)
def test_both_files_and_both_spellings(tmp_path: Path, name: str, prefix: str) -> None:
    found = load(tmp_path, FULL.replace("[", f"[{prefix}"), name)
    assert [pin.name for pin in found.pins] == ["a"]


def test_upstreams_keep_their_order(tmp_path: Path) -> None:
    text = "".join(FULL.replace(".a]", f".{name}]") for name in ("z", "a", "m"))
    assert [pin.name for pin in load(tmp_path, text).pins] == ["z", "a", "m"]


def test_the_nearest_folder_upwards_that_configures_annotate(tmp_path: Path) -> None:
    inner = tmp_path / "docs" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "docs" / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    (tmp_path / "annotate.toml").write_text(FULL)
    assert config.load(inner).root == tmp_path
    (tmp_path / "docs" / "pyproject.toml").write_text(FULL.replace("[", "[tool.annotate."))
    assert config.load(inner).root == tmp_path / "docs"


def test_annotate_toml_wins_in_one_folder(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(FULL.replace("[", "[tool.annotate."))
    assert load(tmp_path, FULL.replace(".a]", ".b]")).pins[0].name == "b"


def test_pages_are_those_of_docs_where_there_is_one(tmp_path: Path) -> None:
    assert load(tmp_path, FULL).pages == config.PAGES_WITHOUT_DOCS
    (tmp_path / "docs").mkdir()
    assert config.load(tmp_path).pages == config.DEFAULT_PAGES
    assert load(tmp_path, f'pages = ["a/**/*.md"]\n{FULL}').pages == ("a/**/*.md",)


def test_a_repository_may_be_a_folder_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "vendored up").mkdir()
    text = FULL.replace("https://git.example.org/a", "vendored up")
    assert load(tmp_path, text).pins[0].repository == (tmp_path / "vendored up").as_uri()


def test_hex_digits_of_a_sha256_may_be_upper_case_and_a_byte_order_mark_is_no_text(
    tmp_path: Path,
) -> None:
    text = CONFIGURATION.replace(RELEASE_SHA256, RELEASE_SHA256.upper())
    release = load(tmp_path, b"\xef\xbb\xbf" + text.encode()).pins[0].release
    assert release is not None
    assert release.sha256 == RELEASE_SHA256


RELEASE = f'{FULL}release = {{ name = "a", version = "1", sha256 = "{RELEASE_SHA256}" }}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "pins no upstream"),
        ("[upstream]\n", "pins no upstream"),
        ("upstream = 1\n", "upstream must be a table"),
        ("[upstream]\na = 1\n", r"upstream\.a must be a table"),
        (SHORT, r"upstream\.a: commit is missing"),
        (f'[upstream.a]\ncommit = "{COMMIT}"\n', r"upstream\.a: repository is missing"),
        (f'{SHORT}commit = ""\n', "commit is missing"),
        (f"{SHORT}commit = 1\n", "commit is missing"),
        (f'{SHORT}commit = "{COMMIT[:7]}"\n', f"“{COMMIT[:7]}” is not a full commit id"),
        (f'{SHORT}commit = "{COMMIT.upper()}"\n', "is not a full commit id"),
        (f'{SHORT}commit = "main"\n', "“main” is not a full commit id"),
        (f'{FULL}branch = "x"\n', "upstream.a has an unknown key “branch”"),
        (f"page = []\n{FULL}", "unknown key “page”"),
        ('[tool.annotate]\npages = "x"\n', "pins no upstream"),
        (FULL.replace(".a]", '."a/b"]'), "“a/b” cannot name an upstream"),
        (FULL.replace(".a]", '.".."]'), "“..” cannot name an upstream"),
        (RELEASE.replace(RELEASE_SHA256, "abc"), "sha256 “abc” is not a SHA-256 digest"),
        (RELEASE.replace('version = "1", ', ""), r"upstream\.a\.release: version is missing"),
        (RELEASE.replace("version =", "versions ="), "unknown key “versions”"),
        (f"{FULL}release = 1\n", r"upstream\.a\.release must be a table"),
        (f'pages = "docs"\n{FULL}', "pages must be a list"),
        (f"pages = [1]\n{FULL}", "pages must be a list"),
        (f'pages = [""]\n{FULL}', "pages: “” does not stay in the project"),
        (f'pages = ["../*.md"]\n{FULL}', r"pages: “\.\./\*\.md” does not stay"),
        (f'pages = ["/x/*.md"]\n{FULL}', "does not stay in the project"),
        (f'pages = ["a**/*.md"]\n{FULL}', "that is not a whole folder name"),
        (f'records = "/x"\n{FULL}', "records must be a folder inside the project"),
        (f'records = "../x"\n{FULL}', "records must be a folder inside the project"),
        (f"records = 1\n{FULL}", "records must be a folder inside the project"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(AnnotateError, match=message) as caught:
        load(tmp_path, text)
    assert str(tmp_path / "annotate.toml") in caught.value.message
    assert caught.value.hint
    assert caught.value.exit_code is Exit.USAGE


def test_malformed_toml_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(
        AnnotateError, match=r"annotate\.toml is not valid TOML: .*line 4"
    ) as caught:
        load(tmp_path, f"{FULL}commit\n")
    assert "Mend the line" in caught.value.hint


def test_toml_in_another_encoding(tmp_path: Path) -> None:
    with pytest.raises(AnnotateError, match=r"annotate\.toml is not UTF-8 \(byte 2\)"):
        load(tmp_path, b"# \xff\n" + FULL.encode())


def test_a_file_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "annotate.toml").write_text(FULL)

    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(AnnotateError, match=r"annotate\.toml cannot be read: Permission") as caught:
        config.load(tmp_path)
    assert "permissions" in caught.value.hint


def test_no_configuration_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.is_file
    monkeypatch.setattr(Path, "is_file", lambda self: tmp_path in self.parents and real(self))
    with pytest.raises(AnnotateError, match="no annotate configuration in") as caught:
        config.load(tmp_path)
    assert str(tmp_path) in caught.value.message
    assert "[tool.annotate.upstream.NAME]" in caught.value.hint


def test_an_unknown_upstream_is_told_with_the_known_ones(tmp_path: Path) -> None:
    found = load(tmp_path, FULL)
    with pytest.raises(AnnotateError, match="no upstream is called “b”") as caught:
        found.pin("b")
    assert caught.value.hint == "annotate.toml configures: a."


def test_read_toml_keeps_types(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('a = 1\n["b.c"]\nd = ["é"]\n', "utf-8")
    expected: dict[str, Any] = {"a": 1, "b.c": {"d": ["é"]}}
    assert config.read_toml(tmp_path / "a.toml") == expected
