"""Evaluates expressions as far as they are constant, and records the globals that they reach.

Rules kept here:
- literals, names, concatenation, templates, `join`, members and choices are evaluated; the result of another call on
  constants is `ValueKind.COMPUTED`;
- a choice (`||`, `?:`) has a value when one side is a global or a function, because it may be that one;
- nodes are evaluated once, children first, in the order of the text; a second and third time only when a variable was
  read before its value was known;
- a use is recorded where a global is reached (a free name, a member, a destructured name), not where an alias is read;
- destructuring patterns are followed name by name; what cannot be followed is unknown.
"""

from __future__ import annotations

from collections.abc import Callable

from cortex_skills.scanner.scopes import CLASS_KINDS, FUNCTION_KINDS, Binding, ResolvedNames, identifier_text
from cortex_skills.scanner.tree import SyntaxNode, SyntaxTree
from cortex_skills.scanner.values import (
    LIST_LIMIT,
    Global,
    Path,
    Value,
    ValueKind,
    as_text,
    call_function,
    call_method,
    concat,
    global_named,
    is_notable,
    member,
    number_of_literal,
    text_of_literal,
    truth,
)

TRANSPARENT_KINDS = frozenset({
    "as_expression", "await_expression", "instantiation_expression", "non_null_expression", "parenthesized_expression",
    "satisfies_expression", "type_assertion",
})  # fmt: skip
_ROUNDS = 3
_CHOICES = frozenset({"||", "??", "&&"})
_PROTOTYPE_OF = frozenset({("Object", "getPrototypeOf"), ("Reflect", "getPrototypeOf")})
_PATTERN_TARGETS = frozenset({"variable_declarator", "required_parameter", "optional_parameter"})


