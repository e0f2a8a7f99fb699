"""A project: which pages it reads, what a run over them comes to, and that checking is quick to say
so without changing anything.
"""

from pathlib import Path

import pytest

from annotate.errors import AnnotateError, Exit
from annotate.location import Location
from annotate.project import Project
from annotate.records import record_file, write
from annotate.upstream import syntax
from annotate.verdict import Verdict
from tests.projects import COMMIT, CONFIGURATION, open_project

CORE = b"def f():\n    return 1\n"
EXACT = '```{.python source="m.py::f"}\ndef f():\n    return 1\n```\n'
EDITED = EXACT.replace("1\n", "2\n")
REFORMATTED = EXACT.replace("()", "( )")
EMPTY = '```{.python source="m.py::f"}\n```\n'


class Folder:
    """A project's folder that a test fills."""

    def __init__(self, tmp_path: Path) -> None:
        self.root = tmp_path / "project"
        self.root.mkdir()
        self.store = tmp_path / "store"

    def write(self, name: str, text: str) -> Path:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return file

    def open(self, source: str = "git") -> Project:
        return open_project(self.root, {"kettle": {"m.py": CORE}}, self.store, source)

    def record(self, text: str, recorded: str = COMMIT) -> None:
        prints = syntax.text_fingerprint(text), syntax.token_fingerprint(text)
        write(
            record_file(self.root / "snippets", "kettle", "m.py"), "m.py", {"f": prints}, recorded
        )


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


# Pages


def test_pages_of_docs(folder: Folder) -> None:
    names = ("docs/a.md", "docs/b/c.txt", "docs/build/site.md", "docs/b/d.rst", "README.md")
    for name in (*names, "docs/.hidden/e.md"):
        folder.write(name, "")
    assert folder.open().pages() == ["docs/a.md", "docs/b/c.txt", "docs/build/site.md"]


def test_a_page_that_two_patterns_name_is_read_once(folder: Folder) -> None:
    folder.write("docs/a.md", EXACT)
    folder.write("annotate.toml", f'pages = ["docs/*.md", "docs/**/a.md"]\n{CONFIGURATION}')
    assert folder.open().pages() == ["docs/a.md"]
    assert folder.open().check().summary.claims == 1


def test_pages_without_docs(folder: Folder) -> None:
    for name in ("a.md", "b/c.txt", "site/d.md", "venv/e.md", "b/node_modules/f.md", ".git/g.md"):
        folder.write(name, "")
    assert folder.open().pages() == ["a.md", "b/c.txt"]


def test_chosen_pages(folder: Folder) -> None:
    page = folder.write("docs/a.md", "")
    folder.write("docs/b/c.md", "")
    other = folder.write("notes.md", "")
    project = folder.open()
    assert project.pages([page]) == ["docs/a.md"]
    assert project.pages([folder.root / "docs" / "b", page]) == ["docs/a.md", "docs/b/c.md"]
    assert project.pages([folder.root]) == ["docs/a.md", "docs/b/c.md"]
    # A file that is named is read even where the configuration does not name it.
    assert project.pages([other, page, page]) == ["docs/a.md", "notes.md"]


def test_a_page_that_is_not_there(folder: Folder) -> None:
    with pytest.raises(AnnotateError, match=r"there is no page .*nothing\.md") as caught:
        folder.open().pages([folder.root / "nothing.md"])
    assert caught.value.hint


