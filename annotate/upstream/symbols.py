"""Text → symbols: what a module defines, under which names, on which lines.

What is a symbol: every class and function in any scope; in modules and classes the names that
assignments (annotated, chained, to tuples) and ``type`` statements bind; ``name = lambda …`` in
any scope; in modules what imports bind, and expression statements that are calls.
What is none: augmented assignments, subscripts and attributes as targets, walrus, ``for``,
``with … as``, ``except … as``, ``match`` and ``del`` targets, ``from __future__`` imports.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from annotate.upstream.definitions import Definition, definitions
from annotate.upstream.syntax import Node, canonical, leaf_spans, lone_continuations, parse

DEFINITIONS = frozenset({"class", "function", "method"})

MAX_REGISTRATION_NAME = 60
"""Characters of a registration's name, beyond which it ends in “…)”."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """One named definition of a module.

    Attributes:
        qualname: dotted from the module down, without ``<locals>``, NFKC as Python binds it; the
            second of a name in its scope ends in ``#2``. A registration is ``callee(argument)``.
        kind: class, function, method, assignment, lambda, alias or registration.
        first_line: of the first decorator if there is one; lines count from 1.
        last_line: where Python's ``ast`` ends it: trailing comments are not part of it.
        first_column: in characters, 0 if only blanks stand before it on its line.
        last_column: in characters; None if only blanks, ``;`` and a comment follow on its line.
        target: of an alias ``module:name`` as written (``.tracer:primitive``, ``pkg.mod:`` for
            the module itself, ``pkg.mod:*``), else empty.
    """

    qualname: str
    kind: str
    first_line: int
    last_line: int
    first_column: int
    last_column: int | None
    target: str = ""


@dataclass(frozen=True, slots=True)
class Module:
    """The symbols in source order.

    Attributes:
        symbols: what the module defines.
        has_error: the grammar met a syntax error, or a line it is known to misread.
    """

    symbols: tuple[Symbol, ...]
    has_error: bool


def extract(text: str) -> Module:
    """The symbols of a decoded Python file.

    Raises:
        AnnotateError: as `annotate.upstream.syntax.parse` does.
    """
    root = parse(text).root_node
    symbols = _Extraction(text).run(root)
    return Module(symbols, root.has_error or _has_misread_line(text, root))


def _has_misread_line(text: str, root: Node) -> bool:
    """Whether a line holds nothing but a continuation, outside of strings."""
    for offset in lone_continuations(text):
        byte = len(text[:offset].encode())
        node = root.descendant_for_byte_range(byte, byte + 1)
        if node is None or node.type not in ("string_content", "escape_sequence"):
            return True
    return False


_OPENING = ("", "(", "[", "{")
_CLOSING = (")", "]", "}")
_LONG_LINE = 500  # Bytes that are quick to search through.
_BLANKS = re.compile(rb"[ \t\f]*")
_NOTHING_FOLLOWS = re.compile(rb"[ \t\f;\\]*(?:#[^\n]*)?(?:\n|\Z)")

_BLANKS_AS_SPACES = bytes.maketrans(b"\t\f\n\\", b"    ")

_Span = tuple[int, int, int, int | None]
"""First line, last line, first column, last column, as in `Symbol`."""

_SUITES = frozenset(
    {
        "block",
        "if_statement",
        "elif_clause",
        "else_clause",
        "for_statement",
        "while_statement",
        "try_statement",
        "except_clause",
        "except_group_clause",
        "finally_clause",
        "with_statement",
        "match_statement",
        "case_clause",
        "ERROR",
    }
)
_EXTRAS = frozenset({"comment", "line_continuation"})
_NOT_POSITIONAL = _EXTRAS | {"keyword_argument", "dictionary_splat"}
_ENDS_IN_SUITE = _SUITES | {"function_definition", "class_definition", "decorated_definition"}


@dataclass(slots=True)
class _Scope:
    """Where names are being bound: a module, one class or one function."""

    kind: str
    prefix: str
    counts: dict[str, int]


_Handler = Callable[[Node, _Scope], None]


class _Extraction:
    """One walk over the statements of a tree."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._source = text.encode()
        self._is_ascii = len(self._source) == len(text)
        self._words = self._source.translate(_BLANKS_AS_SPACES)
        self._counted = (0, 0, 0)
        self._symbols: list[Symbol] = []
        self._alias_counts: dict[str, int] = {}
        self._definitions: dict[str, _Handler] = {
            "function_definition": self._function,
            "class_definition": self._class,
            "decorated_definition": self._decorated,
        }
        self._in_function = self._definitions | {"expression_statement": self._named_lambda}
        self._in_class = self._definitions | {
            "expression_statement": self._expression,
            "type_alias_statement": self._type_alias,
        }
        self._in_module = self._in_class | {
            "import_statement": self._import,
            "import_from_statement": self._import_from,
        }

    def run(self, root: Node) -> tuple[Symbol, ...]:
        module = _Scope("module", "", {})
        self._walk(root, module, self._in_module)
        defined = module.counts.keys() & self._alias_counts.keys()
        if not defined:
            return tuple(self._symbols)
        return tuple(
            symbol
            for symbol in self._symbols
            if symbol.kind != "alias" or symbol.qualname.partition("#")[0] not in defined
        )

    def _walk(self, parent: Node, scope: _Scope, handlers: dict[str, _Handler]) -> None:
        """Hand the statements below a node, in source order, to the handlers of their kinds."""
        pending = parent.named_children[::-1]
        while pending:
            node = pending.pop()
            kind = node.type
            handler = handlers.get(kind)
            if handler is not None:
                handler(node, scope)
            elif kind in _SUITES:
                pending += node.named_children[::-1]

    def _decorated(self, statement: Node, scope: _Scope) -> None:
        definition = statement.child_by_field_name("definition")
        if definition is None:
            return
        if definition.type == "class_definition":
            self._class(definition, scope, statement)
        else:
            self._function(definition, scope, statement)

    def _class(self, definition: Node, scope: _Scope, whole: Node | None = None) -> None:
        name = definition.child_by_field_name("name")
        body = definition.child_by_field_name("body")
        if name is None or name.is_missing or body is None:
            return
        qualname = self._add(self._span(whole or definition), name, "class", scope)
        self._walk(body, _Scope("class", f"{qualname}.", {}), self._in_class)

    def _function(self, definition: Node, scope: _Scope, whole: Node | None = None) -> None:
        name = definition.child_by_field_name("name")
        if name is None or name.is_missing:
            return
        kind = "method" if scope.kind == "class" else "function"
        qualname = self._add(self._span(whole or definition), name, kind, scope)
        # Few functions have the words for a symbol in them, and only those are walked.
        start, end = name.end_byte, definition.end_byte
        find = self._words.find
        if find(b"lambda", start, end) >= 0:
            handlers = self._in_function
        elif find(b" def ", start, end) >= 0 or find(b" class ", start, end) >= 0:
            handlers = self._definitions
        else:
            return
        body = definition.child_by_field_name("body")
        if body is not None:
            self._walk(body, _Scope("function", f"{qualname}.", {}), handlers)

    def _expression(self, statement: Node, scope: _Scope) -> None:
        expression = statement.child(0)
        if expression.type == "assignment":
            targets, value = _assigned(expression)
            is_lambda = _is_lambda(value)
            span = self._span(statement)
            for target in targets:
                kind = "lambda" if is_lambda and target.type == "identifier" else "assignment"
                for name in _names_in(target):
                    self._add(span, name, kind, scope)
        elif expression.type == "call" and scope.kind == "module":
            callee = _numbered(self._registration(expression), scope.counts)
            self._symbols.append(Symbol(callee, "registration", *self._span(statement)))

    def _named_lambda(self, statement: Node, scope: _Scope) -> None:
        expression = statement.child(0)
        if expression.type != "assignment":
            return
        targets, value = _assigned(expression)
        if _is_lambda(value):
            span = self._span(statement)
            for target in targets:
                if target.type == "identifier" and not target.is_missing:
                    self._add(span, target, "lambda", scope)

    def _type_alias(self, statement: Node, scope: _Scope) -> None:
        left: Node | None = statement.child_by_field_name("left")
        while left is not None and left.type != "identifier":
            left = left.named_child(0) if left.named_child_count else None
        if left is not None and not left.is_missing:
            self._add(self._span(statement), left, "assignment", scope)

    def _import(self, statement: Node, _: _Scope) -> None:
        span = self._span(statement)
        for item in statement.children_by_field_name("name"):
            dotted, alias = _imported(item)
            module = self._dotted(dotted)
            if alias is None:
                module = module.partition(".")[0]
            self._alias(span, self._name(alias) if alias else module, f"{module}:")

    def _import_from(self, statement: Node, _: _Scope) -> None:
        source = statement.child_by_field_name("module_name")
        if source is None:
            return
        module = self._dotted(source)
        span = self._span(statement)
        items = statement.children_by_field_name("name")
        for item in items:
            dotted, alias = _imported(item)
            name = self._name(dotted)
            self._alias(span, self._name(alias) if alias else name, f"{module}:{name}")
        if not items and any(child.type == "wildcard_import" for child in statement.named_children):
            self._alias(span, "*", f"{module}:*")

    def _registration(self, call: Node) -> str:
        callee = call.child_by_field_name("function")
        arguments = call.child_by_field_name("arguments")
        name = self._one_line(callee) if callee else ""
        argument = ""
        if arguments is not None and arguments.type == "argument_list":
            for child in arguments.named_children:
                if child.type not in _NOT_POSITIONAL:
                    argument = self._one_line(child)
                    break
        elif arguments is not None:
            argument = self._one_line(arguments)[1:].removesuffix(")")
        name = f"{name}({argument})"
        if len(name) > MAX_REGISTRATION_NAME:
            name = f"{name[: MAX_REGISTRATION_NAME - 2]}…)"
        return name

    def _one_line(self, node: Node) -> str:
        return _one_line(node, self._source, MAX_REGISTRATION_NAME)

    def _add(self, span: _Span, identifier: Node, kind: str, scope: _Scope) -> str:
        first_line, last_line, first_column, last_column = span
        name = scope.prefix + _numbered(self._name(identifier), scope.counts)
        self._symbols.append(Symbol(name, kind, first_line, last_line, first_column, last_column))
        return name

    def _alias(self, span: _Span, name: str, target: str) -> None:
        if not name:
            return
        self._symbols.append(Symbol(_numbered(name, self._alias_counts), "alias", *span, target))

    def _span(self, node: Node) -> _Span:
        first_row, first_column = node.start_point
        last_row, last_column = node.end_point
        start, end = node.byte_range
        # Where a comment may end the node, its last statement is looked for.
        if last_column > _LONG_LINE or self._source.find(b"#", end - last_column, end) >= 0:
            last = _last_leaf(node)
            last_row, last_column = last.end_point
            end = last.end_byte
        if first_column:
            line = start - first_column
            first_column = 0 if self._blank_to(line, start) else self._characters(line, start)
        if self._source.startswith(b"\n", end) or _NOTHING_FOLLOWS.match(self._source, end):
            return first_row + 1, last_row + 1, first_column, None
        last_column = self._characters(end - last_column, end)
        return first_row + 1, last_row + 1, first_column, last_column

    def _blank_to(self, line: int, end: int) -> bool:
        blanks = _BLANKS.match(self._source, line)
        return blanks is not None and blanks.end() >= end

    def _characters(self, line: int, end: int) -> int:
        """How many characters a line has up to a byte.

        Counted on from the last answer where that was on the same line: a line can hold as many
        statements as a file.
        """
        if self._is_ascii:
            return end - line
        counted_line, counted_end, counted = self._counted
        if line != counted_line or end < counted_end:
            counted_end, counted = line, 0
        counted += len(self._source[counted_end:end].decode())
        self._counted = line, end, counted
        return counted

    def _dotted(self, node: Node) -> str:
        """A module as an import names it, without the blanks Python allows around its dots."""
        name = self._code(node)
        if not name.isidentifier():
            name = "".join(name.replace("\\\n", "").split())
        return name if name.isascii() else unicodedata.normalize("NFKC", name)

    def _code(self, node: Node) -> str:
        start, end = node.byte_range
        if self._is_ascii:
            return self._text[start:end]
        return self._source[start:end].decode()

    def _name(self, identifier: Node) -> str:
        start, end = identifier.byte_range
        if self._is_ascii:
            return self._text[start:end]
        # Python binds identifiers in NFKC (reference, "Identifiers and keywords").
        return unicodedata.normalize("NFKC", self._source[start:end].decode())


