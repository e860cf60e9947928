"""The known value of each kind of expression, and the pass that computes them.

Rules kept here:
- one pass over the nodes, children before parents, in the order of the text; a second and third only when a variable
  was read above the place that gives it its value;
- an operator, a call or a literal is known only when all that it depends on is known; choices (`||`, `?:`) are known
  when one side is a global or a function, for it may be that one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cortex_skills.scanner.facts import Facts, Gathering, Use
from cortex_skills.scanner.pure_calls import as_number, bounded, call_global, call_method, concat
from cortex_skills.scanner.scopes import CLASS_KINDS, FUNCTION_KINDS, Names
from cortex_skills.scanner.text_literals import number_value, string_value
from cortex_skills.scanner.values import LIST_LIMIT, Global, Kind, Value, is_notable, member, truth

if TYPE_CHECKING:
    from cortex_skills.scanner.tree import Node, Tree

TRANSPARENT_KINDS = frozenset(
    {
        "as_expression",
        "await_expression",
        "instantiation_expression",
        "non_null_expression",
        "parenthesized_expression",
        "satisfies_expression",
        "type_assertion",
    }
)
_ROUNDS = 3
_MOST_DIGITS = 1 << 64
_CHOICES = frozenset({"||", "??", "&&"})
_PROTOTYPE_OF = frozenset({("Object", "getPrototypeOf"), ("Reflect", "getPrototypeOf")})
_PATTERN_TARGETS = frozenset({"variable_declarator", "required_parameter", "optional_parameter"})


def fold(tree: Tree, names: Names) -> Facts:
    """The facts of `tree`."""
    known = Gathering(tree, names)
    for _ in range(_ROUNDS):
        _run(known)
        if all(binding.value is None for binding in known.read_unknown):
            break
    uses = [Use(path, tree.nodes[index]) for index, path in sorted(known.uses.items(), key=lambda use: use[0])]
    return Facts(known.values, uses, frozenset(names.globals), known.changing())


def _run(known: Gathering) -> None:
    known.read_unknown.clear()
    for node in known.tree.postorder:
        evaluate = _EVALUATORS.get(node.kind)
        if evaluate is not None and not node.in_type:
            value = evaluate(known, node)
            if value is not None:
                known.values[node.index] = value


def _string(known: Gathering, node: Node) -> Value:
    return string_value(known.tree.source(node)[1:-1])


def _number(known: Gathering, node: Node) -> Value:
    return number_value(known.tree.source(node))


def _template(known: Gathering, node: Node) -> Value:
    if node.parent is not None and node.parent.kind == "call_expression" and node.field == "arguments":
        return None
    return _template_text(known, node, string_value)


def _template_text(known: Gathering, node: Node, read: Callable[[str], str | None]) -> Value:
    text: Value = ""
    for part in node.children:
        if part.kind == "template_substitution":
            piece = known.value(part.children[0]) if part.children else None
        else:
            piece = read(known.tree.source(part))
        text = concat(text, piece) if isinstance(text, str) else None
    return text


def _unary(known: Gathering, node: Node) -> Value:
    operator, value = node.child("operator"), known.value(node.child("argument"))
    if operator is None or value is None:
        return None
    if operator.kind == "!":
        known_truth = truth(value)
        return None if known_truth is None else not known_truth
    number = as_number(value) if operator.kind in ("+", "-", "~") else None
    if number is None or not -_MOST_DIGITS < number < _MOST_DIGITS:
        return None
    if operator.kind == "~":
        return ~number if isinstance(number, int) and abs(number) < 1 << 31 else None
    return number if operator.kind == "+" else -number


def _array(known: Gathering, node: Node) -> Value:
    items: tuple[Value, ...] = ()
    for part in node.children[: LIST_LIMIT + 1]:
        is_spread = part.kind == "spread_element" and bool(part.children)
        given = known.value(part.children[0] if is_spread else part)
        if is_spread and not isinstance(given, str | tuple):
            return None
        items += tuple(given) if is_spread and isinstance(given, str | tuple) else (given,)
        if len(items) > LIST_LIMIT:
            return None
    return items


def _transparent(known: Gathering, node: Node) -> Value:
    return next((known.value(part) for part in node.children if not part.in_type), None)


def _last(known: Gathering, node: Node) -> Value:
    return known.value(node.children[-1]) if node.children else None


def _choice(known: Gathering, node: Node, *fields: str) -> Value:
    options = [known.value(node.child(field)) for field in fields]
    return next((option for option in options if is_notable(option)), None)


def _binary(known: Gathering, node: Node) -> Value:
    operator = node.child("operator")
    if operator is None:
        return None
    if operator.kind == "+":
        return concat(known.value(node.child("left")), known.value(node.child("right")))
    return _choice(known, node, "left", "right") if operator.kind in _CHOICES else None


def _ternary(known: Gathering, node: Node) -> Value:
    return _choice(known, node, "consequence", "alternative")


def _member(known: Gathering, node: Node) -> Value:
    target, name = node.child("object"), node.child("property") or node.child("index")
    if target is None or name is None:
        return None
    given, key = known.value(target), known.property_name(name)
    if key == "length" and isinstance(given, str | tuple):
        return len(given)
    return known.reach(node, member(given, key, of_this=target.kind == "this"))


def _meta(known: Gathering, node: Node) -> Value:
    text = "".join(known.tree.source(node).split())
    return known.reach(node, Global(("import.meta",))) if text == "import.meta" else None


def _call(known: Gathering, node: Node) -> Value:
    function = node.child("function")
    if function is None:
        return None
    callee, arguments = known.value(function), known.arguments(node)
    if isinstance(callee, Global):
        if callee.path == ("Reflect", "get") and len(arguments) > 1:
            return known.reach(node, member(arguments[0], known.as_name(arguments[1])))
        if callee.path in _PROTOTYPE_OF and arguments:
            return _prototype_of(node, arguments[0])
        if callee.path[-1:] == ("bind",):
            return Global(callee.path[:-1])
        tagged = node.child("arguments")
        if callee.path == ("String", "raw") and tagged is not None and tagged.kind == "template_string":
            return _template_text(known, tagged, bounded)
        return call_global(callee.path, arguments)
    target, name = function.child("object"), function.child("property") or function.child("index")
    key = known.property_name(name) if name is not None else None
    return call_method(known.value(target), key, arguments) if key is not None else None


def _prototype_of(call: Node, value: Value) -> Value:
    """The prototype of a value; that of an object which is not known is the author's own, most likely."""
    arguments = call.child("arguments")
    given = arguments.children[0] if arguments is not None and arguments.children else None
    is_plain = given is not None and given.kind == "object"
    return member(value, "__proto__") if value is not None or is_plain else None


