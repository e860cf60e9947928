"""The error for an unknown name, with the names of subjects that begin most like it.

Rules kept here:
- only names of the namespace that the caller may read are offered, and few triples are looked at.
"""

from __future__ import annotations

from difflib import get_close_matches

from cortex_graph.store import Pattern
from cortex_skills.server.explorer.display import shown_text
from cortex_skills.server.explorer.page import Near, not_found
from cortex_skills.server.explorer.reading import Reading
from cortex_skills.server.http_errors import HttpError

_OFFERED = 6
_LOOKED_AT = 1_000
_COMPARED = 100  # characters of a name


def unknown_name(reading: Reading, name: str) -> HttpError:
    """The error `not_found` for a name without triples."""
    graph = reading.graph
    page = graph.store.match(Pattern(graph.names.graph), _LOOKED_AT)
    known = {graph.names.name(triple[0].value)[:_COMPARED] for triple in page.triples}
    full = graph.names.name(graph.names.node(name).value)[:_COMPARED]
    near = []
    for each in get_close_matches(full, sorted(known), _OFFERED):
        shown = reading.display.name(each)
        if shown.href is not None:
            near.append(Near(shown.plain, shown.href))
    return not_found(f"this namespace has no triple with the name {shown_text(name, 80).plain}", near)
