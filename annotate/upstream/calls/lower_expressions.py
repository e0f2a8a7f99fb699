"""Syntax nodes of expressions → the tuples of `annotate.upstream.calls.code`."""

import ast
import unicodedata
from collections.abc import Callable
from typing import Any

from annotate.upstream.calls.code import Expression, Parameter
from annotate.upstream.syntax import Node, parse

MAX_DEPTH = 150
"""Expressions nested deeper are taken as unknown; Python's own parser stops at 200 brackets."""

MAX_CONSTANT = 80
"""Characters of a string literal that may serve as a key or name."""

UNKNOWN: Expression = ("seq", ())

_LITERALS = {"float": "float", "ellipsis": "ellipsis"}
_COMPREHENSIONS = {
    "list_comprehension": "lc",
    "set_comprehension": "sc",
    "generator_expression": "gc",
    "dictionary_comprehension": "dc",
}


class ExpressionLowering:
    """Lowers expressions, in the scope that `annotate.upstream.calls.lower` keeps."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.depth = 0
        self.renames: list[dict[str, str]] = []
        self.class_name = ""
        self.stored_attributes: set[str] = set()
        self._handlers: dict[str, Callable[[Node], Expression]] = {
            "identifier": lambda node: ("n", self.name(node)),
            "attribute": self._attribute,
            "call": self._call,
            "subscript": self._subscript,
            "slice": self._slice,
            "string": self._string,
            "concatenated_string": self._concatenated,
            "integer": self._integer,
            "true": lambda _: ("k", True),
            "false": lambda _: ("k", False),
            "none": lambda _: ("k", None),
            "list": lambda node: ("l", self.items(node)),
            "list_pattern": lambda node: ("l", self.items(node)),
            "set": lambda node: ("S", self.items(node)),
            "tuple": lambda node: ("t", self.items(node)),
            "tuple_pattern": lambda node: ("t", self.items(node)),
            "pattern_list": lambda node: ("t", self.items(node)),
            "expression_list": lambda node: ("t", self.items(node)),
            "dictionary": self._dictionary,
            "lambda": self.lambda_,
            "conditional_expression": self._conditional,
            "boolean_operator": self._boolean,
            "binary_operator": self._binary,
            "unary_operator": self._unary,
            "not_operator": lambda node: ("not", self.field(node, "argument")),
            "comparison_operator": self._comparison,
            "named_expression": self._named,
            "await": lambda node: ("aw", self.first(node)),
            "yield": self._yield,
            "list_splat": lambda node: ("*", self.first(node)),
            "list_splat_pattern": lambda node: ("*", self.first(node)),
            "parenthesized_expression": self.first,
            "parenthesized_list_splat": self.first,
            "type": self.first,
            "as_pattern_target": self.first,
            "generic_type": self._generic_type,
            "union_type": self._union_type,
            "member_type": self._member_type,
        }

    def text(self, node: Node) -> str:
        """The source text of a node."""
        return self.source[node.start_byte : node.end_byte].decode()

    def name(self, node: Node) -> str:
        """An identifier as Python binds it, or the name a comprehension's variable got."""
        name = self.mangled(self.text(node))
        for renames in reversed(self.renames):
            if name in renames:
                return renames[name]
        return name

    def mangled(self, name: str) -> str:
        """A name in NFKC, private ones with their class (reference, "Identifiers (Names)")."""
        if not name.isascii():
            name = unicodedata.normalize("NFKC", name)
        if self.class_name and name.startswith("__") and not name.endswith("__"):
            stripped = self.class_name.lstrip("_")
            return f"_{stripped}{name}" if stripped else name
        return name

    def expression(self, node: Node | None) -> Expression:
        """Lower any expression."""
        if node is None:
            return UNKNOWN
        kind = node.type
        handler = self._handlers.get(kind)
        if handler is None:
            if kind in _COMPREHENSIONS:
                return self._comprehension(node, _COMPREHENSIONS[kind])
            if kind in _LITERALS:
                return ("K", _LITERALS[kind])
            return self._anything(node)
        self.depth += 1
        try:
            return UNKNOWN if self.depth > MAX_DEPTH else handler(node)
        finally:
            self.depth -= 1

    def field(self, node: Node, name: str) -> Expression:
        """Lower the child a field names."""
        return self.expression(node.child_by_field_name(name))

    def first(self, node: Node) -> Expression:
        """Lower the one child that is no comment."""
        for child in node.named_children:
            if child.type != "comment":
                return self.expression(child)
        return UNKNOWN

    def items(self, node: Node) -> tuple[Expression, ...]:
        """Lower all children that are no comments."""
        return tuple(
            self.expression(child) for child in node.named_children if child.type != "comment"
        )

    def lambda_(self, node: Node) -> Expression:
        """Lower a lambda to a code of its own."""
        raise NotImplementedError

    def note_yield(self) -> None:
        """Mark the enclosing function a generator."""
        raise NotImplementedError

    def bind(self, name: str) -> None:
        """Make a name local to the enclosing scope, as ``:=`` and comprehensions do."""
        raise NotImplementedError

    def _anything(self, node: Node) -> Expression:
        """What has no meaning of its own here: evaluate its parts."""
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                return UNKNOWN
            parts = tuple(part for part in self.items(node) if part != UNKNOWN)
        finally:
            self.depth -= 1
        return ("seq", parts) if parts else UNKNOWN

    def _attribute(self, node: Node) -> Expression:
        attribute = node.child_by_field_name("attribute")
        if attribute is None:
            return UNKNOWN
        name = self.mangled(self.text(attribute))
        return ("a", self.field(node, "object"), name, attribute.start_point[0] + 1)

    def _call(self, node: Node) -> Expression:
        callee = self.field(node, "function")
        arguments = node.child_by_field_name("arguments")
        positional: list[Expression] = []
        keywords: list[tuple[str | None, Expression]] = []
        if arguments is not None and arguments.type == "generator_expression":
            positional.append(self.expression(arguments))
        elif arguments is not None:
            for child in arguments.named_children:
                if child.type == "keyword_argument":
                    name = child.child_by_field_name("name")
                    value = self.field(child, "value")
                    keywords.append((self.text(name) if name is not None else None, value))
                elif child.type == "dictionary_splat":
                    keywords.append((None, self.first(child)))
                elif child.type != "comment":
                    positional.append(self.expression(child))
        line = node.start_point[0] + 1
        return (
            *("c", callee, tuple(positional), tuple(keywords)),
            *(line, node.start_byte, node.end_byte),
        )

    def _subscript(self, node: Node) -> Expression:
        keys = tuple(self.expression(key) for key in node.children_by_field_name("subscript"))
        key = keys[0] if len(keys) == 1 else ("t", keys)
        return ("s", self.field(node, "value"), key, node.start_point[0] + 1)

    def _slice(self, node: Node) -> Expression:
        parts: list[Expression | None] = [None]
        for child in node.children:
            if child.type == ":":
                parts.append(None)
            elif child.is_named and child.type != "comment":
                parts[-1] = self.expression(child)
        return ("sl", *[*parts, None, None, None][:3])

    def _string(self, node: Node) -> Expression:
        parts: list[Expression] = []
        for child in node.named_children:
            if child.type == "interpolation":
                parts.append(self.field(child, "expression"))
                specifier = child.child_by_field_name("format_specifier")
                if specifier is not None:
                    parts.extend(
                        self.field(each, "expression")
                        for each in specifier.named_children
                        if each.type in ("interpolation", "format_expression")
                    )
        if parts:
            return ("fs", tuple(parts), node.start_point[0] + 1)
        value = self._literal(node)
        if isinstance(value, str) and len(value) <= MAX_CONSTANT:
            return ("k", value)
        return ("K", "bytes" if isinstance(value, bytes) else "str")

    def _literal(self, node: Node) -> Any:
        if node.end_byte - node.start_byte > MAX_CONSTANT * 4:
            return None
        try:
            return ast.literal_eval(self.text(node))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None

    def _concatenated(self, node: Node) -> Expression:
        parts = self.items(node)
        interpolated = tuple(part for part in parts if part[0] == "fs")
        if interpolated:
            return ("fs", interpolated, node.start_point[0] + 1)
        if all(part[0] == "k" for part in parts):
            value = "".join(part[1] for part in parts)
            if len(value) <= MAX_CONSTANT:
                return ("k", value)
        return ("K", "str")

    def _integer(self, node: Node) -> Expression:
        value = self._literal(node)
        if isinstance(value, int) and -(2**31) < value < 2**31:
            return ("k", value)
        return ("K", "int")

    def _dictionary(self, node: Node) -> Expression:
        pairs: list[tuple[Expression | None, Expression]] = []
        for child in node.named_children:
            if child.type == "pair":
                pairs.append((self.field(child, "key"), self.field(child, "value")))
            elif child.type == "dictionary_splat":
                pairs.append((None, self.first(child)))
        return ("d", tuple(pairs))

    def _conditional(self, node: Node) -> Expression:
        parts = self.items(node)
        if len(parts) != 3:
            return UNKNOWN
        then, test, otherwise = parts
        return ("if", test, then, otherwise)

    def _boolean(self, node: Node) -> Expression:
        operator = node.child_by_field_name("operator")
        kind = "or" if operator is not None and operator.type == "or" else "and"
        return self._folded(node, "boolean_operator", lambda left, right, _: (kind, left, right))

    def _binary(self, node: Node) -> Expression:
        def combine(left: Expression, right: Expression, each: Node) -> Expression:
            operator = each.child_by_field_name("operator")
            sign = operator.type if operator is not None else ""
            return ("b", sign, left, right, each.start_point[0] + 1)

        return self._folded(node, "binary_operator", combine)

    def _folded(
        self,
        node: Node,
        kind: str,
        combine: Callable[[Expression, Expression, Node], Expression],
    ) -> Expression:
        """A chain that leans left, without recursion: ``a + b + c + …`` may have thousands."""
        chain = [node]
        left = node.child_by_field_name("left")
        while left is not None and left.type == kind == node.type and self._same(left, node):
            chain.append(left)
            left = left.child_by_field_name("left")
        value = self.expression(left)
        for number, each in enumerate(reversed(chain)):
            if number >= MAX_DEPTH:
                value = ("seq", (value,)) if number == MAX_DEPTH else value
                right = self.field(each, "right")
                if right[0] not in ("k", "K", "n"):
                    value = ("seq", (*value[1], right))
                continue
            value = combine(value, self.field(each, "right"), each)
        return value

    def _same(self, left: Node, node: Node) -> bool:
        if node.type == "binary_operator":
            return True
        mine, theirs = node.child_by_field_name("operator"), left.child_by_field_name("operator")
        return mine is not None and theirs is not None and mine.type == theirs.type

    def _unary(self, node: Node) -> Expression:
        operand = self.field(node, "argument")
        operator = node.child_by_field_name("operator")
        sign = operator.type if operator is not None else ""
        if sign == "-" and operand[0] == "k" and type(operand[1]) is int:
            return ("k", -operand[1])
        return ("u", sign, operand, node.start_point[0] + 1)

    def _comparison(self, node: Node) -> Expression:
        operators = tuple(each.type for each in node.children_by_field_name("operators"))
        return ("cmp", operators, self.items(node), node.start_point[0] + 1)

    def _named(self, node: Node) -> Expression:
        target = node.child_by_field_name("name")
        value = self.field(node, "value")
        if target is None:
            return value
        name = self.name(target)
        self.bind(name)
        return (":=", name, value)

    def _yield(self, node: Node) -> Expression:
        self.note_yield()
        if any(child.type == "from" for child in node.children):
            return ("yf", self.first(node))
        values = self.items(node)
        if not values:
            return ("y", ("k", None))
        return ("y", values[0] if len(values) == 1 else ("t", values))

    def _comprehension(self, node: Node, kind: str) -> Expression:
        self.depth += 1
        renames: dict[str, str] = {}
        try:
            if self.depth > MAX_DEPTH:
                return UNKNOWN
            clauses: list[tuple[Expression, Expression, tuple[Expression, ...]]] = []
            # The first iterable is evaluated outside; the variables are known inside only.
            for child in node.named_children:
                if child.type == "for_in_clause":
                    iterable = self._iterable(child)
                    left = child.child_by_field_name("left")
                    if left is not None:
                        self._rename(left, renames, node.start_byte)
                    if not clauses:
                        self.renames.append(renames)
                    target = self.target(left)
                    clauses.append((target, iterable, ()))
                elif child.type == "if_clause" and clauses:
                    target, iterable, conditions = clauses[-1]
                    clauses[-1] = (target, iterable, (*conditions, self.first(child)))
            if not clauses:
                return self._anything(node)
            body = node.child_by_field_name("body")
            if kind == "dc" and body is not None:
                element: Any = (self.field(body, "key"), self.field(body, "value"))
            else:
                element = self.expression(body)
            self.renames.pop()
            return (kind, element, tuple(clauses))
        finally:
            self.depth -= 1

    def _iterable(self, clause: Node) -> Expression:
        values = [self.expression(each) for each in clause.children_by_field_name("right")]
        values = values or [UNKNOWN]
        return values[0] if len(values) == 1 else ("t", tuple(values))

    def _rename(self, target: Node, renames: dict[str, str], start: int) -> None:
        """Give a comprehension's variables names that clash with none of the scope around."""
        pending = [target]
        while pending:
            node = pending.pop()
            if node.type == "identifier":
                name = self.mangled(self.text(node))
                renames[name] = f"{name}@{start}"
                self.bind(renames[name])
            elif node.type not in ("attribute", "subscript"):
                pending.extend(node.named_children)

    def target(self, node: Node | None) -> Expression:
        """Lower what is assigned to, and note the attributes it stores."""
        if node is None:
            return UNKNOWN
        target = self.expression(node)
        self._note_stores(target)
        return target

    def _note_stores(self, target: Expression) -> None:
        if target[0] == "a":
            self.stored_attributes.add(target[2])
        elif target[0] in ("t", "l"):
            for item in target[1]:
                self._note_stores(item)
        elif target[0] == "*":
            self._note_stores(target[1])

    def _generic_type(self, node: Node) -> Expression:
        children = node.named_children
        if len(children) < 2:
            return self.first(node)
        keys = self.items(children[1])
        key = keys[0] if len(keys) == 1 else ("t", keys)
        return ("s", self.expression(children[0]), key, node.start_point[0] + 1)

    def _union_type(self, node: Node) -> Expression:
        parts = self.items(node)
        value = parts[0] if parts else UNKNOWN
        for part in parts[1:]:
            value = ("b", "|", value, part, node.start_point[0] + 1)
        return value

    def _member_type(self, node: Node) -> Expression:
        children = node.named_children
        if len(children) != 2:
            return self._anything(node)
        return ("a", self.expression(children[0]), self.text(children[1]), node.start_point[0] + 1)

    def annotation(self, node: Node | None) -> Expression | None:
        """Lower a type annotation; one that is written as a string is read as if it were not."""
        if node is None:
            return None
        value = self.expression(node)
        return self._unquoted(value, 0)

    def _unquoted(self, value: Expression, depth: int) -> Expression:
        if depth > 8:
            return UNKNOWN
        if value[0] == "k" and isinstance(value[1], str):
            root = parse(value[1]).root_node
            if root.has_error or root.named_child_count != 1:
                return UNKNOWN
            inner = ExpressionLowering(value[1].encode())
            # A definition has no place in an annotation, so the scope is never asked for.
            quoted = root.named_children[0]
            if quoted.type != "expression_statement" or b"lambda" in inner.source:
                return UNKNOWN
            return self._unquoted(inner.first(quoted), depth + 1)
        if value[0] == "s":
            return ("s", value[1], self._unquoted(value[2], depth + 1), value[3])
        if value[0] == "b":
            left, right = (self._unquoted(each, depth + 1) for each in value[2:4])
            return ("b", value[1], left, right, value[4])
        if value[0] == "t":
            return ("t", tuple(self._unquoted(each, depth + 1) for each in value[1]))
        return value

    def parameters(self, node: Node | None) -> tuple[Parameter, ...]:
        """Lower a parameter list; defaults and annotations belong to the scope around."""
        if node is None:
            return ()
        found: list[Parameter] = []
        kind = "p"
        for child in node.named_children:
            if child.type == "positional_separator":
                found = [
                    Parameter(each.name, "po", each.default, each.annotation) for each in found
                ]
                continue
            if child.type == "keyword_separator":
                kind = "k"
                continue
            parameter = self._parameter(child, kind)
            if parameter is None:
                continue
            found.append(parameter)
            if parameter.kind == "*":
                kind = "k"
        return tuple(found)

    def _parameter(self, node: Node, kind: str) -> Parameter | None:
        annotation = self.annotation(node.child_by_field_name("type"))
        default_node = node.child_by_field_name("value")
        default = self.expression(default_node) if default_node is not None else None
        name: Node | None = node
        if node.type in ("default_parameter", "typed_default_parameter"):
            name = node.child_by_field_name("name")
        elif node.type == "typed_parameter":
            name = node.named_child(0)
        if name is not None and name.type in ("list_splat_pattern", "dictionary_splat_pattern"):
            kind = "*" if name.type == "list_splat_pattern" else "**"
            name = name.named_child(0) if name.named_child_count else None
        if name is None or name.type != "identifier":
            return None
        return Parameter(self.mangled(self.text(name)), kind, default, annotation)
