"""The article this project began with: its hand-written quotes are read and judged as they stand.

The article is not part of this repository. Where a folder ``shared/seed`` lies beside the checkout,
it is read from there; ``tests/claims/cases/article-…`` have the same form.
"""

import shutil
from pathlib import Path

import pytest

from annotate.errors import AnnotateError
from annotate.pages import Block, blocks, read_page
from annotate.project import Project
from annotate.verdict import Verdict

CHECKOUT = Path(__file__).resolve().parents[1]
SEED = CHECKOUT.parent / "shared" / "seed" / "autograd-13-custom-primitive.txt"

pytestmark = pytest.mark.skipif(
    not SEED.exists(), reason="the seed article, shared/seed, does not lie beside the checkout"
)

QUOTED = ["VJPNode.__init__", "defvjp_argnums", "translate_vjp"]


def labelled() -> list[Block]:
    return [block for block in blocks(read_page(SEED, SEED.name)) if block.form == "labelled"]


def test_what_the_article_quotes() -> None:
    quotes = [block for block in labelled() if block.label == "REAL SOURCE"]
    assert [block.attributes["symbol"] for block in quotes] == QUOTED
    assert {block.attributes["file"] for block in quotes} == {"autograd/core.py"}
    assert [block.problem for block in quotes] == [""] * 3
    assert len(labelled()) == 6


def test_code_ends_where_prose_begins() -> None:
    lines = read_page(SEED, SEED.name).split("\n")
    for block in labelled():
        assert block.text == "\n".join(lines[block.text_line - 1 : block.last_line])
        assert lines[block.last_line] == ""
        # Each piece of code is followed by a paragraph in Chinese, which may begin with code.
        following = next(line for line in lines[block.last_line :] if line)
        assert any("\u4e00" <= character <= "\u9fff" for character in following)
        assert following not in block.text


@pytest.mark.slow
def test_its_quotes_are_those_of_the_pinned_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With this project's pin and records; a stand-in shows what it can."""
    monkeypatch.setenv("ANNOTATE_CACHE", str(tmp_path / "cache"))
    project = tmp_path / "project"
    project.mkdir()
    shutil.copy(CHECKOUT / "pyproject.toml", project)
    shutil.copytree(CHECKOUT / "snippets", project / "snippets")
    page = shutil.copy(SEED, project)
    try:
        opened = Project.open(project)
    except AnnotateError as error:
        pytest.skip(f"no source of the upstream is at hand: {error.message}")
    judgements = opened.check([Path(page)]).judgements
    found = {
        each.subject.rpartition("::")[2]: each.verdict
        for each in judgements
        if each.kind == "quote"
    }
    assert list(found) == QUOTED
    differs = Verdict.STAND_IN if opened.index().tree.is_stand_in else Verdict.EXACT
    assert list(found.values()) == [Verdict.EXACT, Verdict.EXACT, differs]
