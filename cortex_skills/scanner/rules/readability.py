"""`syntax-error`, `ambiguous-syntax`: code that the scanner may not read as the engine does.

Rules kept here:
- code that the grammar does not accept is a critical finding, because it was not scanned;
- so is code that one parser reads as a comment or a type and another runs: HTML-like comments, a type keyword at the
  end of its line (JavaScript ends the statement there), a call inside a type, types in a JavaScript file.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from cortex_skills.scanner.parsed_source import ParsedSource
from cortex_skills.scanner.rule import Hit, Rule
from cortex_skills.scanner.tree import LINE_END, SyntaxNode

SYNTAX = Rule(
    id="syntax-error",
    severity="critical",
    title="Code that the scanner cannot read",
    finds="Code that the TypeScript grammar does not accept, and that was therefore not scanned.",
    remedy="Correct the syntax; if it is correct, use an older syntax that the scanner supports.",
    trips="const = 1;",
    passes="const one = 1;",
)
AMBIGUOUS = Rule(
    id="ambiguous-syntax",
    severity="critical",
    title="Code that one parser reads as a comment or a type, and another runs",
    finds="HTML-like comments, a type keyword at the end of its line (JavaScript ends the statement there), a call "
    "inside a type, types in a JavaScript file.",
    remedy="Rewrite it so that every parser reads it in the same way.",
    trips="type /*\n*/ Run = run\n(1)",
    passes="type Run = typeof run;",
)
RULES = (SYNTAX, AMBIGUOUS)

_SYNTAX_ERRORS_SHOWN = 5
_DECLARATIONS = ("ambient_declaration", "interface_declaration", "type_alias_declaration")


def find(source: ParsedSource) -> Iterator[Hit]:
    """Every place where the tree may differ from what the engine runs."""
    tree = source.tree
    for node in islice(tree.of_kind("ERROR"), _SYNTAX_ERRORS_SHOWN):
        yield Hit(SYNTAX, node, "the scanner cannot read this code")
    for node in tree.of_kind("html_comment"):
        yield _ambiguous(node, "an HTML-like comment, which modules run as code", "Write the comment with //.")
    for node in tree.of_kind(*_DECLARATIONS):
        if len(node.children) > 1 and _line_ends_between(source, node.children[0], node.children[1]):
            yield _ambiguous(node, "the keyword and the declared name are on two lines", "Put them on one line.")
    for node in tree.of_kind("as_expression", "satisfies_expression"):
        if len(node.children) > 1 and _line_ends_between(source, node.children[0], node.children[1]):
            yield _ambiguous(node, f"`{node.children[1].kind}` begins a line", "Put it on the line of its expression.")
    for node in tree.of_kind("call_expression", "new_expression"):
        if node.in_type and not _is_import_type(node):
            yield _ambiguous(node, "a call where only a type is allowed", "Put the comparison into parentheses.")
    if tree.is_javascript:
        for node in tree.nodes:
            if node.in_type and node.parent is not None and not node.parent.in_type:
                yield _ambiguous(node, "a type in a JavaScript file", "Rename the file to .ts, or remove the types.")


def _line_ends_between(source: ParsedSource, first: SyntaxNode, second: SyntaxNode) -> bool:
    return LINE_END.search(source.tree.between(first.end, second.start)) is not None


def _is_import_type(call: SyntaxNode) -> bool:
    function = call.child("function")
    return function is not None and function.kind == "import"


def _ambiguous(node: SyntaxNode, message: str, hint: str) -> Hit:
    return Hit(AMBIGUOUS, node, message, hint)
