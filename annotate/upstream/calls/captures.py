"""The free variables of a file's functions and lambdas, and where each is bound.

The scopes are those of Python's symbol table (language reference, "Naming and binding"): what is
said here equals ``co_freevars`` of the compiled code.
"""

from dataclasses import dataclass

from annotate.upstream.calls.scopes import Scope, scopes
from annotate.upstream.symbols import Symbol


@dataclass(frozen=True, slots=True)
class Capture:
    """A variable that a function keeps.

    Attributes:
        name: the variable; ``__class__`` where ``super()`` needs it.
        scope: the function that binds it, dotted as `Closure.function` is.
        lines: where it is bound there, from 1, in order.
    """

    name: str
    scope: str
    lines: tuple[int, ...]

    @property
    def line(self) -> int:
        """The line where it is first bound."""
        return self.lines[0] if self.lines else 0


@dataclass(frozen=True, slots=True)
class Closure:
    """A function or lambda with what it captures.

    Attributes:
        function: dotted from the module down, lambdas as ``<lambda1>`` counted in their scope.
        kind: function or lambda.
        first_line: of the ``def`` or ``lambda``, from 1.
        column: in bytes, from 0.
        captures: sorted by name; empty where it captures nothing.
    """

    function: str
    kind: str
    first_line: int
    column: int
    captures: tuple[Capture, ...]


def captures(text: str, symbol: Symbol | None = None) -> tuple[Closure, ...]:
    """What the functions and lambdas of a file capture, in source order.

    Only those within the symbol, itself among them, where one is given.

    Raises:
        AnnotateError: as `annotate.upstream.syntax.parse` does.
    """
    found: list[Closure] = []
    for scope in scopes(text):
        if scope.kind not in ("function", "lambda"):
            continue
        if symbol is not None and not _within(scope, symbol):
            continue
        kept = tuple(_capture(scope, name) for name in sorted(scope.free))
        found.append(Closure(scope.qualname, scope.kind, scope.line, scope.column, kept))
    return tuple(found)


def _within(scope: Scope, symbol: Symbol) -> bool:
    if not symbol.first_line <= scope.line or not scope.last_line <= symbol.last_line:
        return False
    starts = scope.line > symbol.first_line or scope.column >= symbol.first_column
    if symbol.last_column is None or scope.last_line < symbol.last_line:
        return starts
    return starts and scope.last_column <= symbol.last_column


def _capture(scope: Scope, name: str) -> Capture:
    owner = scope.parent
    while owner is not None and not owner.provides(name):
        owner = owner.parent
    if owner is None:
        return Capture(name, "", ())
    return Capture(name, owner.qualname, tuple(sorted(set(owner.bound.get(name, [owner.line])))))