def test_a_page_outside_the_project(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("")
    for path in (tmp_path / "outside.md", folder.root / ".." / "outside.md", tmp_path):
        with pytest.raises(AnnotateError, match="is not inside the project") as caught:
            folder.open().pages([path])
        assert caught.value.hint


# What a run comes to


@pytest.mark.parametrize(
    ("text", "source", "exact", "code"),
    [
        (EXACT, "git", False, Exit.CLEAN),
        (EXACT, "git", True, Exit.CLEAN),
        (EMPTY, "git", False, Exit.CLEAN),
        (REFORMATTED, "git", False, Exit.CLEAN),
        (EDITED, "git", False, Exit.FAILED),
        (EXACT + EDITED, "git", False, Exit.FAILED),
        (EMPTY, "release", False, Exit.CLEAN),
        (EMPTY, "release", True, Exit.FAILED),
        (EXACT, "release", False, Exit.CLEAN),
        # Not one claim fails, and still the pinned commit was not seen.
        (EXACT, "release", True, Exit.NOTHING_JUDGED),
        ("", "git", False, Exit.NOTHING_JUDGED),
        ("```python\nx = 1\n```\n", "git", False, Exit.NOTHING_JUDGED),
        ("```\nnever closed", "git", False, Exit.FAILED),
    ],
)
def test_exit_codes(folder: Folder, text: str, source: str, exact: bool, code: Exit) -> None:
    folder.write("page.md", text)
    report = folder.open(source).check(exact=exact)
    assert report.exit_code is code
    assert bool(report.nothing_judged) == (code is Exit.NOTHING_JUDGED) or report.failed


def test_no_page_at_all_is_never_clean(folder: Folder) -> None:
    report = folder.open().check()
    assert report.exit_code is Exit.NOTHING_JUDGED
    assert report.nothing_judged == "no claim found on 0 pages"


def test_records_alone_judge_no_page(folder: Folder) -> None:
    folder.write("page.md", "prose")
    folder.record("def f():\n    return 1")
    report = folder.open().check()
    assert report.summary.ok == 1
    assert report.exit_code is Exit.NOTHING_JUDGED


def test_counts(folder: Folder) -> None:
    folder.write("b.md", EDITED + "\n" + REFORMATTED + "```py\n1\n```\n")
    folder.write("a.md", EXACT + "\n    ```python\n    an example\n    ```\n")
    report = folder.open().check()
    summary = report.summary
    counts = (summary.claims, summary.ok, summary.notes, summary.warnings, summary.errors)
    assert counts == (3, 1, 0, 1, 1)
    assert report.pages == 2
    assert report.unclaimed == (Location("b.md", 10),)
    assert [str(judgement.location) for judgement in report.judgements] == [
        *("a.md:1", "b.md:1", "b.md:6"),
    ]


def test_records_are_judged_only_with_all_pages(folder: Folder) -> None:
    page = folder.write("page.md", EXACT)
    folder.record("def g():\n    return 1")
    project = folder.open()
    assert [judgement.kind for judgement in project.check([page]).judgements] == ["quote"]
    kinds = [(judgement.kind, judgement.verdict) for judgement in project.check().judgements]
    assert kinds == [("quote", Verdict.EXACT), ("record", Verdict.EDITED)]


def test_a_stale_record_is_told_once(folder: Folder) -> None:
    folder.write("page.md", EMPTY)
    folder.record("def g():\n    return 1")
    judgements = folder.open().check().judgements
    assert [(judgement.kind, judgement.verdict) for judgement in judgements] == [
        ("quote", Verdict.EDITED)
    ]


def test_the_old_side_of_a_diff_is_the_recorded_text_where_its_tree_is_at_hand(
    folder: Folder,
) -> None:
    folder.write("page.md", EMPTY)
    old = "def f():\n    return 0"
    folder.record(old, recorded="1" * 40)
    project = folder.open()
    (judgement,) = project.check().judgements
    assert "is not at hand" in judgement.diff
    assert "return 1" in judgement.diff

    def recorded_text(upstream: str, recorded: str, path: str, qualname: str) -> str | None:
        assert (upstream, recorded, path, qualname) == ("kettle", "1" * 40, "m.py", "f")
        return old

    project._recorded_text = recorded_text  # type: ignore[method-assign]
    (judgement,) = project.check().judgements
    assert judgement.diff.split("\n")[-2:] == ["-    return 0", "+    return 1"]


def test_the_same_input_gives_the_same_report(folder: Folder) -> None:
    folder.write("page.md", EDITED + EXACT + EMPTY)
    first, second = folder.open().check(), folder.open().check()
    assert first.judgements == second.judgements


def test_drawing_a_block_that_claims_nothing(folder: Folder) -> None:
    from annotate.pages import blocks

    project = folder.open()
    (block,) = blocks("```python\nx\n```")
    assert project.render(block, "page.md", "en") is None
    (block,) = blocks(EXACT)
    html = project.render(block, "page.md", "en")
    assert html is not None
    assert 'data-verdict="exact"' in html


def test_a_link_out_of_the_project_is_no_page(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (tmp_path / "outside.md").write_text("# mine\n")
    (root / "docs" / "linked.md").symlink_to(tmp_path / "outside.md")
    (root / "docs" / "page.md").write_text("# page\n")
    project = open_project(root, {"kettle": {}}, tmp_path / "store")
    assert project.pages() == ["docs/page.md"]
