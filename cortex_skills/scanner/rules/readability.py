"""`syntax-error`, `ambiguous-syntax`: code that the scanner cannot read as the engine will.

Rules kept here:
- code that the grammar cannot place is a critical finding: what was not read was not vetted;
- so is code that one reader takes for a comment or a type, and another runs: HTML-like comments, a type keyword at the
  end of its line (there JavaScript ends the statement), a call inside a type, types in a JavaScript file.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from cortex_skills.scanner.rule import Rule
from cortex_skills.scanner.rules.hit import Hit
from cortex_skills.scanner.tree import LINE_END

if TYPE_CHECKING:
    from cortex_skills.scanner.program import Program
    from cortex_skills.scanner.tree import Node

SYNTAX = Rule(
    id="syntax-error",
    severity="critical",
    title="Code that the scanner cannot read",
    finds="Code that the grammar of TypeScript cannot place: what was not read was not vetted.",
    remedy="Correct the syntax; if it is correct, write it in an older form that the scanner knows.",
    trips="const = 1;",
    passes="const one = 1;",
)
AMBIGUOUS = Rule(
    id="ambiguous-syntax",
    severity="critical",
    title="Code that one reader takes for a comment or a type, and another runs",
    finds="HTML-like comments, a keyword of types at the end of its line (there JavaScript ends the statement), a call "
    "inside a type, types in a file of JavaScript.",
    remedy="Write it so that every reader takes it for the same.",
    trips="type /*\n*/ Run = run\n(1)",
    passes="type Run = typeof run;",
)
RULES = (SYNTAX, AMBIGUOUS)

_SYNTAX_ERRORS_SHOWN = 5
_DECLARATIONS = ("ambient_declaration", "interface_declaration", "type_alias_declaration")


def find(program: Program) -> Iterator[Hit]:
    """Every place where the tree may not be what the engine runs."""
    tree = program.tree
    for node in islice(tree.of_kind("ERROR"), _SYNTAX_ERRORS_SHOWN):
        yield Hit(SYNTAX, node, "the scanner cannot read this code")
    for node in tree.of_kind("html_comment"):
        yield _ambiguous(node, "an HTML-like comment, which modules run as code", "Write the comment with //.")
    for node in tree.of_kind(*_DECLARATIONS):
        if len(node.children) > 1 and _line_ends_between(program, node.children[0], node.children[1]):
            yield _ambiguous(node, "the keyword and what it declares are on two lines", "Put them on one line.")
    for node in tree.of_kind("as_expression", "satisfies_expression"):
        if len(node.children) > 1 and _line_ends_between(program, node.children[0], node.children[1]):
            yield _ambiguous(node, f"`{node.children[1].kind}` begins a line", "Put it behind its expression.")
    for node in tree.of_kind("call_expression", "new_expression"):
        if node.in_type and not _is_import_type(node):
            yield _ambiguous(node, "a call where only types can stand", "Put the comparison into parentheses.")
    if tree.is_javascript:
        for node in tree.nodes:
            if node.in_type and node.parent is not None and not node.parent.in_type:
                yield _ambiguous(node, "a type in a JavaScript file", "Name the file .ts, or write no types in it.")


def _line_ends_between(program: Program, first: Node, second: Node) -> bool:
    return LINE_END.search(program.tree.between(first.end, second.start)) is not None


def _is_import_type(call: Node) -> bool:
    function = call.child("function")
    return function is not None and function.kind == "import"


def _ambiguous(node: Node, message: str, hint: str) -> Hit:
    return Hit(AMBIGUOUS, node, message, hint)
