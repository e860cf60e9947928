"""Terms of the graph in tables and lines for a person.

Rules kept here:
- a node is its name, or its IRI in angle brackets when the name has spaces or quotes; a literal is in quotes with its
  language or datatype, as in Turtle; a number and a boolean are written without: so no node looks like a string;
- names use the prefixes of all well-known vocabularies; each can be passed back as an argument.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cortex_graph import Names

_UNCLEAR = re.compile(r"[\s\"]")
_PLAIN = frozenset({"integer", "decimal", "double", "boolean"})


def with_prefixes(names: Names) -> Names:
    """The names of a namespace, with the prefixes of the well-known vocabularies."""
    from cortex_graph import WELL_KNOWN_VOCABULARIES, Names

    return Names(names.namespace, names.base, {**WELL_KNOWN_VOCABULARIES, **names.vocabularies})


def shown_term(term: Any, names: Names) -> str:
    """One RDF term.

    Args:
        term: a node or a literal of pyoxigraph.
        names: write the names of nodes; see `with_prefixes`.
    """
    from pyoxigraph import Literal, NamedNode

    from cortex_graph import WELL_KNOWN_VOCABULARIES

    if isinstance(term, NamedNode):
        name = names.name(term.value)
        return f"<{term.value}>" if _UNCLEAR.search(name) else name
    if not isinstance(term, Literal):
        return str(term)
    text = json.dumps(term.value, ensure_ascii=False)
    if term.language:
        return f"{text}@{term.language}"
    start, xsd, kind = term.datatype.value.rpartition(WELL_KNOWN_VOCABULARIES["xsd"])
    if xsd and not start and kind in _PLAIN:
        return term.value
    return text if xsd and kind == "string" else f"{text}^^{names.name(term.datatype.value)}"