def _function(known: Gathering, node: Node) -> Value:
    name = node.child("name")
    if name is not None and name.kind in ("identifier", "type_identifier"):
        known.write(name, Kind.FUNCTION)
    parameter = node.child("parameter")
    if parameter is not None:
        known.write(parameter, None)
    return Kind.FUNCTION


def _declaration(known: Gathering, node: Node) -> Value:
    target = node.child("name") or node.child("pattern")
    if target is not None:
        known.write(target, known.value(node.child("value")))
    return None


def _assignment(known: Gathering, node: Node) -> Value:
    target, value = node.child("left"), known.value(node.child("right"))
    if target is not None:
        known.write(target, value)
    return value


def _unknown_write(known: Gathering, node: Node) -> Value:
    target = node.child("left") or node.child("argument") or node.child("parameter")
    if target is not None:
        known.write(target, None)
    return None


def _choice_write(known: Gathering, node: Node) -> Value:
    """`x += …` makes x unknown; `x ||= eval` may make it what stands on the right."""
    target, value = node.child("left"), known.value(node.child("right"))
    if target is not None:
        known.write(target, value if is_notable(value) else None)
    return value if is_notable(value) else None


def _import_alias(known: Gathering, node: Node) -> Value:
    if len(node.children) > 1:
        known.write(node.children[0], known.value(node.children[-1]))
    return None


_EVALUATORS: dict[str, Callable[[Gathering, Node], Value]] = {
    "array": _array,
    "assignment_expression": _assignment,
    "augmented_assignment_expression": _choice_write,
    "binary_expression": _binary,
    "call_expression": _call,
    "catch_clause": _unknown_write,
    "for_in_statement": _unknown_write,
    "identifier": Gathering.name,
    "import_alias": _import_alias,
    "member_expression": _member,
    "meta_property": _meta,
    "nested_identifier": _member,
    "number": _number,
    "sequence_expression": _last,
    "shorthand_property_identifier": Gathering.name,
    "shorthand_property_identifier_pattern": Gathering.name,
    "string": _string,
    "subscript_expression": _member,
    "template_string": _template,
    "ternary_expression": _ternary,
    "true": lambda _known, _node: True,
    "false": lambda _known, _node: False,
    "unary_expression": _unary,
    "update_expression": _unknown_write,
    **dict.fromkeys(TRANSPARENT_KINDS, _transparent),
    **dict.fromkeys(FUNCTION_KINDS | CLASS_KINDS, _function),
    **dict.fromkeys(_PATTERN_TARGETS, _declaration),
}
