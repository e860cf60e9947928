"""`obfuscation`: code written so that nobody reads it.

Rules kept here:
- letters written as escapes, names of a machine's making, text packed into one string or a row of them, text decoded
  character by character, values spelt with brackets, and a loop over a switch that a counter drives are findings;
- a string of words, an image, a digest or an escape that is needed is none;
- what is counted is counted once: linear in the text.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cortex_skills.scanner.rule import Rule
from cortex_skills.scanner.rules.hit import Hit
from cortex_skills.scanner.values import Global

if TYPE_CHECKING:
    from cortex_skills.scanner.program import Program
    from cortex_skills.scanner.tree import Node, Tree

RULE = Rule(
    id="obfuscation",
    severity="critical",
    title="Code written so that nobody reads it",
    finds="Letters written as escapes, in strings or names; many names such as `_0x3fa2`; text of high entropy packed "
    "into a string or a row of strings; text decoded character by character with a key, or given as character codes; "
    "values spelt with `!+[]`; control flow flattened into a loop over a switch. Pictures, digests, tables of words "
    "and escapes that are needed are left alone.",
    remedy="Publish the code as it was written, and put data into the graph or into readable values.",
    trips=r'const name = "\x6c\x6f\x67\x67\x65\x72";',
    passes=r'const red = "\x1b[31m";',
)

_LETTER_ESCAPE = re.compile(r"\\(?:x|u00|u\{0*)(?:3[0-9]|4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a])\}?", re.IGNORECASE)
_ESCAPES = 4
_MACHINE_NAME = re.compile(r"_0x[0-9a-f]{3,}$", re.IGNORECASE)
_MACHINE_NAMES = 5
_PACKED = re.compile(r"[A-Za-z0-9+/=_-]+")
_HEXADECIMAL = re.compile(r"(?:0x)?[0-9a-fA-F]+")
_PICTURE = re.compile(r"data:(?:image|font|audio|video)/")
_PACKED_LENGTH, _HEXADECIMAL_LENGTH = 400, 1024
_PACKED_ENTROPY, _ANY_ENTROPY = 4.8, 5.4  # bits a character; English has 4.2, base64 of compressed data 6
_PIECE = 16
_CODES = 8
_BRACKETS = 8
_CASES = 4
_FROM_CODES = frozenset({("String", "fromCharCode"), ("String", "fromCodePoint")})
_LOOPS = ("do_statement", "for_statement", "while_statement")
_LITERALS = frozenset({"number", "string"})
_NAMES = ("identifier", "property_identifier", "shorthand_property_identifier")


def find(program: Program) -> Iterator[Hit]:
    """Every sign of code that was made unreadable."""
    tree = program.tree
    yield from _escapes(tree)
    yield from _names(tree)
    yield from _packed(program)
    yield from _character_codes(program)
    yield from _brackets(tree)
    for loop in tree.of_kind(*_LOOPS):
        if _is_flattened(tree, loop):
            yield Hit(RULE, loop, "the control flow is flattened into a loop over a switch")


def _escapes(tree: Tree) -> Iterator[Hit]:
    count: Counter[int] = Counter()
    for escape in tree.of_kind("escape_sequence"):
        if escape.parent is not None and _LETTER_ESCAPE.fullmatch(tree.source(escape)):
            count[escape.parent.index] += 1
            if count[escape.parent.index] == _ESCAPES and escape.parent.kind != "regex_pattern":
                yield Hit(RULE, escape.parent, "letters are written as escapes")
    for name in tree.of_kind(*_NAMES):
        if _LETTER_ESCAPE.search(tree.source(name)):
            yield Hit(RULE, name, "letters of a name are written as escapes")


def _names(tree: Tree) -> Iterator[Hit]:
    seen: set[str] = set()
    for name in tree.of_kind(*_NAMES):
        text = tree.source(name)
        if _MACHINE_NAME.match(text) and text not in seen:
            seen.add(text)
            if len(seen) == _MACHINE_NAMES:
                yield Hit(RULE, name, "the names are those of an obfuscator")
                return


def _packed(program: Program) -> Iterator[Hit]:
    tree = program.tree
    for node in tree.of_kind("string", "template_string"):
        if node.end - node.start >= _PACKED_LENGTH and not node.in_type and _is_packed(program.text_of(node)):
            yield Hit(RULE, node, "a string holds packed data")
    for node in tree.of_kind("array", "binary_expression"):
        parent = node.parent
        if parent is not None and parent.kind == node.kind:
            continue
        pieces = [tree.source(piece)[1:-1] for piece in _pieces(node)]
        if len(pieces) > 1 and min(map(len, pieces[:-1])) >= _PIECE and _is_packed("".join(pieces)):
            yield Hit(RULE, node, "a row of strings holds packed data")


def _pieces(node: Node) -> Iterator[Node]:
    """The strings of a list that holds nothing else, or those of a sum, in order."""
    if node.kind == "array":
        if all(part.kind == "string" for part in node.children):
            yield from node.children
        return
    pending = [node]
    while pending:
        part = pending.pop()
        if part.kind == "string":
            yield part
        elif part.kind == node.kind:
            pending += reversed(part.children)


def _is_packed(text: str) -> bool:
    if len(text) < _PACKED_LENGTH or _PICTURE.match(text) or any(char.isspace() for char in text):
        return False
    if _HEXADECIMAL.fullmatch(text):
        return len(text) >= _HEXADECIMAL_LENGTH
    return _entropy(text) >= (_PACKED_ENTROPY if _PACKED.fullmatch(text) else _ANY_ENTROPY)


def _entropy(text: str) -> float:
    """Shannon's entropy, in bits a character."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())


