"""What each name of a scope is bound by, as its statements say."""

from collections.abc import Iterator
from dataclasses import dataclass

from annotate.upstream.calls.code import Body, Code, Expression, ModuleCode


@dataclass(frozen=True, slots=True)
class Binding:
    """One statement that binds a name.

    Attributes:
        kind: definition, import or assignment.
        code: of a definition, the index of its code.
        module: of an import, as written.
        name: of an import, what is taken from the module; "" for the module itself.
    """

    kind: str
    code: int = -1
    module: str = ""
    name: str = ""


def bindings(code: Code) -> dict[str, list[Binding]]:
    """The bindings of each name, in source order; those of inner scopes are not among them."""
    found: dict[str, list[Binding]] = {}
    for parameter in code.parameters:
        found[parameter.name] = [Binding("parameter")]
    for name, binding in _of_body(code.body):
        found.setdefault(name, []).append(binding)
    return found


def unsteady_names(module: ModuleCode) -> frozenset[str]:
    """Names some scope of a file may see change: bound twice, or declared global or nonlocal."""
    names: set[str] = set()
    for code in module.codes:
        names |= code.shared | code.outer
        if code.kind != "lambda":
            for name, bound in bindings(code).items():
                if len(bound) > 1:
                    names.add(name)
    return frozenset(names)


def _of_body(body: Body) -> Iterator[tuple[str, Binding]]:
    for statement in body:
        kind = statement[0]
        if kind == "def":
            yield statement[2], Binding("definition", statement[1])
        elif kind == "=":
            for target in statement[1]:
                yield from _of_target(target)
        elif kind in ("ann", "+="):
            yield from _of_target(statement[1] if kind == "ann" else statement[2])
        elif kind == "import":
            whole = statement[3] or "." not in statement[1]
            module = statement[1] if whole else statement[2]
            yield statement[2], Binding("import", module=module)
        elif kind == "from":
            for name, bound in statement[2]:
                yield bound, Binding("import", module=statement[1], name=name)
        elif kind == "for":
            yield from _of_target(statement[1])
            yield from _of_body(statement[3])
            yield from _of_body(statement[4])
        elif kind == "with":
            for _, target in statement[1]:
                if target is not None:
                    yield from _of_target(target)
            yield from _of_body(statement[2])
        elif kind == "match":
            for _, _, case in statement[2]:
                yield from _of_body(case)
        else:
            for part in _suites(statement):
                yield from _of_body(part)


def _suites(statement: tuple[object, ...]) -> Iterator[Body]:
    kind = statement[0]
    if kind in ("if", "while"):
        yield from (statement[2], statement[3])  # type: ignore[misc]
    elif kind == "try":
        yield statement[1]  # type: ignore[misc]
        for handler in statement[2]:  # type: ignore[attr-defined]
            yield handler[2]
        yield from (statement[3], statement[4])  # type: ignore[misc]


def _of_target(target: Expression) -> Iterator[tuple[str, Binding]]:
    if target[0] == "n":
        yield target[1], Binding("assignment")
    elif target[0] in ("t", "l"):
        for item in target[1]:
            yield from _of_target(item)
    elif target[0] == "*":
        yield from _of_target(target[1])


def free_names(code: Code) -> frozenset[str]:
    """The names a function reads that it does not bind; those of inner functions are left out."""
    found: set[str] = set()
    pending: list[object] = list(code.body)
    while pending:
        part = pending.pop()
        if not isinstance(part, tuple) or not part:
            continue
        if part[0] == "n" and len(part) == 2 and isinstance(part[1], str):
            found.add(part[1])
        elif part[0] != "k":
            pending.extend(part)
    return frozenset(found) - code.local