def _numbered(name: str, counts: dict[str, int]) -> str:
    counts[name] = count = counts.get(name, 0) + 1
    return name if count == 1 else f"{name}#{count}"


def _last_leaf(node: Node) -> Node:
    """The simple statement a compound one ends with; comments the grammar takes in come later."""
    while node.type in _ENDS_IN_SUITE:
        index = node.named_child_count - 1
        while index >= 0 and node.named_child(index).type in _EXTRAS:
            index -= 1
        if index < 0:
            break
        node = node.named_child(index)
    return node


def _assigned(assignment: Node) -> tuple[list[Node], Node | None]:
    """The targets of a (chained) assignment and its value, None for a mere annotation."""
    targets: list[Node] = []
    value: Node | None = assignment
    while value is not None and value.type == "assignment":
        targets.append(value.child(0))
        value = value.child_by_field_name("right")
    return targets, value


def _is_lambda(value: Node | None) -> bool:
    while value is not None and value.type == "parenthesized_expression":
        value = _inside(value)
    return value is not None and value.type == "lambda"


def _inside(node: Node) -> Node | None:
    """The first named child that is no comment."""
    return next((child for child in node.named_children if child.type not in _EXTRAS), None)


def _names_in(target: Node) -> Iterator[Node]:
    """The plain names a tuple or list target binds, from left to right."""
    pending = [target]
    while pending:
        node = pending.pop()
        if node.type == "identifier":
            if not node.is_missing:
                yield node
        elif node.type in _UNPACKING:
            pending.extend(node.named_children[::-1])


