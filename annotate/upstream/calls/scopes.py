"""The scopes of a file, and which names each binds, uses and takes from around it.

As CPython's ``symtable.c`` has it: a class's names are not seen from inside its methods, a
comprehension is a function whose first iterable belongs outside, ``:=`` in it binds outside,
defaults, decorators and annotations of a definition belong to the scope around it.
"""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field

from annotate.upstream.syntax import Node, parse

_COMPREHENSIONS = {
    "list_comprehension": "listcomp",
    "set_comprehension": "setcomp",
    "dictionary_comprehension": "dictcomp",
    "generator_expression": "genexpr",
}


@dataclass(eq=False, slots=True)
class Scope:
    """One scope.

    Attributes:
        kind: module, class, function, lambda or comprehension.
        qualname: dotted from the module down.
        bound: name → lines where it is bound.
        used: names read, or bound by nested scopes that declare them ``nonlocal``.
        free: what it takes from functions around it.
    """

    kind: str
    qualname: str
    line: int
    column: int
    last_line: int
    last_column: int
    parent: "Scope | None"
    class_name: str = ""
    bound: dict[str, list[int]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)
    outer: set[str] = field(default_factory=set)
    free: set[str] = field(default_factory=set)
    children: "list[Scope]" = field(default_factory=list)
    lambdas: int = 0

    @property
    def local(self) -> set[str]:
        """The names that are its own."""
        return set(self.bound) - self.shared - self.outer

    def provides(self, name: str) -> bool:
        """Whether inner functions that want a name find it here."""
        if self.kind in ("class", "module"):
            return self.kind == "class" and name == "__class__"
        return name in self.local


def scopes(text: str) -> list[Scope]:
    """All scopes of a file in source order, with their free variables.

    Raises:
        AnnotateError: as `annotate.upstream.syntax.parse` does.
    """
    walk = _Walk(text.encode())
    module = walk.run(parse(text).root_node)
    _find_free(module)
    return walk.found


def _find_free(module: Scope) -> None:
    """Names go down from functions to what is in them, wants come up; without recursion."""
    available: dict[Scope, frozenset[str]] = {module: frozenset()}
    order = [module]
    for scope in order:
        around = available[scope]
        if scope.kind == "class":
            inner = around | {"__class__"}
        elif scope.kind == "module":
            inner = around
        else:
            inner = (around - scope.shared) | scope.local
        for child in scope.children:
            available[child] = inner
            order.append(child)
    for scope in reversed(order):
        wanted = (scope.used - scope.local - scope.shared) | scope.outer
        scope.free |= wanted & available[scope]
        if scope.parent is not None:
            kept = scope.parent.local if scope.parent.kind != "class" else {"__class__"}
            if scope.parent.kind != "module":
                scope.parent.free |= scope.free - kept


