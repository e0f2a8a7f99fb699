"""Which names in a file's code mean a symbol of the tree: what a reader can follow.

Read from Python's own syntax tree, with Python's scopes: a file that the running Python cannot
read has none. A name that may mean several things means none.
"""

import ast
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from annotate.errors import AnnotateError
from annotate.location import SymbolReference
from annotate.upstream.index import Index
from annotate.upstream.table import ModuleTable, Place

_MAX_BASES = 16

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, order=True, slots=True)
class Use:
    """A name in the code and the symbol it means.

    Attributes:
        line: counting from 1.
        start: its first character in the line, counting from 0.
        end: the character behind it.
        target: the symbol's id.
    """

    line: int
    start: int
    end: int
    target: str


def uses(index: Index, path: str) -> list[Use]:
    """The names of a file that mean a symbol, in order; where one is defined, it means itself.

    Raises:
        AnnotateError: the file's bytes cannot be judged.
    """
    table = index.module(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(table.text)
        reader = _Reader(index, table)
        reader.statements(module.body, _Scope("module", "", Counter(), None))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return sorted(set(reader.found))


@dataclass(frozen=True, slots=True)
class _Scope:
    """A scope: its kind, the qualified name of its owner, what it binds and how often, its parent.

    A comprehension is a scope without a name of its own: it has its parent's.
    """

    kind: str
    qualname: str
    bound: Counter[str]
    parent: "_Scope | None"
    self_name: str = ""

    def inner(self, name: str) -> str:
        """The qualified name of a symbol defined in this scope."""
        return f"{self.qualname}.{name}" if self.qualname else name


class _Reader(ast.NodeVisitor):
    """Walks a module, keeping track of the scope."""

    def __init__(self, index: Index, table: ModuleTable) -> None:
        self.found: list[Use] = []
        self._index = index
        self._path = table.path
        self._table = table
        self._lines = table.text.split("\n")
        self._scope = _Scope("module", "", Counter(), None)
        self._by_line = {
            (symbol.qualname.partition("#")[0], line): symbol.qualname
            for symbol in table.symbols.values()
            for line in range(symbol.first_line, symbol.last_line + 1)
            if symbol.kind in ("class", "function", "method")
        }

    def statements(self, body: Iterable[ast.AST], scope: _Scope) -> None:
        """Visit statements in a scope."""
        outer, self._scope = self._scope, scope
        for statement in body:
            self.visit(statement)
        self._scope = outer

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._definition(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._definition(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._definition(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_all([*node.args.defaults, *filter(None, node.args.kw_defaults)])
        scope = _Scope("function", self._scope.qualname, _bound_by(node), self._scope)
        self.statements([node.body], scope)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node)

    def visit_Name(self, node: ast.Name) -> None:
        if target := self._meaning(node):
            self._use(node.lineno, node.col_offset, node.id, target)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.visit(node.value)
        target = self._member(node)
        if target and node.end_lineno is not None and node.end_col_offset is not None:
            start = node.end_col_offset - len(node.attr.encode())
            self._use(node.end_lineno, start, node.attr, target)

    def _definition(self, node: _Definition) -> None:
        self._visit_all(node.decorator_list)
        qualname = self._scope.inner(node.name)
        qualname = self._by_line.get((qualname, node.lineno), qualname)
        if qualname in self._table.symbols:
            self._use_definition(node, f"{self._path}::{qualname}")
        if isinstance(node, ast.ClassDef):
            self._visit_all([*node.bases, *(keyword.value for keyword in node.keywords)])
            bound = _bound_in(node.body)
            self.statements(node.body, _Scope("class", qualname, bound, self._scope))
            return
        arguments = node.args
        self._visit_all([*arguments.defaults, *filter(None, arguments.kw_defaults)])
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        self._visit_all(argument.annotation for argument in every if argument.annotation)
        if node.returns is not None:
            self.visit(node.returns)
        scope = _Scope("function", qualname, _bound_by(node), self._scope, self._self_name(node))
        self.statements(node.body, scope)

    def _self_name(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
        """The name of a method's own object, if it is a method and has one."""
        static = any(
            isinstance(decorator, ast.Name) and decorator.id == "staticmethod"
            for decorator in node.decorator_list
        )
        arguments = [*node.args.posonlyargs, *node.args.args]
        return arguments[0].arg if self._scope.kind == "class" and arguments and not static else ""

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    ) -> None:
        self.visit(node.generators[0].iter)
        targets = _bound_in([generator.target for generator in node.generators])
        scope = _Scope("function", self._scope.qualname, targets, self._scope)
        rest: list[ast.AST] = []
        for number, generator in enumerate(node.generators):
            rest += [generator.target, *([generator.iter] if number else []), *generator.ifs]
        rest += [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self.statements(rest, scope)

    def _visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def _use(self, line: int, byte: int, name: str, target: str) -> None:
        # ast counts bytes of UTF-8, and NFKC may have changed the name that stands there.
        start = len(self._lines[line - 1].encode()[:byte].decode(errors="replace"))
        if self._lines[line - 1].startswith(name, start):
            self.found.append(Use(line, start, start + len(name), target))

    def _use_definition(self, node: _Definition, target: str) -> None:
        line = self._lines[node.lineno - 1]
        before = len(line.encode()[: node.col_offset].decode(errors="replace"))
        start = line.find(f" {node.name}", before) + 1
        if start > 0:
            self.found.append(Use(node.lineno, start, start + len(node.name), target))

    def _meaning(self, node: ast.Name) -> str | None:
        """The symbol a bare name means, or None."""
        scope: _Scope | None = self._scope
        while scope is not None and scope.kind != "module":
            visible = scope.kind != "class" or scope is self._scope
            if visible and scope.bound[node.id]:
                qualname = scope.inner(node.id)
                once = scope.bound[node.id] == 1 and f"{qualname}#2" not in self._table.symbols
                return f"{self._path}::{qualname}" if once and self._is_symbol(qualname) else None
            scope = scope.parent
        return self._global(node.id)

    def _is_symbol(self, qualname: str) -> bool:
        symbol = self._table.symbols.get(qualname)
        return symbol is not None and symbol.kind != "alias"

    def _global(self, name: str) -> str | None:
        place = self._find(self._path, name)
        return place.id if place is not None else None

    def _member(self, node: ast.Attribute) -> str | None:
        """The symbol that ``value.attr`` means: in a module, of the own object, in a class."""
        dotted = _dotted(node)
        if dotted is None:
            return None
        head, _, rest = dotted.partition(".")
        scope: _Scope | None = self._scope
        while scope is not None and scope.kind != "module":
            if scope.kind == "function" and scope.bound[head]:
                owner = scope.parent
                if head == scope.self_name and owner is not None and "." not in rest:
                    return self._in_class(self._path, owner.qualname, rest, _MAX_BASES)
                return None
            scope = scope.parent
        place = self._find(self._path, dotted)
        return place.id if place is not None else None

    def _in_class(self, path: str, qualname: str, name: str, limit: int) -> str | None:
        """A member of a class or of the first of its bases, in their order, that has one."""
        place = self._find(path, f"{qualname}.{name}")
        if place is not None:
            return place.id
        if limit == 0:
            return None
        for base in self._bases(path, qualname):
            found = self._find(path, base)
            if found is not None:
                member = self._in_class(found.path, found.qualname, name, limit - 1)
                if member is not None:
                    return member
        return None

    def _find(self, path: str, qualname: str) -> Place | None:
        try:
            return self._index.find(SymbolReference(path, qualname))
        except AnnotateError:
            # Several symbols, or a file that cannot be judged: nothing to follow.
            return None

    def _bases(self, path: str, qualname: str) -> list[str]:
        place = self._find(path, qualname)
        if place is None or place.path != path:
            return []
        try:
            (statement,) = ast.parse(place.text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return []
        if not isinstance(statement, ast.ClassDef):
            return []
        return [dotted for base in statement.bases if (dotted := _dotted(base))]


def _dotted(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value)
        return f"{owner}.{node.attr}" if owner else None
    return None


def _bound_by(node: _Function) -> Counter[str]:
    """The names a function binds, parameters included, and how often."""
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    bound = _bound_in(body)
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [argument for argument in (arguments.vararg, arguments.kwarg) if argument]
    bound.update(argument.arg for argument in every)
    return bound


def _bound_in(body: Iterable[ast.AST]) -> Counter[str]:
    """The names that statements bind in the scope they stand in; not global or nonlocal ones."""
    bound: Counter[str] = Counter()
    elsewhere: set[str] = set()
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound[node.name] += 1
            waiting += node.decorator_list
            continue
        if isinstance(node, _FUNCTIONS):
            continue
        if isinstance(node, _COMPREHENSIONS):
            waiting += [named for named in ast.walk(node) if isinstance(named, ast.NamedExpr)]
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            bound[node.id] += 1
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            bound[node.name] += 1
        elif isinstance(node, ast.MatchMapping) and node.rest:
            bound[node.rest] += 1
        elif isinstance(node, ast.Global | ast.Nonlocal):
            elsewhere.update(node.names)
        waiting += ast.iter_child_nodes(node)
    for name in elsewhere:
        del bound[name]
    return bound