_UNPACKING = frozenset(
    {
        "pattern_list",
        "tuple_pattern",
        "list_pattern",
        "list_splat_pattern",
        "parenthesized_expression",
    }
)


def _imported(item: Node) -> tuple[Node, Node | None]:
    """The dotted name an import names, and the name after its ``as``."""
    if item.type == "aliased_import":
        dotted = item.child_by_field_name("name")
        if dotted is not None:
            return dotted, item.child_by_field_name("alias")
    return item, None


def _one_line(node: Node, source: bytes, enough: int) -> str:
    """A piece of code without comments and line ends, up to at least ``enough`` characters.

    Blanks in a row become one space, and none inside of brackets.
    """
    line = ""
    end = node.start_byte
    for kind, start, leaf_end in leaf_spans(node):
        if kind in _EXTRAS:
            continue
        leaf = " ".join(source[start:leaf_end].decode().split())
        if start > end and line[-1:] not in _OPENING and leaf not in _CLOSING:
            line += " "
        line += leaf
        end = leaf_end
        if len(line) >= enough:
            break
    return line


def source_text(text: str, symbol: Symbol) -> str:
    """The canonical text of a symbol of this file.

    Whole lines, with the comment on its last line, where it stands alone on them; else from
    its first to its last column.
    """
    lines = text.split("\n")[symbol.first_line - 1 : symbol.last_line]
    if symbol.last_column is not None:
        lines[-1] = lines[-1][: symbol.last_column]
    lines[0] = lines[0][symbol.first_column :]
    return canonical("\n".join(lines))