class _Walk:
    """One walk over a file, with a stack: nodes nest without bounds."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self.found: list[Scope] = []
        self._pending: list[tuple[Node, Scope]] = []
        self._annotations_are_names = True
        self._visitors: dict[str, Callable[[Node, Scope], None]] = {
            "identifier": self._identifier,
            "function_definition": self._function,
            "class_definition": self._class,
            "lambda": self._lambda,
            "named_expression": self._named_expression,
            "assignment": self._assignment,
            "augmented_assignment": lambda node, scope: self._target(node, "left", scope),
            "for_statement": lambda node, scope: self._target(node, "left", scope),
            "as_pattern_target": lambda node, scope: self._bind_all(node, scope),
            "delete_statement": lambda node, scope: self._bind_all(node, scope),
            "import_statement": self._import,
            "import_from_statement": self._import,
            "future_import_statement": self._future,
            "global_statement": lambda node, scope: self._declare(node, scope, scope.shared),
            "nonlocal_statement": lambda node, scope: self._declare(node, scope, scope.outer),
            "attribute": lambda node, scope: self._push_field(node, "object", scope),
            "keyword_argument": lambda node, scope: self._push_field(node, "value", scope),
            "type_alias_statement": self._type_alias,
            "case_pattern": self._case,
            "comment": lambda _node, _scope: None,
        }

    def run(self, root: Node) -> Scope:
        """Find all scopes; returns the module's."""
        module = Scope("module", "", 1, 0, root.end_point[0] + 1, 0, None)
        self.found.append(module)
        self._pending.append((root, module))
        while self._pending:
            node, scope = self._pending.pop()
            visitor = self._visitors.get(node.type)
            if visitor is not None:
                visitor(node, scope)
            elif node.type in _COMPREHENSIONS:
                self._comprehension(node, scope)
            else:
                self._push(node.named_children, scope)
        return module

    def _push(self, nodes: list[Node], scope: Scope) -> None:
        """Visit nodes next, in their order."""
        self._pending.extend((node, scope) for node in reversed(nodes))

    def _push_field(self, node: Node, name: str, scope: Scope) -> None:
        child = node.child_by_field_name(name)
        if child is not None:
            self._pending.append((child, scope))

    def _name(self, node: Node, scope: Scope) -> str:
        name = self._source[node.start_byte : node.end_byte].decode()
        if not name.isascii():
            name = unicodedata.normalize("NFKC", name)
        if scope.class_name and name.startswith("__") and not name.endswith("__"):
            stripped = scope.class_name.lstrip("_")
            return f"_{stripped}{name}" if stripped else name
        return name

    def _open(self, kind: str, name: str, node: Node, scope: Scope) -> Scope:
        named = scope
        while named.kind == "comprehension" and named.parent is not None:
            named = named.parent
        if kind == "lambda":
            named.lambdas += 1
            name = f"<lambda{named.lambdas}>"
        prefix = f"{named.qualname}." if named.qualname else ""
        (row, column), (last_row, last_column) = node.start_point, node.end_point
        opened = Scope(
            *(kind, prefix + name, row + 1, column, last_row + 1, last_column, scope),
            class_name=scope.class_name,
        )
        scope.children.append(opened)
        self.found.append(opened)
        return opened

    def _bind(self, name: str, node: Node, scope: Scope) -> None:
        scope.bound.setdefault(name, []).append(node.start_point[0] + 1)

    def _identifier(self, node: Node, scope: Scope) -> None:
        name = self._name(node, scope)
        scope.used.add(name)
        if name == "super" and scope.kind not in ("module", "class"):
            scope.used.add("__class__")

    def _bind_all(self, node: Node | None, scope: Scope) -> None:
        """Bind the names of a target; what stands in subscripts and attributes is read."""
        pending = [node] if node is not None else []
        reads: list[Node] = []
        while pending:
            each = pending.pop()
            if each.type == "identifier":
                self._bind(self._name(each, scope), each, scope)
            elif each.type in ("attribute", "subscript", "call"):
                reads.append(each)
            else:
                pending.extend(each.named_children[::-1])
        self._push(reads, scope)

    def _target(self, node: Node, name: str, scope: Scope) -> None:
        target = node.child_by_field_name(name)
        self._push([each for each in node.named_children if each != target], scope)
        self._bind_all(target, scope)

    def _assignment(self, node: Node, scope: Scope) -> None:
        target = node.child_by_field_name("left")
        hint = node.child_by_field_name("type")
        rest = [each for each in node.named_children if each not in (target, hint)]
        if hint is not None and self._annotations_are_names:
            rest.insert(0, hint)
        self._push(rest, scope)
        self._bind_all(target, scope)

    def _parameters(self, node: Node, inner: Scope) -> list[Node]:
        """Bind the parameters inside; returns what the scope around evaluates."""
        outside: list[Node] = []
        listed = node.child_by_field_name("parameters")
        for parameter in listed.named_children if listed is not None else ():
            hint = parameter.child_by_field_name("type")
            value = parameter.child_by_field_name("value")
            pending = [each for each in (parameter,) if each.type != "comment"]
            while pending:
                each = pending.pop()
                if each in (hint, value):
                    continue
                if each.type == "identifier":
                    self._bind(self._name(each, inner), each, inner)
                else:
                    pending.extend(each.named_children[::-1])
            if value is not None:
                outside.append(value)
            if hint is not None and self._annotations_are_names:
                outside.append(hint)
        return outside

    def _function(self, node: Node, scope: Scope) -> None:
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if name is None or body is None:
            return
        self._bind(self._name(name, scope), name, scope)
        plain = self._source[name.start_byte : name.end_byte].decode()
        inner = self._open("function", plain, node, scope)
        outside = self._parameters(node, inner)
        returns = node.child_by_field_name("return_type")
        if returns is not None and self._annotations_are_names:
            outside.append(returns)
        self._pending.append((body, inner))
        self._push(outside, scope)

    def _lambda(self, node: Node, scope: Scope) -> None:
        body = node.child_by_field_name("body")
        if body is None:
            return
        inner = self._open("lambda", "", node, scope)
        outside = self._parameters(node, inner)
        self._pending.append((body, inner))
        self._push(outside, scope)

    def _class(self, node: Node, scope: Scope) -> None:
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if name is None or body is None:
            return
        self._bind(self._name(name, scope), name, scope)
        plain = self._source[name.start_byte : name.end_byte].decode()
        inner = self._open("class", plain, node, scope)
        inner.class_name = plain
        self._pending.append((body, inner))
        self._push_field(node, "superclasses", scope)

    def _comprehension(self, node: Node, scope: Scope) -> None:
        inner = self._open("comprehension", f"<{_COMPREHENSIONS[node.type]}>", node, scope)
        parts: list[tuple[Node, Scope]] = []
        first = True
        for child in node.named_children:
            if child.type != "for_in_clause":
                parts.append((child, inner))
                continue
            target = child.child_by_field_name("left")
            self._bind_all(target, inner)
            for each in child.named_children:
                if each != target:
                    parts.append((each, scope if first else inner))
            first = False
        self._pending.extend(reversed(parts))

    def _named_expression(self, node: Node, scope: Scope) -> None:
        self._push_field(node, "value", scope)
        name_node = node.child_by_field_name("name")
        if name_node is None:
            return
        name = self._name(name_node, scope)
        owner = scope
        passed: list[Scope] = []
        while owner.kind == "comprehension" and owner.parent is not None:
            passed.append(owner)
            owner = owner.parent
        self._bind(name, name_node, owner)
        is_global = owner.kind == "module" or name in owner.shared
        for each in passed:
            (each.shared if is_global else each.outer).add(name)

    def _import(self, node: Node, scope: Scope) -> None:
        for item in node.children_by_field_name("name"):
            alias = item.child_by_field_name("alias")
            bound = alias if alias is not None else item.named_child(0)
            if bound is not None:
                self._bind(self._name(bound, scope), bound, scope)

    def _future(self, node: Node, scope: Scope) -> None:
        for item in node.children_by_field_name("name"):
            if self._name(item, scope) == "annotations":
                self._annotations_are_names = False
        self._import(node, scope)

    def _declare(self, node: Node, scope: Scope, names: set[str]) -> None:
        names.update(self._name(each, scope) for each in node.named_children)

    def _type_alias(self, node: Node, scope: Scope) -> None:
        self._target(node, "left", scope)

    def _case(self, node: Node, scope: Scope) -> None:
        """Patterns bind plain names, and read dotted ones and classes."""
        pending = [node]
        while pending:
            each = pending.pop()
            children = [child for child in each.named_children if child.type != "comment"]
            if each.type == "class_pattern" and children:
                self._push(children[0].named_children[:1], scope)
                pending.extend(reversed(children[1:]))
            elif each.type == "keyword_pattern":
                pending.extend(reversed(children[1:]))
            elif each.type == "dotted_name" and len(children) > 1:
                self._push(children[:1], scope)
            elif each.type == "identifier":
                name = self._name(each, scope)
                if name != "_":
                    self._bind(name, each, scope)
            else:
                pending.extend(reversed(children))
