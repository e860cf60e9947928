"""`/explore/{namespace}/find?q=`: what a text may mean: names, ids, and literals, each with where it was found.

Rules kept here:
- the search is that of the API; the page states how many there are, and why something may be missing;
- at most `_PAGES` pages are listed: further ones are found by more words, or within a class;
- memories with the words are listed for a token with the permission `memories` alone;
- what was searched for is marked in names, labels and texts, as the index matches it;
- a text that finds one resource, by its name as it was typed, leads to the page of that, which has a link to memories
  with its name;
- the form `suggestions` has the best hits as plain texts without invisible characters, for the field of every page.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cortex_graph.find import MAX_TEXT, FindHit
from cortex_skills.doors.explorer.addresses import ROOT, address, namespace_root
from cortex_skills.doors.explorer.display import ShownName, shown_text
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall, Redirected
from cortex_skills.doors.explorer.page_queries import FindPageQuery
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.features.explorer.hit_marks import HitMarks
from cortex_skills.features.explorer.reading import AsOfField, Reading, TakeAway, TextLink
from cortex_skills.features.explorer.triple_rows import TripleRow, triple_rows
from cortex_skills.features.graph.rest.overview import get_found
from cortex_skills.features.graph.text_search import TextFound, search
from cortex_skills.features.memory.memory_reading import search_memories

_LIMIT = 30
_PAGES = 34
_CLASSES = 8
_SUGGESTIONS = 8
_MEMORIES = 5
_OF_NOTE = 80  # characters of the text that matched
_WORDS = {
    "name": "name",
    "id": "id of a triple",
    "predicate": "predicate that begins so",
    "asserter": "agent or skill that begins so",
    "begins": "words of its name",
    "text": "words of a text",
}


@dataclass(frozen=True, slots=True)
class FoundRow:
    """A hit: where it was found, the resource, and the triple of an id or a text."""

    where: str
    name: ShownName
    row: TripleRow | None


@dataclass(frozen=True, slots=True)
class FindView:
    """What was found; `reason` is why that may not be all."""

    text: str
    rows: tuple[FoundRow, ...]
    reason: str
    asked: bool
    words: str
    classes: tuple[TextLink, ...]
    kept: tuple[tuple[str, str], ...]
    first: str | None
    next: str | None
    memories: tuple[TextLink, ...]
    as_of: AsOfField
    away: TakeAway


def view(call: PageCall) -> FindView:
    """What a text may mean.

    Raises:
        Redirected: it finds one resource, by its name as it was typed.
    """
    reading = Reading.of(call, "find")
    text = call.query.get("q", "").strip()[:MAX_TEXT]
    number, of_class = call.query.get("page", 1), call.query.get("type")
    found = TextFound((), 0, (), "")
    if text:
        offset = _LIMIT * (number - 1)
        found = search(reading.graph, text, limit=_LIMIT, offset=offset, class_=of_class, classes=_CLASSES)
    hits = found.hits
    if len(hits) == 1 and number == 1 and not (found.reason or of_class) and _is_named(reading, hits[0], text):
        raise Redirected(reading.addresses.resource(reading.graph.names.name(hits[0].node.value)))
    triples = [(hit.triple_id, hit.triple) for hit in hits if hit.triple is not None and hit.triple_id is not None]
    rows = dict(zip([triple_id for triple_id, _ in triples], triple_rows(reading, triples), strict=True))
    marks = HitMarks(text)
    has_more = found.by_words > _LIMIT * number
    kept = [("type", of_class), ("asOf", call.query.get("asOf"))]
    return FindView(
        to_field(text),
        tuple(_found(reading, hit, rows, marks) for hit in hits),
        found.reason,
        bool(text),
        _words(found, number),
        _classes(reading, found, of_class),
        tuple((name, to_field(value)) for name, value in kept if value),
        reading.changed(page=None) if number > 1 else None,
        reading.changed(page=number + 1) if has_more and number < _PAGES else None,
        _memories(call, text) if number == 1 else (),
        reading.as_of_field(),
        reading.take_away({"json": FORMS["json"]}),
    )


def _is_named(reading: Reading, hit: FindHit, text: str) -> bool:
    """Whether a hit is a resource whose name or label has the words as they were typed: the index corrects them."""
    if hit.where not in ("name", "begins"):
        return False
    name = reading.display.iri(hit.node.value)
    called = f"{name.name} {name.called}".casefold()
    return hit.where == "name" or all(word in called for word in text.casefold().split())


def _words(found: TextFound, number: int) -> str:
    """How many there are, and which of them the page has."""
    total, first, last = found.by_words, _LIMIT * (number - 1) + 1, min(found.by_words, _LIMIT * number)
    if total <= _LIMIT:
        return f"{total:,} resource{'' if total == 1 else 's'} with these words" if total else ""
    more = "" if total <= _LIMIT * _PAGES else f". The first {_LIMIT * _PAGES:,} are listed: more words find the others"
    return f"{total:,} resources with these words, {first:,} to {last:,} here{more}"


def _memories(call: PageCall, text: str) -> tuple[TextLink, ...]:
    """Memories with the words, for a caller who may read those of all agents; the last link leads to all of them."""
    if not text or "memories" not in call.principal.permissions:
        return ()
    found = call.api().operate(search_memories, text=text, limit=_MEMORIES)["memories"]
    root = f"{namespace_root(call.graph.namespace)}/memories"
    links = [
        TextLink(shown_text(each["text"], _OF_NOTE).plain, address(f"{root}/{each['id']}", agent=each["agent"]))
        for each in found
    ]
    return (*links, TextLink("All memories with these words", address(root, q=text))) if links else ()


def _classes(reading: Reading, found: TextFound, of_class: str | None) -> tuple[TextLink, ...]:
    """Links to the same search within a class."""
    names = reading.graph.names
    links = [TextLink("All", reading.changed(type=None, page=None), of_class is None)] if of_class else []
    for node, count in found.classes:
        name = names.name(node.value)
        label = reading.display.iri(node.value).called
        links.append(TextLink(label, reading.changed(type=name, page=None), name == of_class, count))
    return tuple(links)


def _found(reading: Reading, hit: FindHit, rows: dict[str, TripleRow], marks: HitMarks) -> FoundRow:
    row = None if hit.triple_id is None else rows.get(hit.triple_id)
    row = None if row is None else replace(row, object=marks.term(row.object))
    return FoundRow(_WORDS[hit.where], marks.name(reading.display.iri(hit.node.value)), row)


def _document(call: PageCall) -> bytes:
    given = {name: call.query[name] for name in ("q", "asOf") if call.query.get(name)}
    if "q" not in given:  # the page finds nothing either
        return to_json({"hits": [], "complete": True})
    return to_json(get_found(call.api(**given)).document)


def _suggestions(call: PageCall) -> bytes:
    """The best hits: the text of each, what else to show of it, and its page."""
    reading = Reading.of(call, "find")
    text = call.query.get("q", "").strip()[:MAX_TEXT]
    if not text:
        return to_json({"suggestions": [], "more": 0})
    found = search(reading.graph, text, limit=_SUGGESTIONS)
    shown = [(hit, reading.display.iri(hit.node.value)) for hit in found.hits[:_SUGGESTIONS]]
    suggestions = []
    for hit, name in shown:
        href = name.href if hit.triple_id is None or hit.where == "text" else reading.addresses.assertion(hit.triple_id)
        if href is not None:
            text_of = None if hit.triple is None else getattr(hit.triple[2], "value", None)
            notes = [name.plain] if name.called != name.plain else []
            notes += [shown_text(text_of, _OF_NOTE).plain] if text_of and text_of != name.called else []
            suggestions.append({"text": name.called, "notes": notes, "href": href})
    return to_json({"suggestions": suggestions, "more": max(0, found.by_words - len(suggestions))})


_JSON = "application/json"
FORMS = {"json": Form(_JSON, _document), "suggestions": Form(_JSON, _suggestions)}
PAGE = ExplorerPage(
    f"{ROOT}/{{namespace}}/find",
    "find",
    "find.html",
    view,
    query=FindPageQuery,
    example={"q": "{name}"},
    forms=FORMS,
    pool="slow",
    place=60,
)
