"""`dynamic-code`: text that becomes code while the skill runs.

Rules kept here:
- `eval`, `Function` and its relatives are reported where they are reached, under any name and by any route, even if
  they are not called there; comparing with them or asking for their type is no finding;
- the constructor of anything, called like a function or given arguments by `new`, is a way to `Function`; `new` of
  `this.constructor` is how a class copies itself. Taken by its descriptor, it is meant to be called;
- a timer given text instead of a function is `eval`;
- the global object may be read by known names only: handed on or indexed by what is not known, it leads anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cortex_skills.scanner.rule import Rule
from cortex_skills.scanner.rules.hit import Hit
from cortex_skills.scanner.values import Global, Kind, Value

if TYPE_CHECKING:
    from cortex_skills.scanner.facts import Use
    from cortex_skills.scanner.program import Program
    from cortex_skills.scanner.tree import Node

RULE = Rule(
    id="dynamic-code",
    severity="critical",
    title="Text that becomes code while the skill runs",
    finds="`eval`, `Function` and their relatives where they are reached, under any name and by any route: aliases, "
    "computed members, texts put together from constants, escapes, optional chaining, the comma, `Reflect`, tagged "
    "templates, constructors of constructors, timers that are given text, a global object indexed by what is not "
    "known. Comparing with them or asking for their type is no finding, nor is a method of the author's called `eval`.",
    remedy="Write the code itself instead of building it from text; a skill cannot compile code while it runs.",
    trips='globalThis["ev" + "al"]("1 + 1");',
    passes='const parser = { eval: (text: string) => text }; parser.eval("1 + 1");',
)

_EVALUATORS = frozenset({("eval",), ("execScript",), ("ShadowRealm",), ("WebAssembly",)})
_FUNCTION = ("Function",)
_CALLING = frozenset({"apply", "bind", "call", None})
_TIMERS = frozenset({("setImmediate",), ("setInterval",), ("setTimeout",)})
_TEXT_KINDS = frozenset({"string", "template_string"})
_MODULES = frozenset({"vm", "v8", "repl"})
_DESCRIPTOR = frozenset({("Object", "getOwnPropertyDescriptor"), ("Reflect", "getOwnPropertyDescriptor")})
_DESCRIPTORS = ("Object", "getOwnPropertyDescriptors")
_CONSTRUCTORS = frozenset({Kind.CONSTRUCTOR, Kind.OWN_CONSTRUCTOR})

_HINT_GLOBAL = "Name the global that you need, directly and in full."
_HINT_CONSTRUCTOR = "Name the class that you construct."


def find(program: Program) -> Iterator[Hit]:
    """Every place that makes code from text."""
    for use in program.facts.uses:
        yield from _of_use(program, use)
    for call in program.calls:
        yield from _of_call(program, call)
    for module in program.modules:
        name = module.specifier.removeprefix("node:")
        if name in _MODULES or module.specifier.startswith("data:"):
            yield Hit(RULE, module.node, "a module that compiles code is loaded")


def _of_use(program: Program, use: Use) -> Iterator[Hit]:
    path, node = use.path, use.node
    if path in _EVALUATORS or path == _FUNCTION:
        role = program.role(node)
        if role != "inspected" and not (path == _FUNCTION and role == "named"):
            yield Hit(RULE, node, f"`{path[0]}` makes code from text")
    elif path[:1] == _FUNCTION and len(path) == 2 and path[1] in _CALLING:
        yield Hit(RULE, node, "`Function` makes code from text")
    elif path == (None,):
        yield Hit(RULE, node, "the global object is indexed by a name that is not known before it runs", _HINT_GLOBAL)
    elif len(path) == 2 and path[0] is None:
        yield Hit(RULE, node, "a variable holds different globals, and a member of it is read", _HINT_GLOBAL)
    elif path == () and program.role(node) == "handed on":
        yield Hit(RULE, node, "the global object is handed on, so what is taken from it is not known", _HINT_GLOBAL)


def _of_call(program: Program, call: Node) -> Iterator[Hit]:
    callee = program.callee(call)
    if callee is None:
        return
    value = program.facts.value(callee)
    if _is_constructor_call(program, call, callee, value):
        yield Hit(
            RULE, call, "the constructor of an object is called; for a function that is `Function`", _HINT_CONSTRUCTOR
        )
    elif isinstance(value, Global) and _is_descriptor_of_constructor(program, call, value.path):
        yield Hit(RULE, call, "the constructor of an object is taken by its descriptor", _HINT_CONSTRUCTOR)
    elif isinstance(value, Global) and value.path in _TIMERS:
        arguments = program.arguments(call)
        if arguments and _is_text(program, arguments[0]):
            yield Hit(RULE, call, f"`{value.path[0]}` is given text, which it runs as code")


def _is_constructor_call(program: Program, call: Node, callee: Node, value: Value) -> bool:
    if isinstance(value, Kind) and value in _CONSTRUCTORS:
        return call.kind == "call_expression" or (value is Kind.CONSTRUCTOR and bool(program.arguments(call)))
    target, name = callee.child("object"), callee.child("property")
    calling = name is not None and program.tree.source(name) in ("apply", "bind", "call")
    return calling and program.facts.value(target) in _CONSTRUCTORS


def _is_descriptor_of_constructor(program: Program, call: Node, path: tuple[str | None, ...]) -> bool:
    given = [program.facts.value(argument) for argument in program.arguments(call)]
    if path in _DESCRIPTOR:
        return given[1:2] == ["constructor"]
    return path == _DESCRIPTORS and bool(given) and isinstance(given[0], Global) and given[0].path[:1] == _FUNCTION


def _is_text(program: Program, argument: Node) -> bool:
    if isinstance(program.facts.value(argument), str) or argument.kind in _TEXT_KINDS:
        return True
    parts = argument.children if argument.kind == "binary_expression" else []
    return any(isinstance(program.facts.value(part), str) for part in parts)
