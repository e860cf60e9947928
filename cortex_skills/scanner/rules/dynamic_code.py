"""`dynamic-code`: text that becomes code while the skill runs.

Rules kept here:
- `eval`, `Function` and its relatives are reported where they are reached, under any name and by any route, also
  without a call; a comparison with them and their type are not reported;
- the constructor of an object, called as a function or given arguments by `new`, may be `Function`; `new` of
  `this.constructor` is how a class copies itself. A constructor that is read from a descriptor is reported;
- a timer with a text instead of a function is `eval`;
- the global object may be read by known names only: it is reported when it is handed on or indexed by an unknown name.
"""

from __future__ import annotations

from collections.abc import Iterator

from cortex_skills.scanner.parsed_source import CallSite, GlobalUse, ParsedSource
from cortex_skills.scanner.rule import Hit, Rule
from cortex_skills.scanner.tree import SyntaxNode
from cortex_skills.scanner.values import Global, ValueKind

RULE = Rule(
    id="dynamic-code",
    severity="critical",
    title="Text that becomes code while the skill runs",
    finds="`eval`, `Function` and their relatives where they are reached, under any name and by any route: aliases, "
    "computed members, texts concatenated from constants, escapes, optional chaining, the comma, `Reflect`, tagged "
    "templates, constructors of constructors, timers with a text, a global object indexed by an unknown name. A "
    "comparison with them, their type, and a method called `eval` that the source declares are not reported.",
    remedy="Write the code itself instead of building it from text; a skill cannot compile code while it runs.",
    trips='globalThis["ev" + "al"]("1 + 1");',
    passes='const parser = { eval: (text: string) => text }; parser.eval("1 + 1");',
)
RULES = (RULE,)

_EVALUATORS = frozenset({("eval",), ("execScript",), ("ShadowRealm",), ("WebAssembly",)})
_FUNCTION = ("Function",)
_CALLING = frozenset({"apply", "bind", "call", None})
_TIMERS = frozenset({("setImmediate",), ("setInterval",), ("setTimeout",)})
_TEXT_KINDS = frozenset({"string", "template_string"})
_MODULES = frozenset({"vm", "v8", "repl"})
_DESCRIPTOR = frozenset({("Object", "getOwnPropertyDescriptor"), ("Reflect", "getOwnPropertyDescriptor")})
_DESCRIPTORS = ("Object", "getOwnPropertyDescriptors")
_CONSTRUCTORS = frozenset({ValueKind.CONSTRUCTOR, ValueKind.OWN_CONSTRUCTOR})

_HINT_GLOBAL = "Name the global that you need, directly and in full."
_HINT_CONSTRUCTOR = "Name the class that you construct."


def find(source: ParsedSource) -> Iterator[Hit]:
    """Every place that makes code from text."""
    for use in source.uses:
        yield from _of_use(use)
    for call in source.calls:
        yield from _of_call(source, call)
    for module in source.modules:
        if module.name in _MODULES or module.specifier.startswith("data:"):
            yield Hit(RULE, module.node, "a module that compiles code is loaded")


def _of_use(use: GlobalUse) -> Iterator[Hit]:
    path, node = use.path, use.node
    if path in _EVALUATORS or path == _FUNCTION:
        if use.role != "inspected" and not (path == _FUNCTION and use.role == "named"):
            yield Hit(RULE, node, f"`{path[0]}` makes code from text")
    elif path[:1] == _FUNCTION and len(path) == 2 and path[1] in _CALLING:
        yield Hit(RULE, node, "`Function` makes code from text")
    elif path == (None,):
        yield Hit(RULE, node, "the global object is indexed by a name that is unknown before it runs", _HINT_GLOBAL)
    elif len(path) == 2 and path[0] is None:
        yield Hit(RULE, node, "a member is read of a variable that contains different globals", _HINT_GLOBAL)
    elif path == () and use.role == "handed on":
        yield Hit(RULE, node, "the global object is handed on, so the members that are read are unknown", _HINT_GLOBAL)


def _of_call(source: ParsedSource, call: CallSite) -> Iterator[Hit]:
    node = call.node
    if _is_constructor_call(source, call):
        message = "the constructor of an object is called; the constructor of a function is `Function`"
        yield Hit(RULE, node, message, _HINT_CONSTRUCTOR)
    elif _is_descriptor_of_constructor(source, call):
        yield Hit(RULE, node, "the constructor of an object is read from its descriptor", _HINT_CONSTRUCTOR)
    elif call.path in _TIMERS and call.arguments and _is_text(source, call.arguments[0]):
        yield Hit(RULE, node, f"`{call.path[0]}` gets a text, which it runs as code")


def _is_constructor_call(source: ParsedSource, call: CallSite) -> bool:
    if call.value in _CONSTRUCTORS:
        has_arguments = call.value is ValueKind.CONSTRUCTOR and bool(call.arguments)
        return call.node.kind == "call_expression" or has_arguments
    target, name = call.callee.child("object"), call.callee.child("property")
    is_calling = name is not None and source.tree.source(name) in ("apply", "bind", "call")
    return is_calling and source.value(target) in _CONSTRUCTORS


def _is_descriptor_of_constructor(source: ParsedSource, call: CallSite) -> bool:
    given = [source.value(argument) for argument in call.arguments]
    if call.path in _DESCRIPTOR:
        return given[1:2] == ["constructor"]
    is_function = bool(given) and isinstance(given[0], Global) and given[0].path[:1] == _FUNCTION
    return call.path == _DESCRIPTORS and is_function


def _is_text(source: ParsedSource, argument: SyntaxNode) -> bool:
    parts = [argument, *(argument.children if argument.kind == "binary_expression" else [])]
    values = map(source.value, parts)
    return argument.kind in _TEXT_KINDS or any(isinstance(v, str) or v is ValueKind.COMPUTED for v in values)
