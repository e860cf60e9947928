"""Queries with parameters: `$part` in a text stands for a value that is given later.

    filled("SELECT ?n { $part :stock ?n }", {"part": NamedNode("urn:cortex:shop:nails")})

Rules kept here:
- a parameter is a variable that is written with `$`; the others are written with `?`;
- a value replaces the variable as one term, token by token: no value can end a string, an IRI or a pattern;
- a parameter has a value wherever it is, so it is not selected, bound or declared: such a text is no query.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyoxigraph import Literal, NamedNode

from cortex_graph.exceptions import invalid
from cortex_graph.sparql.parse import DEFAULT_LIMITS, read_text, without_mark


def parameters_of(text: str) -> tuple[str, ...]:
    """Return the names of the parameters of a query, in their order.

    Raises:
        InvalidArguments: the text is malformed.
        PermissionDenied: it queries another server.
    """
    tokens = read_text(text, DEFAULT_LIMITS.query_bytes, DEFAULT_LIMITS.depth)
    return tuple(dict.fromkeys(each.text[1:] for each in tokens if each.kind == "var" and each.text[0] == "$"))


def filled(text: str, values: Mapping[str, NamedNode | Literal]) -> str:
    """Return a query with the values of its parameters.

    Raises:
        InvalidArguments: a parameter has no value, or the text is malformed.
        PermissionDenied: it queries another server.
    """
    text = without_mark(text)
    parts, end = [], 0
    for token in read_text(text, DEFAULT_LIMITS.query_bytes, DEFAULT_LIMITS.depth):
        if token.kind != "var" or token.text[0] != "$":
            continue
        name = token.text[1:]
        if name not in values:
            raise invalid("values", f"has no value for the parameter `{name}`", hint=f"give {name}=VALUE")
        parts += [text[end : token.start], f" {values[name]} "]
        end = token.start + len(token.text)
    return "".join([*parts, text[end:]])
