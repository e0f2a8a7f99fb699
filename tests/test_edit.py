"""Edits change the lines they name and no other byte; files are written whole or not at all."""

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.edit import Edit, apply, write_atomically
from annotate.errors import AnnotateError

BOM = b"\xef\xbb\xbf"
LINE = st.text(st.sampled_from("ab é\t\x0c\u2028"), max_size=4)
TEXT = st.lists(LINE, min_size=1, max_size=4).map("\n".join)


@pytest.mark.parametrize(
    ("old", "edit", "new"),
    [
        (b"a\nb\nc\n", (2, 2, "x"), b"a\nx\nc\n"),
        (b"a\nb\nc\n", (1, 3, "x"), b"x\n"),
        (b"a\nb\nc\n", (2, 2, "x\ny"), b"a\nx\ny\nc\n"),
        (b"a\nb\nc\n", (2, 3, ""), b"a\n\n"),
        (b"a\r\nb\r\nc\r\n", (2, 2, "x\ny"), b"a\r\nx\r\ny\r\nc\r\n"),
        (b"a\r\nb\nc\r\n", (2, 3, "x\ny\nz"), b"a\r\nx\ny\nz\r\n"),
        (b"a\nb", (2, 2, "x\ny"), b"a\nx\ny"),
        (b"a\r\nb", (2, 2, "x\ny"), b"a\r\nx\r\ny"),
        (BOM + b"a\nb\n", (1, 1, "x"), BOM + b"x\nb\n"),
        (b"a", (1, 1, "é"), "é".encode()),
    ],
)
def test_one_edit(old: bytes, edit: tuple[int, int, str], new: bytes) -> None:
    assert apply(old, [Edit("p", *edit)]) == new


def test_edits_may_come_in_any_order_and_count_lines_as_they_were() -> None:
    edits = [Edit("p", 1, 1, "x\ny"), Edit("p", 3, 4, "z"), Edit("p", 2, 2, "")]
    for order in (edits, edits[::-1]):
        assert apply(b"a\nb\nc\nd\ne\n", order) == b"x\ny\n\nz\ne\n"


def test_no_edit_changes_nothing() -> None:
    data = BOM + b"a\r\r\n\nb\r"
    assert apply(data, []) == data


@pytest.mark.parametrize(
    "edits",
    [
        [(0, 1)],
        [(2, 1)],
        [(4, 4)],
        [(1, 4)],
        [(1, 2), (2, 3)],
        [(1, 3), (2, 2)],
        [(2, 2), (2, 2)],
    ],
)
def test_edits_that_do_not_fit(edits: list[tuple[int, int]]) -> None:
    with pytest.raises(AnnotateError, match=r"page\.md: lines") as caught:
        apply(b"a\nb\nc", [Edit("page.md", first, last, "x") for first, last in edits])
    assert caught.value.hint


@given(
    lines=st.lists(LINE, min_size=1, max_size=8),
    ends=st.lists(st.sampled_from(["\n", "\r\n"]), min_size=8, max_size=8),
    bom=st.booleans(),
    ranges=st.lists(st.tuples(st.integers(1, 8), st.integers(1, 8)), max_size=3),
    text=TEXT,
)
def test_all_other_bytes_stay(
    lines: list[str], ends: list[str], bom: bool, ranges: list[tuple[int, int]], text: str
) -> None:
    data = b"".join((line + end).encode() for line, end in zip(lines, ends, strict=False))
    data = (BOM if bom else b"") + data
    edits = []
    free = 1
    for first, last in sorted(ranges):
        if free <= first <= last <= len(lines):
            edits.append(Edit("p", first, last, text))
            free = last + 1
    new = apply(data, edits)

    height = text.count("\n") + 1
    old_lines, new_lines = data.split(b"\n"), new.split(b"\n")
    number = shift = 0
    for edit in edits:
        assert (
            new_lines[number + shift : edit.first - 1 + shift] == old_lines[number : edit.first - 1]
        )
        inserted = new_lines[edit.first - 1 + shift : edit.first - 1 + shift + height]
        decoded = [line.decode("utf-8-sig").removesuffix("\r") for line in inserted]
        assert decoded == text.split("\n")
        shift += height - (edit.last - edit.first + 1)
        number = edit.last
    assert new_lines[number + shift :] == old_lines[number:]
    assert new.startswith(BOM) == bom


def test_writing_makes_folders_and_keeps_permissions(tmp_path: Path) -> None:
    file = tmp_path / "new" / "file"
    write_atomically(file, b"1")
    file.chmod(0o640)
    write_atomically(file, b"2")
    assert file.read_bytes() == b"2"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [entry.name for entry in file.parent.iterdir()] == ["file"]


def test_writing_goes_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"1")
    (tmp_path / "link").symlink_to("target")
    write_atomically(tmp_path / "link", b"2")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"2"


def test_a_crash_while_writing_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old")

    def crash(self: Path, target: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", crash)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(file, b"new")
    assert file.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(AnnotateError, match="cannot be written") as caught:
        write_atomically(tmp_path / "file" / "below", b"")
    assert caught.value.hint
