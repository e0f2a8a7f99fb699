"""A file's text → its `ModuleCode`: scopes and statements.

The statements follow the language reference, "Compound statements" and "Simple statements".
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from annotate.upstream.calls.code import (
    Body,
    Code,
    Expression,
    ModuleCode,
    Parameter,
    Statement,
)
from annotate.upstream.calls.lower_expressions import UNKNOWN, ExpressionLowering
from annotate.upstream.calls.lower_patterns import PatternLowering
from annotate.upstream.syntax import Node, parse


def lower(text: str) -> ModuleCode:
    """Reduce a decoded Python file to what call graphs need.

    Raises:
        AnnotateError: as `annotate.upstream.syntax.parse` does.
    """
    lowering = _Lowering(text.encode())
    lowering.module(parse(text).root_node)
    codes = tuple(code for code in lowering.codes if code is not None)
    return ModuleCode(codes, frozenset(lowering.stored_attributes))


@dataclass(slots=True)
class _Scope:
    kind: str
    index: int
    local: set[str] = field(default_factory=set)
    outer: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)
    generator: bool = False
    lambdas: int = 0


@dataclass(frozen=True, slots=True)
class _Head:
    """What a code has besides its scope and body."""

    name: str
    line: int
    own_line: int
    column: int
    bound_name: str = ""
    parameters: tuple[Parameter, ...] = ()
    decorators: tuple[Expression, ...] = ()
    bases: tuple[Expression, ...] = ()
    keywords: tuple[tuple[str, Expression], ...] = ()
    returns: Expression | None = None


class _Lowering(PatternLowering, ExpressionLowering):
    """One walk over a file."""

    def __init__(self, source: bytes) -> None:
        super().__init__(source)
        self.codes: list[Code | None] = []
        self._scopes: list[_Scope] = []
        self._statement_line = 1
        self._lambda_target = ""
        self._statements: dict[str, Callable[[Node], list[Statement]]] = {
            "expression_statement": self._expression_statement,
            "return_statement": self._return,
            "if_statement": self._if,
            "for_statement": self._for,
            "while_statement": self._while,
            "try_statement": self._try,
            "with_statement": self._with,
            "match_statement": self._match,
            "function_definition": self._function,
            "class_definition": self._class,
            "decorated_definition": self._decorated,
            "import_statement": self._import,
            "import_from_statement": self._import_from,
            "global_statement": self._declare,
            "nonlocal_statement": self._declare,
            "raise_statement": self._raise,
            "assert_statement": self._assert,
            "print_statement": self._evaluate,
            "exec_statement": self._evaluate,
            "delete_statement": self._delete,
            "break_statement": lambda _: [("stop",)],
            "continue_statement": lambda _: [("stop",)],
        }

    def module(self, root: Node) -> None:
        """Lower a whole file."""
        scope = self._open("module")
        body = self._body(root)
        self._close(scope, _Head("", 1, 1, 0), body, -1)

    def bind(self, name: str) -> None:
        for scope in reversed(self._scopes):
            # `:=` in a comprehension of a class body is an error; elsewhere the scope is right.
            scope.local.add(name)
            return

    def note_yield(self) -> None:
        self._scopes[-1].generator = True

    def lambda_(self, node: Node) -> Expression:
        parameters = self.parameters(node.child_by_field_name("parameters"))
        outer = self._scopes[-1]
        outer.lambdas += 1
        bound_name, self._lambda_target = self._lambda_target, ""
        line = self._statement_line if bound_name else node.start_point[0] + 1
        head = _Head(
            name=f"<lambda{outer.lambdas}>",
            line=line,
            own_line=node.start_point[0] + 1,
            column=node.start_point[1],
            bound_name=bound_name,
            parameters=parameters,
        )
        scope = self._open("lambda")
        scope.local.update(each.name for each in parameters)
        hidden = self._hide_renames(parameters)
        value = self.field(node, "body")
        self._show_renames(hidden)
        self._close(scope, head, (("ret", value),), outer.index)
        return ("L", scope.index)

    def _hide_renames(self, parameters: tuple[Parameter, ...]) -> bool:
        """A lambda's parameters hide the comprehension variables of the same names."""
        if not self.renames:
            return False
        self.renames.append({each.name: each.name for each in parameters})
        return True

    def _show_renames(self, hidden: bool) -> None:
        if hidden:
            self.renames.pop()

    def _open(self, kind: str) -> _Scope:
        scope = _Scope(kind, len(self.codes))
        self.codes.append(None)
        self._scopes.append(scope)
        return scope

    def _close(self, scope: _Scope, head: _Head, body: Body, parent: int) -> None:
        self._scopes.pop()
        self.codes[scope.index] = Code(
            kind=scope.kind,
            name=head.name,
            bound_name=head.bound_name,
            line=head.line,
            own_line=head.own_line,
            column=head.column,
            parent=parent,
            parameters=head.parameters,
            body=body,
            decorators=head.decorators,
            bases=head.bases,
            keywords=head.keywords,
            returns=head.returns,
            generator=scope.generator,
            local=frozenset(scope.local - scope.outer - scope.shared),
            outer=frozenset(scope.outer),
            shared=frozenset(scope.shared),
        )

    def _body(self, node: Node | None) -> Body:
        if node is None:
            return ()
        statements: list[Statement] = []
        pending = node.named_children[::-1]
        while pending:
            child = pending.pop()
            if child.type == "ERROR":
                pending.extend(child.named_children[::-1])
                continue
            handler = self._statements.get(child.type)
            if handler is not None:
                self._statement_line = child.start_point[0] + 1
                statements.extend(handler(child))
            elif child.type == "block":
                pending.extend(child.named_children[::-1])
        return tuple(statements)

    def _block(self, node: Node | None) -> Body:
        """The suite of a clause, which the grammar names in some clauses only."""
        if node is None:
            return ()
        body = node.child_by_field_name("body") or node.child_by_field_name("consequence")
        if body is None:
            body = next((each for each in node.named_children if each.type == "block"), None)
        return self._body(body)

    def _store(self, node: Node | None) -> Expression:
        """Lower a target, and make the names in it local."""
        target = self.target(node)
        self._bind_target(target)
        return target

    def _bind_target(self, target: Expression) -> None:
        if target[0] == "n":
            self.bind(target[1])
        elif target[0] in ("t", "l"):
            for item in target[1]:
                self._bind_target(item)
        elif target[0] == "*":
            self._bind_target(target[1])

    def _expression_statement(self, node: Node) -> list[Statement]:
        first = node.named_child(0) if node.named_child_count else None
        if first is None:
            return []
        if first.type == "assignment":
            return self._assignment(first)
        if first.type == "augmented_assignment":
            target = self._store(first.child_by_field_name("left"))
            operator = first.child_by_field_name("operator")
            sign = self.text(operator)[:-1] if operator is not None else ""
            value = self.field(first, "right")
            return [("+=", sign, target, value, first.start_point[0] + 1)]
        return self._evaluate(node)

    def _evaluate(self, node: Node) -> list[Statement]:
        return [("e", item) for item in self.items(node) if item[0] not in ("k", "K", "n")]

    def _assignment(self, node: Node) -> list[Statement]:
        annotation = node.child_by_field_name("type")
        if annotation is not None:
            target = self._store(node.child_by_field_name("left"))
            hint = self.annotation(annotation)
            right = node.child_by_field_name("right")
            value = self.expression(right) if right is not None else None
            return [("ann", target, hint, value)]
        lefts: list[Node | None] = []
        value_node: Node | None = node
        while value_node is not None and value_node.type == "assignment":
            lefts.append(value_node.child_by_field_name("left"))
            value_node = value_node.child_by_field_name("right")
        bare = value_node
        while bare is not None and bare.type == "parenthesized_expression":
            bare = bare.named_child(0) if bare.named_child_count == 1 else None
        names = [left for left in lefts if left is not None and left.type == "identifier"]
        if bare is not None and bare.type == "lambda" and names:
            self._lambda_target = self.text(names[0])
        value = self.expression(value_node)
        self._lambda_target = ""
        targets = tuple(self._store(left) for left in lefts)
        return [("=", targets, value, node.start_point[0] + 1)]

    def _return(self, node: Node) -> list[Statement]:
        items = self.items(node)
        return [("ret", items[0] if items else ("k", None))]

    def _if(self, node: Node) -> list[Statement]:
        test = self.field(node, "condition")
        then = self._body(node.child_by_field_name("consequence"))
        otherwise: Body = ()
        clauses: list[tuple[Expression, Body]] = []
        for clause in node.children_by_field_name("alternative"):
            if clause.type == "elif_clause":
                clauses.append((self.field(clause, "condition"), self._block(clause)))
            else:
                otherwise = self._block(clause)
        for condition, body in reversed(clauses):
            otherwise = (("if", condition, body, otherwise),)
        return [("if", test, then, otherwise)]

    def _for(self, node: Node) -> list[Statement]:
        iterable = self.field(node, "right")
        target = self._store(node.child_by_field_name("left"))
        body = self._body(node.child_by_field_name("body"))
        otherwise = self._block(node.child_by_field_name("alternative"))
        return [("for", target, iterable, body, otherwise, node.start_point[0] + 1)]

    def _while(self, node: Node) -> list[Statement]:
        test = self.field(node, "condition")
        body = self._body(node.child_by_field_name("body"))
        otherwise = self._block(node.child_by_field_name("alternative"))
        return [("while", test, body, otherwise)]

    def _try(self, node: Node) -> list[Statement]:
        body = self._body(node.child_by_field_name("body"))
        handlers: list[tuple[Expression, str | None, Body]] = []
        otherwise: Body = ()
        final: Body = ()
        for clause in node.named_children:
            if clause.type in ("except_clause", "except_group_clause"):
                handlers.append(self._handler(clause))
            elif clause.type == "else_clause":
                otherwise = self._block(clause)
            elif clause.type == "finally_clause":
                final = self._block(clause)
        return [("try", body, tuple(handlers), otherwise, final)]

    def _handler(self, clause: Node) -> tuple[Expression, str | None, Body]:
        value = clause.child_by_field_name("value")
        name: str | None = None
        types: Expression = UNKNOWN
        if value is not None and value.type == "as_pattern":
            alias = value.child_by_field_name("alias")
            types = self.first(value)
            target = self._store(alias)
            name = target[1] if target[0] == "n" else None
        elif value is not None:
            types = self.expression(value)
        return types, name, self._block(clause)

    def _with(self, node: Node) -> list[Statement]:
        items: list[tuple[Expression, Expression | None]] = []
        clause = next((each for each in node.named_children if each.type == "with_clause"), None)
        for item in clause.named_children if clause is not None else ():
            if item.type == "with_item":
                items.extend(self._with_item(item.child_by_field_name("value")))
        body = self._body(node.child_by_field_name("body"))
        return [("with", tuple(items), body, node.start_point[0] + 1)]

    def _with_item(self, value: Node | None) -> list[tuple[Expression, Expression | None]]:
        if value is None:
            return []
        if value.type in ("parenthesized_expression", "tuple"):
            inner = value.named_children
            if any(each.type == "as_pattern" for each in inner):
                return [pair for each in inner for pair in self._with_item(each)]
        if value.type == "as_pattern":
            context = self.first(value)
            return [(context, self._store(value.child_by_field_name("alias")))]
        return [(self.expression(value), None)]

    def _match(self, node: Node) -> list[Statement]:
        subjects = [self.expression(each) for each in node.children_by_field_name("subject")]
        subject = subjects[0] if len(subjects) == 1 else ("t", tuple(subjects))
        cases = []
        body = node.child_by_field_name("body")
        for clause in body.named_children if body is not None else ():
            if clause.type != "case_clause":
                continue
            patterns = [each for each in clause.named_children if each.type == "case_pattern"]
            lowered = tuple(self.pattern(each) for each in patterns)
            pattern = lowered[0] if len(lowered) == 1 else ("items", lowered)
            guard = clause.child_by_field_name("guard")
            test = self.first(guard) if guard is not None else None
            cases.append((pattern, test, self._block(clause)))
        return [("match", subject, tuple(cases), node.start_point[0] + 1)]

    def _decorated(self, node: Node) -> list[Statement]:
        definition = node.child_by_field_name("definition")
        if definition is None:
            return []
        decorators = tuple(
            self.first(each) for each in node.named_children if each.type == "decorator"
        )
        line = node.start_point[0] + 1
        if definition.type == "class_definition":
            return self._class(definition, line, decorators)
        return self._function(definition, line, decorators)

    def _function(
        self, node: Node, line: int = 0, decorators: tuple[Expression, ...] = ()
    ) -> list[Statement]:
        name_node = node.child_by_field_name("name")
        if name_node is None:
            return []
        line = line or node.start_point[0] + 1
        parameters = self.parameters(node.child_by_field_name("parameters"))
        name = self.text(name_node)
        bound = self.mangled(name)
        head = _Head(
            name=name,
            line=line,
            own_line=line,
            column=node.start_point[1],
            parameters=parameters,
            decorators=decorators,
            returns=self.annotation(node.child_by_field_name("return_type")),
        )
        self.bind(bound)
        parent = self._scopes[-1].index
        scope = self._open("function")
        scope.local.update(each.name for each in parameters)
        depth, self.depth = self.depth, 0
        renames, self.renames = self.renames, []
        body = self._body(node.child_by_field_name("body"))
        self.depth, self.renames = depth, renames
        self._close(scope, head, body, parent)
        return [("def", scope.index, bound)]

    def _class(
        self, node: Node, line: int = 0, decorators: tuple[Expression, ...] = ()
    ) -> list[Statement]:
        name_node = node.child_by_field_name("name")
        if name_node is None:
            return []
        line = line or node.start_point[0] + 1
        bases: list[Expression] = []
        keywords: list[tuple[str, Expression]] = []
        superclasses = node.child_by_field_name("superclasses")
        for child in superclasses.named_children if superclasses is not None else ():
            if child.type == "keyword_argument":
                key = child.child_by_field_name("name")
                keywords.append((self.text(key) if key else "", self.field(child, "value")))
            elif child.type not in ("comment", "dictionary_splat"):
                bases.append(self.expression(child))
        name = self.text(name_node)
        head = _Head(
            name=name,
            line=line,
            own_line=line,
            column=node.start_point[1],
            decorators=decorators,
            bases=tuple(bases),
            keywords=tuple(keywords),
        )
        bound = self.mangled(name)
        self.bind(bound)
        parent = self._scopes[-1].index
        scope = self._open("class")
        class_name, self.class_name = self.class_name, name
        body = self._body(node.child_by_field_name("body"))
        self.class_name = class_name
        self._close(scope, head, body, parent)
        return [("def", scope.index, bound)]

    def _import(self, node: Node) -> list[Statement]:
        statements: list[Statement] = []
        for item in node.children_by_field_name("name"):
            if item.type == "aliased_import":
                alias = item.child_by_field_name("alias")
                dotted = self._dotted(item.child_by_field_name("name"))
                bound = self.name(alias) if alias is not None else dotted
                statements.append(("import", dotted, bound, True))
            else:
                dotted = self._dotted(item)
                bound = dotted.partition(".")[0]
                statements.append(("import", dotted, bound, False))
            self.bind(bound)
        return statements

    def _import_from(self, node: Node) -> list[Statement]:
        source = node.child_by_field_name("module_name")
        if source is None:
            return []
        module = self._dotted(source)
        names: list[tuple[str, str]] = []
        for item in node.children_by_field_name("name"):
            if item.type == "aliased_import":
                alias = item.child_by_field_name("alias")
                name = self._dotted(item.child_by_field_name("name"))
                names.append((name, self.name(alias) if alias is not None else name))
            else:
                name = self._dotted(item)
                names.append((name, name))
            self.bind(names[-1][1])
        if not names and any(each.type == "wildcard_import" for each in node.named_children):
            names.append(("*", "*"))
        return [("from", module, tuple(names))]

    def _dotted(self, node: Node | None) -> str:
        return "".join(self.text(node).split()) if node is not None else ""

    def _declare(self, node: Node) -> list[Statement]:
        scope = self._scopes[-1]
        names = {self.mangled(self.text(each)) for each in node.named_children}
        (scope.shared if node.type == "global_statement" else scope.outer).update(names)
        return []

    def _raise(self, node: Node) -> list[Statement]:
        cause = node.child_by_field_name("cause")
        values = [each for each in node.named_children if each.type != "comment" and each != cause]
        value = self.expression(values[0]) if values else None
        lowered = self.expression(cause) if cause is not None else None
        return [("raise", value, lowered, node.start_point[0] + 1)]

    def _assert(self, node: Node) -> list[Statement]:
        parts = (*self.items(node), None)
        return [("assert", parts[0] or UNKNOWN, parts[1])]

    def _delete(self, node: Node) -> list[Statement]:
        targets: list[Expression] = []
        for item in self.items(node):
            targets.extend(item[1] if item[0] == "t" else (item,))
        for target in targets:
            self._bind_target(target)
        return [("del", tuple(targets))]
