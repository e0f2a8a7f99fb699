"""What a file does, reduced to what call graphs need: plain tuples that JSON can keep.

A file becomes a list of `Code`: the module body first, then every class, function and lambda in
source order. Expressions and statements are tuples whose first item names the operation:

Expressions
    ``("n", name)``                                 a name
    ``("k", constant)``                             a str, int, bool or None literal
    ``("K", type name)``                            a literal whose value does not matter
    ``("a", object, name, line)``                   an attribute
    ``("c", callee, args, keywords, line, start, end)``   a call; keywords are (name or None, value)
    ``("s", object, key, line)``                    a subscript
    ``("sl", low, high, step)``                     a slice, each part an expression or None
    ``("l" | "t" | "S", items)``                    a list, tuple or set
    ``("d", items)``                                a dict of (key or None, value); None for ``**``
    ``("lc" | "sc" | "gc" | "dc", element, clauses)``   comprehensions; clauses are
                                                    (target, iterable, conditions)
    ``("L", code index)``                           a lambda
    ``("if", test, then, else)``, ``("or" | "and", left, right)``, ``("not", operand)``
    ``("b", operator, left, right, line)``, ``("u", operator, operand, line)``
    ``("cmp", operators, operands, line)``
    ``(":=", name, value)``, ``("aw", value)``, ``("y", value)``, ``("yf", iterable)``
    ``("*", value)``                                a starred item or target
    ``("fs", parts, line)``                         an f-string
    ``("seq", parts)``                              evaluated, value unknown

Statements
    ``("e", expression)``, ``("=", targets, value, line)``, ``("ann", target, annotation, value)``
    ``("+=", operator, target, value, line)``, ``("def", code index, bound name)``
    ``("import", dotted, bound name, whole)``, ``("from", module, ((name, bound name), …))``
    ``("ret", value)``, ``("raise", value, cause, line)``, ``("del", targets)``
    ``("assert", test, message)``
    ``("if", test, then, else)``, ``("while", test, body, else)``
    ``("for", target, iterable, body, else, line)``
    ``("try", body, ((types, name, body), …), else, finally)``
    ``("with", ((value, target), …), body, line)``
    ``("match", subject, ((pattern, guard, body), …), line)``, ``("stop",)`` break and continue

Patterns
    ``("bind", name, pattern)``, ``("class", expression, positional, keywords)``,
    ``("items", patterns)``, ``("keys", ((key, pattern), …), rest)``, ``("any", patterns)``,
    ``("value", expression)``
"""

import json
from dataclasses import astuple, dataclass, fields
from typing import Any

Expression = tuple[Any, ...]
Statement = tuple[Any, ...]
Body = tuple[Statement, ...]

FORMAT = 1
"""Changes when the tuples do, so that what an older version kept is not read."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter.

    ``kind``: ``p`` positional or keyword, ``po`` positional only, ``k`` keyword only, ``*`` or
    ``**``.
    """

    name: str
    kind: str
    default: Expression | None
    annotation: Expression | None


@dataclass(frozen=True, slots=True)
class Code:
    """A module body, class body, function or lambda.

    Attributes:
        kind: module, class, function or lambda.
        name: as written; of a lambda ``<lambda1>``, counted within the scope it stands in.
        bound_name: of a lambda that is a statement's whole value, the name it is assigned to.
        line: of the first decorator if there is one, and where the statement of a lambda starts.
        own_line: where Python says the code object starts.
        column: of the lambda or definition, in bytes.
        parent: index of the code it stands in; -1 for the module.
        parameters: in order.
        body: its statements; of a lambda, one return.
        decorators: from top to bottom.
        bases: of a class, starred ones included.
        keywords: of a class: (name, value).
        returns: the return annotation.
        generator: whether it has a ``yield`` of its own.
        local: names it binds, parameters among them.
        outer: names declared ``nonlocal``.
        shared: names declared ``global``.
    """

    kind: str
    name: str
    bound_name: str
    line: int
    own_line: int
    column: int
    parent: int
    parameters: tuple[Parameter, ...]
    body: Body
    decorators: tuple[Expression, ...]
    bases: tuple[Expression, ...]
    keywords: tuple[tuple[str, Expression], ...]
    returns: Expression | None
    generator: bool
    local: frozenset[str]
    outer: frozenset[str]
    shared: frozenset[str]


@dataclass(frozen=True, slots=True)
class ModuleCode:
    """All code of one file.

    Attributes:
        codes: the module body first.
        stored_attributes: names the file assigns as attributes of anything.
    """

    codes: tuple[Code, ...]
    stored_attributes: frozenset[str]


_PARAMETERS = [each.name for each in fields(Code)].index("parameters")


def to_json(module: ModuleCode) -> bytes:
    """Make bytes that `from_json` reads back."""
    rows = []
    for code in module.codes:
        row = list(astuple(code))
        row[-3:] = [sorted(code.local), sorted(code.outer), sorted(code.shared)]
        rows.append(row)
    table = [rows, sorted(module.stored_attributes)]
    return json.dumps(table, separators=(",", ":")).encode()


def from_json(data: bytes) -> ModuleCode:
    """Read what `to_json` made."""
    rows, attributes = _as_tuples(json.loads(data))
    codes = []
    for row in rows:
        parameters = tuple(Parameter(*each) for each in row[_PARAMETERS])
        names = (frozenset(each) for each in row[-3:])
        values: list[Any] = [*row[:_PARAMETERS], parameters, *row[_PARAMETERS + 1 : -3], *names]
        codes.append(Code(*values))
    return ModuleCode(tuple(codes), frozenset(attributes))


def _as_tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_as_tuples(item) for item in value)
    return value
