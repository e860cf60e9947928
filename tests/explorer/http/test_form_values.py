"""What forms and links have and send back: no invisible character is in a response, and each value comes back."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import parse_qsl, quote, urlsplit

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, RdfFormat, parse

from cortex_graph import Provenance
from cortex_skills.doors.explorer.addresses import Addresses, address
from cortex_skills.doors.explorer.field_text import from_field, to_field
from cortex_skills.doors.explorer.rendering import Surroundings, render
from tests.explorer.hostile import check_page
from tests.explorer.http.browsing import PAGE, fields_of, signed_in, submitted
from tests.property_examples import examples
from tests.server.serving import Running, served

HIDDEN = "a\u202eb\u2066c\u200bd\ufeffe\U000e0041"
IN_IRI = "a\u202eb\u200bc"
TEXTS = (HIDDEN, "⟨U+202E⟩", f"⟨U+202E⟩{HIDDEN}⟨", "⟨U+27E8⟩U+202E⟩", "e" + "\u0301" * 9, "a\u00a0b\u00ad")
# Pages with a field for a parameter.
FIELDS = (
    ("mayros/list", "subject"),
    ("mayros/list", "predicate"),
    ("mayros/list", "object"),
    ("mayros/list", "agent"),
    ("mayros/list", "skill"),
    ("mayros/find", "q"),
    ("mayros/map", "name"),
    ("mayros/sparql", "query"),
    ("registry", "q"),
    ("audit", "agent"),
    ("audit", "action"),
)


class Fields(HTMLParser):
    """The values of the fields of a page by their names, as a browser reads them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.values: dict[str, set[str]] = {}
        self._area: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "input" and given.get("name"):
            self.values.setdefault(given["name"] or "", set()).add(given.get("value") or "")
        if tag == "textarea":
            self._area = given["name"]

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self.values.setdefault(self._area, set()).add(data.removeprefix("\n"))
            self._area = None


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with served(tmp_path_factory.mktemp("form-values")) as server:
        graph = server.plugin.graph
        for text in TEXTS:
            graph.create_triple({"subject": "hub", "predicate": "note", "object": text}, Provenance(agent=text))
        graph.create_triple({"subject": "hub", "predicate": "see", "object": {"node": f"https://example.org/{IN_IRI}"}})
        yield server


@pytest.fixture(scope="module")
def reader(hostile: Running) -> httpx.Client:
    client = hostile.client(hostile.token("reader", ("mayros",), ("read", "audit")))
    client.headers.update(PAGE)
    return client


@pytest.mark.parametrize("text", TEXTS)
def test_a_field_has_no_invisible_character_and_sends_the_value_back(reader: httpx.Client, text: str) -> None:
    for path, name in FIELDS:
        answer = reader.get(f"/explore/{path}?{name}={quote(to_field(text))}")
        assert answer.status_code in (200, 400), (path, name)
        if answer.status_code == 400 and "<textarea" not in answer.text:
            continue  # it is not a name
        check_page(answer.text)
        sent = {from_field(value) for value in Fields(answer.text).values[name]}
        assert text in sent, (path, name)


def test_what_a_field_sends_finds_what_its_value_names(hostile: Running, reader: httpx.Client) -> None:
    for text in TEXTS:
        form = reader.get("/explore/mayros/list", params={"agent": to_field(text), "format": "n-quads"})
        assert [quad.object for quad in parse(form.content, RdfFormat.N_QUADS)] == [Literal(text)]
        again = Fields(reader.get("/explore/mayros/list", params={"agent": to_field(text)}).text).values["agent"]
        assert again == {to_field(text)}


def test_a_link_of_a_page_leads_to_the_value_that_it_was_made_for(hostile: Running, reader: httpx.Client) -> None:
    for text in TEXTS:
        page = check_page(reader.get(address("/explore/mayros/list", agent=text)).text)
        (link,) = [each for each in page.links if each.endswith("format=n-quads")]
        (quad,) = parse(reader.get(link).content, RdfFormat.N_QUADS)
        assert quad.object == Literal(text)


def test_a_link_to_another_site_is_an_address_without_invisible_characters(reader: httpx.Client) -> None:
    page = check_page(reader.get("/explore/mayros/r?name=hub").text)
    (link,) = [each for each in page.links if each.startswith("https:")]
    assert link == "https://example.org/" + quote(IN_IRI)


def test_a_form_that_is_confirmed_keeps_what_was_typed(hostile: Running) -> None:
    token = hostile.token("writer", ("mayros",), ("read", "write"))
    browser = signed_in(hostile, token)
    (row, *_) = hostile.plugin.graph.list_triples({"predicate": "note"})["triples"]
    path = f"/explore/mayros/t/{row['id']}"
    fields = fields_of(browser.get(path, headers=PAGE).text)
    asked = submitted(browser, path, {**fields, "action": "remove", "reason": HIDDEN})
    check_page(asked.text)
    assert asked.status_code == 401
    assert Fields(asked.text).values["reason"] == {HIDDEN}


def test_a_character_that_a_template_lets_through_is_a_reference() -> None:
    around = Surroundings("", HIDDEN, HIDDEN)
    text = render("login.html", around, type("View", (), {"next": HIDDEN, "fault": "", "reason": ""})()).decode()
    check_page(text)
    assert HIDDEN in Fields(text).values["next"]


@given(st.text(st.characters(exclude_categories=("Cs",))))
@settings(max_examples=examples(300), deadline=None)
def test_each_text_comes_back_from_a_field_and_from_an_address(text: str) -> None:
    assert from_field(to_field(text)) == text
    assert to_field(to_field(text), typed=True) == to_field(text)
    for made in (address("/explore/x", name=text), Addresses("x").resource(text)):
        given = parse_qsl(urlsplit(made).query, keep_blank_values=True)
        assert [from_field(value) for _, value in given] == ([text] if text else [""] * len(given))