def signature(text: str, symbol: Symbol) -> str:
    """A class, function or lambda on one line: ``f_wrapped(*args, **kwargs)``.

    Empty for other kinds, and where the head has syntax that the grammar does not know.
    """
    if symbol.kind not in DEFINITIONS and symbol.kind != "lambda":
        return ""
    fragment = source_text(text, symbol)
    source = fragment.encode()
    node = _signed(parse(fragment).root_node)
    if node is None:
        return ""

    def shown(part: Node | None, before: str = "") -> str:
        return "" if part is None else before + _one_line(part, source, len(source))

    name = symbol.qualname.rpartition(".")[2].partition("#")[0]
    name += shown(node.child_by_field_name("type_parameters"))
    listed = node.child_by_field_name("parameters") or node.child_by_field_name("superclasses")
    items = listed.named_children if listed is not None else []
    if listed is not None or node.type != "class_definition":
        name += f"({', '.join(shown(item) for item in items if item.type not in _EXTRAS)})"
    name += shown(node.child_by_field_name("return_type"), " -> ")
    is_async = node.child_count > 0 and node.child(0).type == "async"
    return f"async {name}" if is_async else name


def _signed(root: Node) -> Node | None:
    """The class, function or lambda a fragment consists of."""
    node = _inside(root)
    while node is not None:
        if node.type in ("function_definition", "class_definition", "lambda"):
            # An ERROR in the head is a part of it that the grammar does not know.
            return None if any(child.type == "ERROR" for child in node.children) else node
        if node.type == "decorated_definition":
            node = node.child_by_field_name("definition")
        elif node.type == "assignment":
            node = node.child_by_field_name("right")
        elif node.type in ("expression_statement", "parenthesized_expression"):
            node = _inside(node)
        else:
            return None
    return None