def _character_codes(program: Program) -> Iterator[Hit]:
    for call in program.calls:
        callee = program.callee(call)
        value = program.facts.value(callee) if callee is not None else None
        path = value.path if isinstance(value, Global) else ()
        if path[-1:] in (("call",), ("apply",)):
            path = path[:-1]
        if path not in _FROM_CODES:
            continue
        text = program.facts.value(call)
        if isinstance(text, str) and len(text) >= _CODES and text.isprintable():
            yield Hit(RULE, call, "text is given as character codes")
        elif any(_is_keyed(argument) for argument in program.arguments(call)):
            yield Hit(RULE, call, "text is decoded character by character with a key")


def _is_keyed(argument: Node) -> bool:
    while argument.kind == "parenthesized_expression" and argument.children:
        argument = argument.children[0]
    operator = argument.child("operator") if argument.kind == "binary_expression" else None
    return operator is not None and operator.kind == "^"


def _brackets(tree: Tree) -> Iterator[Hit]:
    count = 0
    for node in tree.of_kind("unary_expression"):
        operand = node.child("argument")
        if operand is not None and operand.kind == "array" and not operand.children:
            count += 1
            if count == _BRACKETS:
                yield Hit(RULE, node, "values are spelt with brackets")
                return


def _is_flattened(tree: Tree, loop: Node) -> bool:
    """A loop around one switch, over a row of steps that a counter walks or over a number that each case sets."""
    body = loop.child("body")
    statements = body.children if body is not None and body.kind == "statement_block" else [body] if body else []
    if not statements or statements[0].kind != "switch_statement" or len(statements) > 2:
        return False
    switch = statements[0]
    driver, cases = switch.child("value"), switch.child("body")
    if driver is None or cases is None or not driver.children:
        return False
    over = driver.children[0]
    index = over.child("index") if over.kind == "subscript_expression" else None
    if index is not None and index.kind == "update_expression":
        return True
    steps = [case for case in cases.children if case.kind == "switch_case"]
    if over.kind != "identifier" or len(steps) < _CASES:
        return False
    name = tree.source(over)
    return sum(_sets(tree, case, name) for case in steps) * 5 >= len(steps) * 4


def _sets(tree: Tree, case: Node, name: str) -> bool:
    """Whether a case is a literal, and sets the driver to another."""
    if not case.children or case.children[0].kind not in _LITERALS:
        return False
    for statement in case.children[1:]:
        step = statement.children[0] if statement.kind == "expression_statement" and statement.children else statement
        left, right = step.child("left"), step.child("right")
        is_write = step.kind == "assignment_expression"
        if is_write and left and right and tree.source(left) == name and right.kind in _LITERALS:
            return True
    return False
