import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.errors import AnnotateError
from annotate.recordings import Region, regions

SCRIPT = """\
import numpy
# region: first


def f():
    return 1


# endregion

if f():
    # region: second-one
    print(1)

    if f():
        print(2)
    # endregion
"""


def test_regions_are_dedented_and_have_no_blank_lines_around_them() -> None:
    assert regions(SCRIPT) == {
        "first": Region("first", 5, 6, "def f():\n    return 1"),
        "second-one": Region("second-one", 13, 16, "print(1)\n\nif f():\n    print(2)"),
    }


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("# region: a\n# region: b\n1\n# endregion\n", "line 2: region “a” has not ended yet"),
        ("1\n# endregion\n", "line 2: no region is open here"),
        ("# region: a\n1\n", "line 1: region “a” is never ended"),
        ("# region: a\n\n# endregion\n", "line 2: region “a” is empty"),
        ("# region: a\n# endregion\n", "line 1: region “a” is empty"),
        (
            "# region: a\n1\n# endregion\n# region: a\n2\n# endregion\n",
            "line 4: there is a region “a” already",
        ),
        ("# region a\n1\n", "line 1: “# region a” is not a region mark"),
        ("#region: a\n1\n", "line 1: “#region: a” is not a region mark"),
        ("# region: a\n1\n# endregion: a\n", "line 3: “# endregion: a” is not a region mark"),
    ],
)
def test_bad_marks_name_their_line(script: str, message: str) -> None:
    with pytest.raises(AnnotateError, match=re.escape(message)):
        regions(script)


lines = st.text(st.characters(exclude_characters="#\n\r", exclude_categories=["Cs"]), max_size=20)
bodies = st.lists(lines, min_size=1, max_size=6).filter(lambda body: any(map(str.strip, body)))


@given(st.lists(st.tuples(st.lists(lines, max_size=3), bodies), max_size=4))
def test_the_lines_of_a_region_are_where_it_says(parts: list[tuple[list[str], list[str]]]) -> None:
    script = ""
    for number, (before, body) in enumerate(parts):
        region = [f"# region: r{number}", *body, "# endregion"]
        script += "\n".join([*before, *region]) + "\n"
    found = regions(script)
    assert list(found) == [f"r{number}" for number in range(len(parts))]
    all_lines = script.split("\n")
    for region, (_, body) in zip(found.values(), parts, strict=True):
        kept = all_lines[region.first_line - 1 : region.last_line]
        assert kept[0].strip()
        assert kept[-1].strip()
        assert [line.strip() for line in kept] == [line.strip() for line in region.text.split("\n")]
        assert [line.strip() for line in kept if line.strip()] == [
            line.strip() for line in body if line.strip()
        ]
