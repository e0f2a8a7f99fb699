"""Patterns of ``match`` → tuples (language reference, "Patterns")."""

from annotate.upstream.calls.code import Expression
from annotate.upstream.calls.lower_expressions import ExpressionLowering
from annotate.upstream.syntax import Node

ANYTHING: Expression = ("any", ())


class PatternLowering(ExpressionLowering):
    """Lowers the patterns of case clauses."""

    def pattern(self, node: Node | None) -> Expression:
        """Lower one pattern; the names it captures become local."""
        if node is None or self.depth > 50:
            return ANYTHING
        self.depth += 1
        try:
            return self._pattern(node)
        finally:
            self.depth -= 1

    def _pattern(self, node: Node) -> Expression:
        kind = node.type
        children = [each for each in node.named_children if each.type != "comment"]
        if kind in ("case_pattern", "tuple_pattern") and len(children) == 1:
            return self.pattern(children[0])
        if kind == "dotted_name":
            if len(children) == 1:
                return self._capture(children[0], None)
            return ("value", self._dotted_value(children))
        if kind == "identifier":
            return self._capture(node, None)
        if kind == "as_pattern" and len(children) == 2:
            return self._capture(children[1], self.pattern(children[0]))
        if kind == "class_pattern":
            return self._class_pattern(children)
        if kind in ("list_pattern", "tuple_pattern"):
            return ("items", tuple(self.pattern(each) for each in children))
        if kind == "splat_pattern":
            name = children[0] if children else None
            return ("rest", self._capture(name, None)) if name is not None else ("rest", ANYTHING)
        if kind == "union_pattern":
            return ("any", tuple(self.pattern(each) for each in children))
        if kind == "dict_pattern":
            return self._dict_pattern(node)
        if not children:
            return ("value", self.expression(node)) if node.is_named else ANYTHING
        return ("any", ())

    def _capture(self, name: Node | None, inner: Expression | None) -> Expression:
        if name is None:
            return ANYTHING
        text = self.name(name)
        if text == "_":
            return inner or ANYTHING
        self.bind(text)
        return ("bind", text, inner)

    def _dotted_value(self, parts: list[Node]) -> Expression:
        value: Expression = ("n", self.name(parts[0]))
        for part in parts[1:]:
            value = ("a", value, self.text(part), part.start_point[0] + 1)
        return value

    def _class_pattern(self, children: list[Node]) -> Expression:
        if not children:
            return ANYTHING
        parts = [each for each in children[0].named_children if each.type == "identifier"]
        class_ = self._dotted_value(parts or [children[0]])
        positional: list[Expression] = []
        keywords: list[tuple[str, Expression]] = []
        for each in children[1:]:
            inner = each.named_child(0) if each.named_child_count else None
            if inner is not None and inner.type == "keyword_pattern":
                named = [part for part in inner.named_children if part.type != "comment"]
                if len(named) == 2:
                    keywords.append((self.text(named[0]), self.pattern(named[1])))
            else:
                positional.append(self.pattern(each))
        return ("class", class_, tuple(positional), tuple(keywords))

    def _dict_pattern(self, node: Node) -> Expression:
        keys = [self.expression(each) for each in node.children_by_field_name("key")]
        values = [self.pattern(each) for each in node.children_by_field_name("value")]
        rest = ANYTHING
        for each in node.named_children:
            if each.type == "splat_pattern":
                rest = self.pattern(each)
        return ("keys", tuple(zip(keys, values, strict=False)), rest)
