"""Record files rewritten: what goes where, and what is refused."""

import pytest

from annotate.errors import AnnotateError
from annotate.record_edits import Change, rewrite

OLD = 'path = "a.py"\n\n[f]\ntext = "1"\n\n# kept\n[g]\ntext = "2"\n'


def move(files: dict[str, tuple[str, str]], **changes: Change) -> dict[str, str | None]:
    return rewrite(
        files,
        {("a.py", name): change for name, change in changes.items()},
        lambda path: f"snippets/up/{path}.toml",
        lambda path, qualname: ord(qualname[0]),
    )


def test_a_new_name_and_new_fingerprints() -> None:
    found = move({"r.toml": ("a.py", OLD)}, f=Change("a.py", "C.f", text="9"))
    assert found == {"r.toml": OLD.replace("[f]", '["C.f"]').replace('"1"', '"9"')}


def test_one_symbol_goes_to_another_file() -> None:
    found = move({"r.toml": ("a.py", OLD)}, g=Change("b.py", "g"))
    assert found["r.toml"] is not None
    assert "[g]" not in found["r.toml"]
    assert found["snippets/up/b.py.toml"] == 'path = "b.py"\n\n# kept\n[g]\ntext = "2"\n'


def test_a_module_takes_its_file_along() -> None:
    found = move({"r.toml": ("a.py", OLD)}, f=Change("b.py", "f"), g=Change("b.py", "g"))
    assert found["r.toml"] is None
    assert found["snippets/up/b.py.toml"] == OLD.replace('"a.py"', '"b.py"')


def test_a_record_that_is_there_already_is_not_written_twice() -> None:
    files = {"r.toml": ("a.py", OLD), "b.toml": ("b.py", 'path = "b.py"\n\n[g]\ntext = "3"\n')}
    with pytest.raises(AnnotateError, match=r"b\.toml would record g twice"):
        move(files, g=Change("b.py", "g"))
