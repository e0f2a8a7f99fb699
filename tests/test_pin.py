"""Pins: full commit ids only, and links that a web host understands."""

import pytest

from annotate.pin import Pin, Release, is_full_commit

SHA1 = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
SHA256 = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"


@pytest.mark.parametrize("text", [SHA1, SHA256])
def test_full_commits(text: str) -> None:
    assert is_full_commit(text)


@pytest.mark.parametrize(
    "text",
    ["", "HEAD", "v1.0", SHA1[:7], SHA1[:-1], SHA1 + "0", SHA1.upper(), f" {SHA1}", f"{SHA1}\n"],
)
def test_what_can_move_or_is_ambiguous(text: str) -> None:
    assert not is_full_commit(text)


@pytest.mark.parametrize(
    ("repository", "expected"),
    [
        ("https://git.example.org/o/n", "https://git.example.org/o/n/blob/{}/a.py#L2-L3"),
        ("https://git.example.org/o/n.git", "https://git.example.org/o/n/blob/{}/a.py#L2-L3"),
        ("https://git.example.org/o/n/", "https://git.example.org/o/n/blob/{}/a.py#L2-L3"),
        ("https://gitlab.example.org/o/n", "https://gitlab.example.org/o/n/-/blob/{}/a.py#L2-3"),
        ("file:///srv/n", None),
        ("ssh://git.example.org/o/n", None),
    ],
)
def test_permalinks(repository: str, expected: str | None) -> None:
    link = Pin("n", repository, SHA1).permalink("a.py", 2, 3)
    assert link == (expected and expected.format(SHA1))


def test_permalinks_without_lines_or_of_one_line_or_of_an_odd_path() -> None:
    pin = Pin("n", "https://git.example.org/o/n", SHA1)
    base = f"https://git.example.org/o/n/blob/{SHA1}"
    assert pin.permalink("a.py") == f"{base}/a.py"
    assert pin.permalink("a.py", 2, 2) == f"{base}/a.py#L2"
    assert pin.permalink("a b/é?#.py", 1) == f"{base}/a%20b/%C3%A9%3F%23.py#L1"


def test_a_release_names_itself() -> None:
    assert str(Release("kettle", "1.0", "0" * 64)) == "kettle 1.0"
