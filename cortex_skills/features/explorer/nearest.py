"""The error for an unknown name, with the most similar names of the namespace, and a search for it.

Rules kept here:
- only names of the namespace that the caller may read are offered, of few triples: an unknown name must cost little.
  The link to the search finds the others.
"""

from __future__ import annotations

from difflib import get_close_matches

from cortex_graph.find import MAX_TEXT
from cortex_graph.store import Pattern
from cortex_skills.doors.explorer.display import shown_name
from cortex_skills.doors.explorer.page import Near, not_found
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.features.explorer.reading import Reading

_OFFERED = 6
_LOOKED_AT = 1_000
_COMPARED = 100  # characters of a name


def unknown_name(reading: Reading, name: str) -> HttpError:
    """The error `not_found` for a name without triples."""
    shown = [reading.display.iri(each) for each in _similar(reading, name)]
    near = [Near(each.plain, each.href) for each in shown if each.href is not None]
    near.append(Near("Search for it", reading.addresses.page("find", q=name[:MAX_TEXT])))
    return not_found(f"this namespace has no triple with the name {shown_name(name, 80).plain}", near)


def _similar(reading: Reading, name: str) -> list[str]:
    graph = reading.graph
    page = graph.store.match(Pattern(graph.names.graph), _LOOKED_AT)
    known = {graph.names.name(triple[0].value)[:_COMPARED]: triple[0].value for triple in page.triples}
    full = graph.names.name(graph.node_of(name).value)[:_COMPARED]
    return [known[each] for each in get_close_matches(full, sorted(known), _OFFERED)]
