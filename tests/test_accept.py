"""Accepting: what is recorded, where, and what is refused before anything is written."""

from pathlib import Path

import pytest

from annotate.accept import accept, unrecorded
from annotate.errors import AnnotateError
from annotate.project import Project
from annotate.upstream import syntax
from tests.projects import COMMIT, files_below, open_project

FILES = {
    "pkg/__init__.py": b"from .m import f as g\n",
    "pkg/m.py": b"def f():\n    return 1\n\n\nx = y = 1\npath = 2\n\n\ndef twice():\n    pass\n\n\n"
    b"def twice():\n    return 2\n\n\nreg(a + b)\n",
    "pkg/bad.py": b"def f():\n    return '\xff'\n",
    "pkg/broken.py": b"def f():\n    return 1\n\ndef g(:\n",
    "README.md": b"# Kettle\n",
}
PAGE = """\
```{.python source="pkg/m.py::f"}
```

```{.python source="pkg/m.py::f" lines="2"}
```

```{.python source="pkg.m::twice#2" lines="1-2"}
```

```{.python source="pkg/__init__.py::g"}
```

```{.python source="pkg/m.py::reg(a + b)"}
```

```{.python source="pkg/m.py::gone"}
```

```{.python source="pkg/old.py::f"}
def f():
    return 1
```

```{.python source="pkg/broken.py::f"}
```

```{.text source="README.md#L1"}
```

```{.calls}
pkg/m.py::path
```
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "page.md").write_text(PAGE)
    return root


def opened(root: Path, source: str = "git", files: dict[str, bytes] | None = None) -> Project:
    return open_project(root, {"kettle": files or FILES}, root.parent / "store", source)


def snippets(root: Path) -> dict[str, bytes]:
    return files_below(root / "snippets")


def test_what_is_recorded(root: Path) -> None:
    project = opened(root)
    (accepted,) = accept(project, ["pkg/m.py::f"])
    assert (accepted.symbol, accepted.recorded, accepted.changed) == ("pkg/m.py::f", COMMIT, True)
    assert accepted.file == root / "snippets" / "kettle" / "pkg" / "m.py.toml"
    record = opened(root).records.get("kettle", "pkg/m.py", "f")
    assert record is not None
    assert record.text == syntax.text_fingerprint("def f():\n    return 1")
    assert record.recorded == COMMIT


def test_accepting_again_changes_no_byte(root: Path) -> None:
    accept(opened(root), ["pkg/m.py::f", "pkg/m.py::path"])
    before = snippets(root)
    accepted = accept(opened(root), ["pkg/m.py::path", "pkg/m.py::f"])
    assert [entry.changed for entry in accepted] == [False, False]
    assert snippets(root) == before


def test_new_symbols_are_those_that_can_be_recorded(root: Path) -> None:
    project = opened(root)
    assert unrecorded(project, project.check()) == [
        "pkg/__init__.py::g",
        "pkg/m.py::f",
        "pkg/m.py::path",
        "pkg/m.py::reg(a + b)",
        "pkg/m.py::twice#2",
    ]


def test_accepting_all_new_symbols_leaves_none(root: Path) -> None:
    project = opened(root)
    accept(project, unrecorded(project, project.check()))
    project = opened(root)
    report = project.check()
    assert unrecorded(project, report) == []
    assert not any("no record" in judgement.message for judgement in report.judgements)


def test_an_alias_is_recorded_under_its_own_name(root: Path) -> None:
    accept(opened(root), ["pkg.__init__::g"])
    record = opened(root).records.get("kettle", "pkg/__init__.py", "g")
    assert record is not None
    assert record.text == syntax.text_fingerprint("def f():\n    return 1")


def test_records_stay_in_the_file_they_are_in(root: Path) -> None:
    accept(opened(root), ["pkg/m.py::f"])
    default = root / "snippets" / "kettle" / "pkg" / "m.py.toml"
    moved = root / "snippets" / "kettle" / "chapter.toml"
    default.rename(moved)
    accepted = accept(opened(root), ["pkg/m.py::f", "pkg/m.py::path"])
    assert {entry.file for entry in accepted} == {moved}
    assert list(snippets(root)) == ["kettle/chapter.toml"]
    assert len(opened(root).records) == 2


@pytest.mark.parametrize(
    ("symbol", "message", "hint"),
    [
        ("pkg/m.py::twise", "has no symbol pkg/m.py::twise", "Nearest: pkg/m.py::twice"),
        ("pkg/m.py::zz", "has no symbol pkg/m.py::zz", "`annotate symbols` lists all"),
        ("pkg/n.py::f", "has no symbol pkg/n.py::f", "Nearest: .*::f"),
        ("README.md#L1", "names no symbol", "Records are kept for symbols"),
        ("../m.py::f", "not inside the upstream tree", "relative to the root"),
        ("pkg/bad.py::f", "pkg/bad.py: line 2: byte 0xff is not utf-8", ""),
        ("pkg/broken.py::f", "cannot be judged: neither Python nor the grammar", "Quote lines"),
    ],
)
def test_nothing_is_written_where_one_cannot_be_recorded(
    root: Path, symbol: str, message: str, hint: str
) -> None:
    import re

    with pytest.raises(AnnotateError, match=re.escape(message)) as caught:
        accept(opened(root), ["pkg/m.py::f", symbol])
    assert re.search(hint, caught.value.hint)
    assert not (root / "snippets").exists()


def test_a_stand_in_never_overwrites_what_was_read_from_a_commit(root: Path) -> None:
    accept(opened(root), ["pkg/m.py::f"])
    before = snippets(root)
    with pytest.raises(AnnotateError, match="was recorded from commit 4b825dc642cb") as caught:
        accept(opened(root, "release"), ["pkg/m.py::path", "pkg/m.py::f"])
    assert "--source" in caught.value.hint
    assert snippets(root) == before


def test_a_stand_in_records_what_has_no_record_and_a_commit_replaces_that(root: Path) -> None:
    (accepted,) = accept(opened(root, "release"), ["pkg/m.py::f"])
    assert accepted.recorded == "release kettle 1.0"
    (accepted,) = accept(opened(root, "release"), ["pkg/m.py::f"])
    assert not accepted.changed
    accept(opened(root), ["pkg/m.py::f"])
    record = opened(root).records.get("kettle", "pkg/m.py", "f")
    assert record is not None
    assert record.recorded == COMMIT


def test_several_upstreams(root: Path) -> None:
    upstreams = {"kettle": FILES, "pot": {"pot.py": b"def lid():\n    pass\n"}}
    (root / "annotate.toml").write_text(
        "".join(
            f'[upstream.{name}]\nrepository = "https://git.example.org/{name}"\n'
            f'commit = "{COMMIT}"\n'
            for name in upstreams
        )
    )
    (root / "page.md").write_text(
        '```{.python source="pot.py::lid" upstream="pot"}\n```\n\n'
        '```{.python source="pkg/m.py::f" upstream="kettle"}\n```\n'
    )
    project = open_project(root, upstreams, root.parent / "store")
    report = project.check()
    with pytest.raises(AnnotateError, match="several upstreams"):
        accept(project, ["pot.py::lid"])
    assert unrecorded(project, report, "pot") == ["pot.py::lid"]
    assert unrecorded(project, report, "kettle") == ["pkg/m.py::f"]
    accept(project, ["pot.py::lid"], "pot")
    assert list(snippets(root)) == ["pot/pot.py.toml"]