class Evaluator:
    """The values of the expressions of a file, and the globals that it reaches.

    Attributes:
        values: the known values, by node index.
        uses: the paths of the globals that are reached, by node index.
    """

    def __init__(self, tree: SyntaxTree, names: ResolvedNames) -> None:
        self.tree = tree
        self.names = names
        self.values: dict[int, Value] = {}
        self.uses: dict[int, Path] = {}
        self._read_unknown: set[Binding] = set()

    def run(self) -> None:
        """Evaluate all nodes."""
        for _ in range(_ROUNDS):
            self._read_unknown.clear()
            for node in self.tree.postorder:
                evaluate = _EVALUATORS.get(node.kind)
                if evaluate is not None and not node.in_type:
                    value = evaluate(self, node)
                    if value is not None:
                        self.values[node.index] = value
            if all(binding.value is None for binding in self._read_unknown):
                break

    def value(self, node: SyntaxNode | None) -> Value:
        """The value of `node`; None when it is unknown."""
        return None if node is None else self.values.get(node.index)

    def is_changed(self, index: int) -> bool:
        """True for a name that has a constant value where it is read, and another value later."""
        binding, value = self.names.bindings.get(index), self.values.get(index)
        return value is not None and binding is not None and not is_notable(value) and binding.value != value

    def identifier(self, node: SyntaxNode) -> Value:
        """A name that is read."""
        free = self.names.globals.get(node.index)
        if free is not None:
            return self._reach(node, global_named(free))
        binding = self.names.bindings.get(node.index)
        if binding is None:
            return None
        if binding.value is None:
            self._read_unknown.add(binding)
        return binding.value

    def string(self, node: SyntaxNode) -> Value:
        """A quoted string."""
        return text_of_literal(self.tree.source(node)[1:-1])

    def number(self, node: SyntaxNode) -> Value:
        """A number literal."""
        return number_of_literal(self.tree.source(node))

    def template(self, node: SyntaxNode) -> Value:
        """A template without a tag."""
        if node.field == "arguments" and node.parent is not None and node.parent.kind == "call_expression":
            return None
        text: Value = ""
        for part in node.children:
            if part.kind == "template_substitution":
                piece = self.value(part.children[0]) if part.children else None
            else:
                piece = text_of_literal(self.tree.source(part))
            text = concat(text, piece) if text is not None else None
        return text

    def unary(self, node: SyntaxNode) -> Value:
        """`!x`, and `-x` of a number; other operators are unknown."""
        operator, value = node.child("operator"), self.value(node.child("argument"))
        if operator is not None and operator.kind == "-" and isinstance(value, int | float):
            return -value
        known = truth(value)
        return not known if operator is not None and operator.kind == "!" and known is not None else None

    def array(self, node: SyntaxNode) -> Value:
        """A list; one that spreads an unknown value is unknown."""
        items: tuple[Value, ...] = ()
        for part in node.children[: LIST_LIMIT + 1]:
            is_spread = part.kind == "spread_element" and bool(part.children)
            given = self.value(part.children[0] if is_spread else part)
            if not is_spread:
                items += (given,)
            elif isinstance(given, str | tuple):
                items += tuple(given)
            else:
                return None
            if len(items) > LIST_LIMIT:
                return None
        return items

    def transparent(self, node: SyntaxNode) -> Value:
        """An expression with the value of its first child that is not a type."""
        return next((self.value(part) for part in node.children if not part.in_type), None)

    def sequence(self, node: SyntaxNode) -> Value:
        """`a, b`."""
        return self.value(node.children[-1]) if node.children else None

    def binary(self, node: SyntaxNode) -> Value:
        """`a + b`, `a || b`, `a ?? b`, `a && b`; other operators are unknown."""
        operator = node.child("operator")
        if operator is not None and operator.kind == "+":
            return concat(self.value(node.child("left")), self.value(node.child("right")))
        is_choice = operator is not None and operator.kind in _CHOICES
        return self._choice(node, "left", "right") if is_choice else None

    def ternary(self, node: SyntaxNode) -> Value:
        """`a ? b : c`."""
        return self._choice(node, "consequence", "alternative")

    def member(self, node: SyntaxNode) -> Value:
        """`a.b` and `a[b]`."""
        target, name = node.child("object"), node.child("property") or node.child("index")
        if target is None or name is None:
            return None
        given, key = self.value(target), self.property_name(name)
        if key == "length" and isinstance(given, str | tuple):
            return len(given)
        return self._reach(node, member(given, key, of_this=target.kind == "this"))

    def meta(self, node: SyntaxNode) -> Value:
        """`import.meta`."""
        text = "".join(self.tree.source(node).split())
        return self._reach(node, Global(("import.meta",))) if text == "import.meta" else None

    def call(self, node: SyntaxNode) -> Value:
        """A call of a function or a method; a tagged template counts as its only argument."""
        function = node.child("function")
        if function is None:
            return None
        callee, given = self.value(function), node.child("arguments")
        if not isinstance(callee, Global):
            target, name = function.child("object"), function.child("property") or function.child("index")
            key = self.property_name(name) if name is not None else None
            return call_method(self.value(target), key, self._arguments(given))
        arguments = self._arguments(given)
        if callee.path == ("Reflect", "get") and len(arguments) > 1:
            return self._reach(node, member(arguments[0], as_text(arguments[1])))
        if callee.path in _PROTOTYPE_OF and arguments:
            # The prototype of an unknown object most likely belongs to the source.
            is_plain = given is not None and bool(given.children) and given.children[0].kind == "object"
            return member(arguments[0], "__proto__") if arguments[0] is not None or is_plain else None
        if callee.path[-1:] == ("bind",):
            return Global(callee.path[:-1])
        return call_function(callee.path, arguments)

    def function(self, node: SyntaxNode) -> Value:
        """A function or a class."""
        name, parameter = node.child("name"), node.child("parameter")
        if name is not None and name.kind in ("identifier", "type_identifier"):
            self._write(name, ValueKind.FUNCTION)
        self._write(parameter, None)
        return ValueKind.FUNCTION

    def declaration(self, node: SyntaxNode) -> Value:
        """`const x = y`, and a parameter with its default."""
        self._write(node.child("name") or node.child("pattern"), self.value(node.child("value")))
        return None

    def assignment(self, node: SyntaxNode) -> Value:
        """`x = y`."""
        value = self.value(node.child("right"))
        self._write(node.child("left"), value)
        return value

    def unknown_write(self, node: SyntaxNode) -> Value:
        """A write of an unknown value: `x++`, the variables of `for … of` and `catch`."""
        self._write(node.child("left") or node.child("argument") or node.child("parameter"), None)
        return None

    def augmented_assignment(self, node: SyntaxNode) -> Value:
        """`x += …` makes x unknown; `x ||= eval` may give it the value on the right."""
        value = self.value(node.child("right"))
        known = value if is_notable(value) else None
        self._write(node.child("left"), known)
        return known

    def import_alias(self, node: SyntaxNode) -> Value:
        """`import x = a.b`."""
        if len(node.children) > 1:
            self._write(node.children[0], self.value(node.children[-1]))
        return None

    def property_name(self, node: SyntaxNode) -> str | None:
        """The name that a property, a key or a subscript selects; None when it is unknown."""
        if node.kind == "computed_property_name":
            return as_text(self.value(node.children[0])) if node.children else None
        if node.kind in ("property_identifier", "private_property_identifier"):
            return identifier_text(self.tree.source(node))
        return as_text(self.value(node))

    def _reach(self, node: SyntaxNode, value: Value) -> Value:
        if isinstance(value, Global):
            self.uses[node.index] = value.path
        return value

    def _choice(self, node: SyntaxNode, *fields: str) -> Value:
        options = [self.value(node.child(field)) for field in fields]
        return next((option for option in options if is_notable(option)), None)

    def _arguments(self, given: SyntaxNode | None) -> list[Value]:
        """The values of the arguments of a call, at most `LIST_LIMIT`."""
        if given is not None and given.kind == "template_string":
            parts = [part.children[0] for part in given.children if part.kind == "template_substitution"]
            return ["", *map(self.value, parts[:LIST_LIMIT])]
        values: list[Value] = []
        for part in [] if given is None else given.children[:LIST_LIMIT]:
            spread = self.value(part.children[0]) if part.kind == "spread_element" and part.children else None
            values += spread if isinstance(spread, tuple) else (self.value(part),)
        return values[:LIST_LIMIT]

    def _write(self, target: SyntaxNode | None, value: Value) -> None:
        """Write `value` to a name or to every name of a destructuring pattern."""
        pending: list[tuple[SyntaxNode | None, Value]] = [(target, value)]
        while pending:
            node, given = pending.pop()
            if node is None:
                continue
            kind = node.kind
            if kind in ("assignment_pattern", "object_assignment_pattern"):
                left, default = node.child("left"), self.value(node.child("right"))
                if left is not None and left.kind == "shorthand_property_identifier_pattern":
                    given = self._reach(left, member(given, identifier_text(self.tree.source(left))))
                pending.append((left, given if is_notable(given) or default is None else default))
            elif kind == "object_pattern":
                pending.extend(self._object_parts(node, given))
            elif kind == "array_pattern":
                pending.extend((part, member(given, str(place))) for place, part in enumerate(node.children))
            elif kind == "rest_pattern" and node.children:
                pending.append((node.children[-1], given if is_notable(given) else None))
            elif node.index in self.names.bindings:
                self.names.bindings[node.index].write(node.index, given)

    def _object_parts(self, pattern: SyntaxNode, given: Value) -> list[tuple[SyntaxNode | None, Value]]:
        parts: list[tuple[SyntaxNode | None, Value]] = []
        for part in pattern.children:
            key = part.child("key")
            if part.kind == "shorthand_property_identifier_pattern":
                name = identifier_text(self.tree.source(part))
                parts.append((part, self._reach(part, member(given, name))))
            elif part.kind != "pair_pattern":
                parts.append((part, given))
            elif key is not None:
                parts.append((part.child("value"), self._reach(key, member(given, self.property_name(key)))))
        return parts


