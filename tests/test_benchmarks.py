"""The benchmarks run: on a package of a few lines, so only that they run and what they write."""

import shutil
from pathlib import Path

import pytest

from benchmarks import corpus, extraction, fetching, measure, packages, projects, verification
from benchmarks.__main__ import PAGES
from benchmarks.measure import Sample
from benchmarks.table import BEGIN, END, Measure, Row, Words, put_into, render
from benchmarks.verification import Size

MODULE = '''\
"""A module to quote from."""


def twice(number):
    """Double it."""
    return number * 2


class Counter:
    """Counts."""

    def __init__(self):
        self.count = 0

    @property
    def next(self):
        self.count += 1
        return self.count

    @next.setter
    def next(self, value):
        self.count = value

    def odd(self, text="""
  left of the method
"""):
        return text


def one_line(): return 1
'''


@pytest.fixture
def package(tmp_path: Path) -> packages.Package:
    source = tmp_path / "tiny" / "source"
    (source / "tiny").mkdir(parents=True)
    (source / "tiny" / "counting.py").write_text(MODULE, "utf-8")
    (source / "README.md").write_text("# Tiny\n", "utf-8")
    return packages.under_git("tiny 1.0", source)


def row(ours, theirs=(), aim=None, measured=Measure.WALL):
    beside = Words("theirs", "别人的") if theirs else None
    return Row(Words("ours", "我们的"), beside, measured, ours, theirs, aim)


class TestTable:
    def test_ratio_is_the_median_of_ratios_within_rounds(self):
        each = row([1.0, 10.0, 2.0], [2.0, 5.0, 2.0])
        assert each.ratios is not None
        assert (each.ratios.median, each.ratios.low, each.ratios.high) == (1.0, 0.5, 2.0)

    def test_aims_hold_up_to_and_including_them(self):
        assert row([1.0], [2.0], aim=0.5).holds is True
        assert row([1.002], [2.0], aim=0.5).holds is False
        assert row([1.0003], [1.0], aim=1.0).holds is True
        assert row([1.0], [2.0]).holds is None

    def test_memory_is_judged_by_its_peak_over_all_rounds(self):
        assert row([1.0, 9.0], aim=5.0, measured=Measure.MEMORY).holds is False

    def test_renders_one_line_for_each_row(self):
        rows = [row([0.5], [1.0], aim=0.45), row([150e6], aim=200e6, measured=Measure.MEMORY)]
        assert render(rows, "en").split("\n")[2:] == [
            "| ours | time | 500 ms | theirs | 1.00 s | 0.50 (0.50–0.50) | ≤ 0.45 | **no** |",
            "| ours | peak memory | 150 MB |  |  |  | ≤ 200 MB | yes |",
        ]
        assert render(rows, "zh").split("\n")[3] == (
            "| 我们的 | 内存峰值 | 150 MB |  |  |  | ≤ 200 MB | 是 |"
        )

    def test_is_put_between_the_marks_and_nothing_else_changes(self, tmp_path):
        page = tmp_path / "page.md"
        page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", "utf-8")
        put_into(page, "new")
        assert page.read_text("utf-8") == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"

    @pytest.mark.parametrize("content", ["no marks", BEGIN, END, f"{END}{BEGIN}", BEGIN + END * 2])
    def test_refuses_a_page_without_its_marks(self, tmp_path, content):
        page = tmp_path / "page.md"
        page.write_text(content, "utf-8")
        with pytest.raises(ValueError, match="once each"):
            put_into(page, "new")
        assert page.read_text("utf-8") == content

    @pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
    def test_the_documentation_has_a_place_for_it(self, page):
        text = page.read_text("utf-8")
        assert text.count(BEGIN) == text.count(END) == 1


class TestMeasure:
    def test_runs_take_turns_after_an_uncounted_one(self):
        order = []

        def taking_part(name):
            def run() -> Sample:
                order.append(name)
                return Sample(len(order), 0.0, 0, "")

            return run

        samples = measure.in_turn(2, {"a": taking_part("a"), "b": taking_part("b")})
        assert order == ["a", "b"] * 3
        assert [sample.wall for sample in samples["a"]] == [3, 5]

    def test_a_sample_is_of_that_process(self, tmp_path):
        script = "print('said'); block = bytearray(64_000_000); sum(range(1_000_000))"
        sample = measure.python("-c", script, folder=tmp_path)()
        assert sample.output == "said\n"
        assert sample.peak > 64_000_000
        assert sample.cpu > 0

    def test_a_run_that_fails_is_no_measurement(self, tmp_path):
        with pytest.raises(RuntimeError, match="ended with 3"):
            measure.python("-c", "raise SystemExit(3)", folder=tmp_path)()


class TestCorpus:
    def test_chooses_definitions_every_tool_can_name(self, package):
        chosen = {quote.qualname: quote for quote in corpus.choose(package, 3)}
        assert sorted(chosen) == ["Counter", "Counter.__init__", "twice"]
        assert chosen["Counter.__init__"].text == "def __init__(self):\n    self.count = 0"

    def test_comes_round_again_where_there_are_too_few(self, package):
        quotes = corpus.choose(package, 8)
        assert len(quotes) == 8
        assert len(set(quotes)) == 3

    def test_sections_of_nested_definitions_close_inside_out(self, package, tmp_path):
        quotes = corpus.choose(package, 3)
        projects.snippet_sections(tmp_path / "site", package, quotes, 1)
        marked = (tmp_path / "site" / "marked" / "tiny" / "counting.py").read_text("utf-8")
        kept = [line for line in marked.split("\n") if "--8<--" not in line]
        assert "\n".join(kept) == MODULE + "\n"
        open_sections = []
        for line in marked.split("\n"):
            if "[start:" in line:
                open_sections.append(line.replace("start", "end"))
            elif "[end:" in line:
                assert open_sections.pop() == line
        assert open_sections == []


def test_the_commit_holds_the_files(package, tmp_path):
    rows = fetching.measure(package, 1, tmp_path / "work")
    assert [each.measure for each in rows] == [
        Measure.BYTES, Measure.WALL, Measure.WALL, Measure.MEMORY,
    ]  # fmt: skip
    blobs = tmp_path / "work" / "annotate" / "store" / "blobs"
    stored = {path.read_text("utf-8") for path in blobs.rglob("*") if path.is_file()}
    assert stored == {MODULE, "# Tiny\n"}
    checked_out = tmp_path / "work" / "checkout" / "tiny" / "counting.py"
    assert checked_out.read_text("utf-8") == MODULE


@pytest.mark.skipif(shutil.which("ctags") is None, reason="needs Universal Ctags")
def test_extraction_measures_every_tool(package):
    rows = extraction.measure(package, 1)
    assert len(rows) == 5
    assert all(min(each.ours) > 0 for each in rows)


def test_verification_imports_no_library_it_does_not_need(package, tmp_path):
    quotes = corpus.choose(package, 3)
    pages = projects.literal_quotes(tmp_path / "pages", package, quotes, 1)
    libraries = verification.imported_libraries(pages, tmp_path / "store")
    again = verification.imported_libraries(pages, tmp_path / "store")
    assert "git" in libraries
    assert again == ["click", "platformdirs", "tree_sitter", "tree_sitter_python"]


@pytest.mark.slow
def test_sphinx_and_the_sites_show_every_quote(package, tmp_path):
    pytest.importorskip("sphinx")
    from benchmarks import building

    size = Size(quotes=4, pages=2)
    assert len(building.measure(package, size, 1, tmp_path / "sites")) == 6
    rows = verification.measure(package, package, size, size, 1, tmp_path / "pages")
    assert len(rows) == 7
