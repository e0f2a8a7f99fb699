"""The house rules: which module may import which, and who alone may touch what."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / "annotate"

# From top to bottom; a floor is made of rooms, a room of modules and packages directly below
# `annotate`. A room may import what lies below its floor, and within itself.
FLOORS: list[list[set[str]]] = [
    [{"cli", "terminal"}, {"addresses", "generated", "plugin"}],
    [
        *({"accept"}, {"atlas"}, {"experiments"}, {"fences"}, {"formulas"}),
        *({"maps"}, {"report"}, {"runnable"}),
    ],
    [{"regenerate"}],
    [{"project"}],
    [{"claims"}],
    # What ran is told in terms of the pinned code, so upstream lies below.
    [{"recordings"}],
    [{"pages", "tables"}, {"record_edits", "records"}, {"upstream"}],
    [{"verdict"}],
    [{"config"}, {"edit", "journal"}],
    [{"attributes"}, {"location"}, {"pin"}],
    # Scripts import the one; it must stay free of all others.
    [{"errors"}, {"experiment"}],
]

# Imported name → the only modules, or packages, that may import it.
RESERVED = {
    "tree_sitter": {"upstream.syntax"},
    "tree_sitter_python": {"upstream.syntax"},
    "mkdocs": {"plugin"},
    "subprocess": {"recordings"},
    "multiprocessing": set(),
    "pty": set(),
}
# Numbers that say where a pipe goes; nothing is started with them.
CONSTANTS = {"subprocess.PIPE", "subprocess.DEVNULL", "subprocess.STDOUT"}


def name_of(file: Path) -> str:
    """A module's name below `annotate`; that of a package is the one of its ``__init__.py``."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {name_of(file): file for file in sorted(ROOT.rglob("*.py"))}
MODULES = [name for name in FILES if name]
every_module = pytest.mark.parametrize("module", MODULES)


@cache
def syntax(module: str) -> ast.Module:
    return ast.parse(FILES[module].read_bytes())


def imports(module: str) -> Iterator[str]:
    """All that a module imports, wherever in it: in functions and under TYPE_CHECKING too."""
    for node in ast.walk(syntax(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno}: imports are written in full"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported_modules(module: str) -> set[str]:
    """The modules of annotate that a module imports."""
    ours = [name.removeprefix("annotate.") for name in imports(module) if is_ours(name)]
    found = {name if name in FILES else name.rpartition(".")[0] for name in ours}
    assert found <= FILES.keys(), found
    return found


def is_ours(name: str) -> bool:
    return name.startswith("annotate.")


def room_of(module: str) -> tuple[int, int]:
    """Floor, from the top, and room of a module."""
    top = module.partition(".")[0]
    for floor, rooms in enumerate(FLOORS):
        for room, names in enumerate(rooms):
            if top in names:
                return floor, room
    pytest.fail(f"annotate/{top} has no place: put it on a floor of {Path(__file__).name}")


def test_the_walk_sees_the_package() -> None:
    assert {"cli", "upstream", "upstream.syntax", "claims.quote", "errors"} <= set(MODULES)
    assert "errors" in imported_modules("location")
    # One that is imported inside a function, and one under TYPE_CHECKING.
    assert "claims.card" in imported_modules("claims.quote")
    assert "git" in set(imports("upstream.git"))


def test_no_name_stands_in_two_rooms() -> None:
    names = [name for rooms in FLOORS for room in rooms for name in room]
    assert len(names) == len(set(names))


@every_module
def test_imports_go_down(module: str) -> None:
    floor, room = room_of(module)
    for imported in imported_modules(module):
        other_floor, other_room = room_of(imported)
        if (other_floor, other_room) != (floor, room):
            assert other_floor > floor, f"{module} imports {imported}, which does not lie below it"


def test_there_are_no_circles() -> None:
    try:
        TopologicalSorter({module: imported_modules(module) for module in MODULES}).prepare()
    except CycleError as error:
        pytest.fail(f"a circle: {' → '.join(error.args[1])}")


@every_module
def test_what_is_reserved(module: str) -> None:
    for imported in set(imports(module)) - CONSTANTS:
        allowed = RESERVED.get(imported.partition(".")[0])
        if allowed is not None:
            places = {module, module.partition(".")[0]}
            assert places & allowed, f"{module} imports {imported}; only {allowed} may"


def writes_to_stdout(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return ast.unparse(node) in ("sys.stdout", "sys.__stdout__", "click.echo", "click.secho")
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "print":
        files = [keyword.value for keyword in node.keywords if keyword.arg == "file"]
        return not files or ast.unparse(files[0]) == "sys.stdout"
    return False


# These run in the process of an experiment, whose output is what is recorded.
INSIDE_EXPERIMENTS = {"recordings.launcher", "recordings.tracer"}


@every_module
def test_only_the_command_line_writes_to_stdout(module: str) -> None:
    if module == "cli" or module in INSIDE_EXPERIMENTS:
        return
    lines = [node.lineno for node in ast.walk(syntax(module)) if writes_to_stdout(node)]
    assert lines == []


def test_a_print_would_be_seen() -> None:
    for line in ("print(1)", "print(1, file=sys.stdout)", "sys.stdout.write('')", "click.echo(1)"):
        assert any(writes_to_stdout(node) for node in ast.walk(ast.parse(line))), line
    assert not any(
        writes_to_stdout(node) for node in ast.walk(ast.parse("print(1, file=sys.stderr)"))
    )


@every_module
def test_no_module_is_a_drawer(module: str) -> None:
    assert not {"utils", "util", "helpers", "common", "misc", "site"} & set(module.split("."))


def test_only_the_command_line_catches_errors_for_good() -> None:
    """Elsewhere an `AnnotateError` is told in other words or made a verdict, never printed."""
    ending = [
        module
        for module in MODULES
        for node in ast.walk(syntax(module))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("sys.exit", "exit", "quit")
    ]
    assert set(ending) <= {"cli"} | INSIDE_EXPERIMENTS
