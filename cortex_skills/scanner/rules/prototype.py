"""`prototype-pollution`: changes of objects that all code shares.

Rules kept here:
- a write to the prototype of a built-in or of an unknown object, or to a built-in object, is reported; a read, and a
  write to a class that the source declares, are not;
- a key `__proto__` in a computed name or in constant JSON is reported: a copy of it changes the prototype.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cortex_skills.scanner.evaluation import TRANSPARENT_KINDS
from cortex_skills.scanner.parsed_source import HIGHEST_CLIMB, CallSite, ParsedSource
from cortex_skills.scanner.rule import Hit, Rule
from cortex_skills.scanner.tree import SyntaxNode
from cortex_skills.scanner.values import Global, Value, ValueKind

RULE = Rule(
    id="prototype-pollution",
    severity="critical",
    title="A change of an object that all code shares",
    finds="A write to the prototype of a built-in or of an unknown object, or to a built-in object, by assignment, "
    "`delete`, destructuring, `Object.assign`, `Object.defineProperty`, `Reflect.set` and similar functions, under any "
    "name; `__proto__` as a computed key or in constant JSON. A read of a prototype, and a write to a class that the "
    "source declares, are not reported.",
    remedy="Write a separate function instead of changing a built-in; copy known keys by name.",
    trips="Object.prototype.isAdmin = true;",
    passes="class Customer {}\nCustomer.prototype.isAdmin = true;",
)
RULES = (RULE,)

_BUILT_IN = frozenset({
    "Array", "ArrayBuffer", "BigInt", "Boolean", "DataView", "Date", "Function", "Iterator", "JSON", "Map", "Math",
    "Number", "Object", "Promise", "Proxy", "Reflect", "RegExp", "Set", "String", "WeakMap", "WeakSet",
})  # fmt: skip
# Legitimate code writes members of these: `Error.stackTraceLimit`, `Symbol.dispose ??= …`.
_BUILT_IN_BY_PROTOTYPE = _BUILT_IN | {"Error", "EvalError", "RangeError", "Symbol", "SyntaxError", "TypeError"}
_WRITERS = frozenset({
    ("Object", "assign"), ("Object", "defineProperties"), ("Object", "defineProperty"), ("Object", "setPrototypeOf"),
    ("Reflect", "defineProperty"), ("Reflect", "deleteProperty"), ("Reflect", "set"), ("Reflect", "setPrototypeOf"),
})  # fmt: skip
_DEFINING = frozenset({"__defineGetter__", "__defineSetter__"})
_WRITTEN_FIELDS = {
    "assignment_expression": "left",
    "assignment_pattern": "left",
    "augmented_assignment_expression": "left",
    "for_in_statement": "left",
    "pair_pattern": "value",
    "update_expression": "argument",
}
_PROTO_KEY = re.compile(r'"__proto__"\s*:')


def find(source: ParsedSource) -> Iterator[Hit]:
    """Every place that changes a prototype or a built-in."""
    for node in source.tree.of_kind("member_expression", "subscript_expression"):
        if not node.in_type and _is_shared(source.value(node.child("object"))) and _is_written(node):
            yield Hit(RULE, node, "a prototype or a built-in is changed, which all code shares")
    for call in source.calls:
        yield from _of_call(source, call)
    for name in source.tree.of_kind("computed_property_name"):
        if name.children and source.value(name.children[0]) == "__proto__":
            yield Hit(RULE, name, "a computed key is `__proto__`; a copy of it changes the prototype")


def _of_call(source: ParsedSource, call: CallSite) -> Iterator[Hit]:
    if not call.arguments:
        return
    first = source.value(call.arguments[0])
    if call.path in _WRITERS and _is_shared(first):
        yield Hit(RULE, call.node, f"`{'.'.join(map(str, call.path))}` changes an object that all code shares")
    if call.path == ("JSON", "parse") and isinstance(first, str) and _PROTO_KEY.search(first):
        yield Hit(RULE, call.node, "the JSON has a key `__proto__`; a copy of it changes the prototype")
    name = call.callee.child("property") or call.callee.child("index")
    if name is not None and _is_shared(source.value(call.callee.child("object"))):
        key = source.value(name) or source.tree.source(name)
        if key in _DEFINING:
            yield Hit(RULE, call.node, f"`{key}` changes an object that all code shares")


def _is_shared(value: Value) -> bool:
    if isinstance(value, Global):
        first, *rest = value.path or (None,)
        return (not rest and first in _BUILT_IN) or (rest == ["prototype"] and first in _BUILT_IN_BY_PROTOTYPE)
    return value is ValueKind.PROTOTYPE


def _is_written(node: SyntaxNode) -> bool:
    for _ in range(HIGHEST_CLIMB):
        parent = node.parent
        if parent is None:
            return False
        if parent.kind not in TRANSPARENT_KINDS:
            if parent.kind in ("array_pattern", "rest_pattern"):
                return True
            operator = parent.child("operator") if parent.kind == "unary_expression" else None
            deleted = operator is not None and operator.kind == "delete"
            return deleted or _WRITTEN_FIELDS.get(parent.kind) == (node.field or "")
        node = parent
    return False
