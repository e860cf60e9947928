"""`prototype-pollution`: changes of what all code shares.

Rules kept here:
- a write is a finding when what is written to is the prototype of a built-in or of an object that is not the author's,
  or a built-in object itself; reading is none, and neither is a write to a class of the author's own;
- a key `__proto__` in a computed name or in constant JSON is a finding: a copy of it reaches the prototype.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cortex_skills.scanner.folding import TRANSPARENT_KINDS
from cortex_skills.scanner.rule import Rule
from cortex_skills.scanner.rules.hit import Hit
from cortex_skills.scanner.values import Global, Kind, Value

if TYPE_CHECKING:
    from cortex_skills.scanner.program import Program
    from cortex_skills.scanner.tree import Node

RULE = Rule(
    id="prototype-pollution",
    severity="critical",
    title="A change of what all code shares",
    finds="A write to the prototype of a built-in or of a foreign object, or to a built-in object, by assignment, "
    "`delete`, taking apart, `Object.assign`, `Object.defineProperty`, `Reflect.set` and the like, under any name; "
    "`__proto__` as a computed key or in constant JSON. Reading a prototype is no finding, nor is a write to a class "
    "of the author's.",
    remedy="Write a function of your own instead of changing a built-in; copy known keys by name.",
    trips="Object.prototype.isAdmin = true;",
    passes="class Customer {}\nCustomer.prototype.isAdmin = true;",
)

_BUILT_IN = frozenset(
    {
        "Array",
        "ArrayBuffer",
        "BigInt",
        "Boolean",
        "DataView",
        "Date",
        "Function",
        "Iterator",
        "JSON",
        "Map",
        "Math",
        "Number",
        "Object",
        "Promise",
        "Proxy",
        "Reflect",
        "RegExp",
        "Set",
        "String",
        "WeakMap",
        "WeakSet",
    }
)
# What is added to these by well-meaning code: `Error.stackTraceLimit`, `Symbol.dispose ??= …`.
_BUILT_IN_BY_PROTOTYPE = _BUILT_IN | {"Error", "EvalError", "RangeError", "Symbol", "SyntaxError", "TypeError"}
_WRITERS = frozenset(
    {
        ("Object", "assign"),
        ("Object", "defineProperties"),
        ("Object", "defineProperty"),
        ("Object", "setPrototypeOf"),
        ("Reflect", "defineProperty"),
        ("Reflect", "deleteProperty"),
        ("Reflect", "set"),
        ("Reflect", "setPrototypeOf"),
    }
)
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
_HIGHEST_CLIMB = 64


def find(program: Program) -> Iterator[Hit]:
    """Every place that changes a prototype or a built-in."""
    facts = program.facts
    for node in program.tree.of_kind("member_expression", "subscript_expression"):
        if not node.in_type and _is_shared(facts.value(node.child("object"))) and _is_written(node):
            yield Hit(RULE, node, "a prototype or a built-in that all code shares is changed")
    for call in program.calls:
        yield from _of_call(program, call)
    for name in program.tree.of_kind("computed_property_name"):
        if name.children and facts.value(name.children[0]) == "__proto__":
            yield Hit(RULE, name, "a computed key is `__proto__`; copied, it reaches the prototype")


def _of_call(program: Program, call: Node) -> Iterator[Hit]:
    callee = program.callee(call)
    arguments = program.arguments(call)
    if callee is None or not arguments:
        return
    value = program.facts.value(callee)
    if isinstance(value, Global):
        path, first = value.path, arguments[0]
        if path[-1:] in (("call",), ("apply",)) and len(arguments) > 1:
            path, first = path[:-1], arguments[1]
            if first.kind == "array" and first.children:
                first = first.children[0]
        if path in _WRITERS and _is_shared(program.facts.value(first)):
            yield Hit(RULE, call, f"`{'.'.join(map(str, path))}` changes what all code shares")
        text = program.facts.value(first)
        if path == ("JSON", "parse") and isinstance(text, str) and _PROTO_KEY.search(text):
            yield Hit(RULE, call, "the JSON has a key `__proto__`; copied, it reaches the prototype")
    name = callee.child("property") or callee.child("index")
    if name is not None and _is_shared(program.facts.value(callee.child("object"))):
        key = program.facts.value(name) or program.tree.source(name)
        if key in _DEFINING:
            yield Hit(RULE, call, f"`{key}` changes what all code shares")


def _is_shared(value: Value) -> bool:
    if isinstance(value, Global):
        first, *rest = value.path or (None,)
        return (not rest and first in _BUILT_IN) or (rest == ["prototype"] and first in _BUILT_IN_BY_PROTOTYPE)
    return value is Kind.PROTOTYPE


def _is_written(node: Node) -> bool:
    for _ in range(_HIGHEST_CLIMB):
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