_EVALUATORS: dict[str, Callable[[Evaluator, SyntaxNode], Value]] = {
    "array": Evaluator.array,
    "assignment_expression": Evaluator.assignment,
    "augmented_assignment_expression": Evaluator.augmented_assignment,
    "binary_expression": Evaluator.binary,
    "call_expression": Evaluator.call,
    "catch_clause": Evaluator.unknown_write,
    "for_in_statement": Evaluator.unknown_write,
    "identifier": Evaluator.identifier,
    "import_alias": Evaluator.import_alias,
    "member_expression": Evaluator.member,
    "meta_property": Evaluator.meta,
    "nested_identifier": Evaluator.member,
    "number": Evaluator.number,
    "sequence_expression": Evaluator.sequence,
    "shorthand_property_identifier": Evaluator.identifier,
    "shorthand_property_identifier_pattern": Evaluator.identifier,
    "string": Evaluator.string,
    "subscript_expression": Evaluator.member,
    "template_string": Evaluator.template,
    "ternary_expression": Evaluator.ternary,
    "true": lambda _evaluator, _node: True,
    "false": lambda _evaluator, _node: False,
    "unary_expression": Evaluator.unary,
    "update_expression": Evaluator.unknown_write,
    **dict.fromkeys(TRANSPARENT_KINDS, Evaluator.transparent),
    **dict.fromkeys(FUNCTION_KINDS | CLASS_KINDS, Evaluator.function),
    **dict.fromkeys(_PATTERN_TARGETS, Evaluator.declaration),
}