def cross_check(data: bytes, module: Module) -> Mapping[str, str]:
    """Where Python's own ``ast`` disagrees with the symbols found in the same bytes.

    Returns:
        Qualified name → reason, for every class and function that ``ast`` does not have or has
        on other lines; under ``""`` what only ``ast`` has. Empty where all agree, and where the
        running Python cannot read the file (newer or older syntax, too deeply nested).
    """
    theirs = definitions(data)
    if theirs is None:
        return {}
    ours = [symbol for symbol in module.symbols if symbol.kind in DEFINITIONS]
    agreed = Counter(theirs) & Counter(map(_as_defined, ours))
    unmatched = Counter(theirs) - agreed
    reasons: dict[str, str] = {}
    for symbol in ours:
        mine = _as_defined(symbol)
        if agreed[mine]:
            agreed[mine] -= 1
            continue
        reasons[symbol.qualname] = _disagreement(mine, unmatched)
    if unmatched := +unmatched:
        listed = ", ".join(f"{each.name} (line {each.first_line})" for each in unmatched)
        reasons[""] = f"Python also defines {listed}"
    return reasons


def _as_defined(symbol: Symbol) -> Definition:
    name = re.sub(r"#[0-9]+", "", symbol.qualname)
    return Definition(name, symbol.first_line, symbol.last_line)


def _disagreement(mine: Definition, unmatched: Counter[Definition]) -> str:
    """Why ``ast`` does not confirm a definition; takes what it has instead out of the rest."""
    lines = f"lines {mine.first_line}-{mine.last_line}"
    for other in unmatched:
        if other.name == mine.name and unmatched[other] > 0:
            unmatched[other] -= 1
            return f"Python has it on lines {other.first_line}-{other.last_line}, not on {lines}"
    return f"Python defines no such name on {lines}"
