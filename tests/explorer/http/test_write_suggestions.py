"""The form that writes knows what shapes and the graph have, and shows what shapes find beside its fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from cortex_graph import import_rdf
from cortex_skills import Plugin
from cortex_skills.features.graph.looking.schema_overview import overview
from tests.configs import config
from tests.explorer.hostile import check_page
from tests.explorer.http.browsing import CLICKED, fields_of, signed_in, submitted
from tests.explorer.http.test_write_page import difference
from tests.server.serving import Running, served

WRITE = "/explore/mayros/write"
XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIXES = f"""@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix xsd: <{XSD}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix : <urn:cortex:mayros:> .
"""
SHAPES = f"""{PREFIXES}
:PartShape a sh:NodeShape ; sh:targetClass :Part ; sh:property
  [ sh:path :inStock ; sh:name "stock" ; sh:datatype xsd:integer ; sh:minCount 1 ; sh:maxCount 1 ] ,
  [ sh:path :state ; sh:in ( "new" "worn" ) ] , [ sh:path :due ; sh:datatype xsd:date ] ,
  [ sh:path :title ; sh:languageIn ( "sv" ) ; sh:severity sh:Warning ; sh:message "a title in Swedish" ] ."""
DATA = f"""{PREFIXES}
:a a :Part ; :inStock "many" . :b a :Part ; :inStock 3 ; :madeBy :acme ; :note "x" . :acme rdfs:label "Acme Works" .
:c a :Part ; :inStock 4 ; :note "y" ."""


@contextmanager
def with_shapes(folder: Path) -> Iterator[Running]:
    """A server with these statements, and these shapes for its namespace."""
    (folder / "shapes.ttl").write_text(SHAPES)
    (folder / "data.ttl").write_text(DATA)
    shapes = {"mayros": str(folder / "shapes.ttl")}
    settings = config(cortex={"tokenFile": str(folder / "tokens.json")}, proofs={"shapes": shapes})
    with served(folder, plugin=Plugin.open(settings)) as server:
        import_rdf(server.plugin.graph, folder / "data.ttl")
        server.plugin.operate(overview)
        yield server


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with with_shapes(tmp_path_factory.mktemp("suggesting")) as server:
        yield server


@pytest.fixture(scope="module")
def token(running: Running) -> str:
    return running.token("ada", permissions=("read", "write"))


@pytest.fixture(scope="module")
def person(running: Running, token: str) -> httpx.Client:
    return signed_in(running, token)


def form_of(page: str) -> dict[str, str]:
    """What a browser sends of the form, without its buttons and boxes."""
    form = page.partition('<form class="card"')[2]
    typed = dict(re.findall(r'<input id="f-\w+" name="(\w+)" value="([^"]*)"', form))
    kind = re.search(r'<option value="([^"]*)" selected>', form)
    chosen = {"kind": kind[1]} if kind else {}
    return {**fields_of(form), **{name: unescape(value) for name, value in {**typed, **chosen}.items()}}


def opened(person: httpx.Client, **query: str) -> str:
    page = person.get(WRITE, params=query, headers=CLICKED)
    assert page.status_code == 200, page.text
    check_page(page.text, 60_000)
    return page.text


def sent(person: httpx.Client, page: str, action: str, **fields: str) -> httpx.Response:
    answer = submitted(person, WRITE, {**form_of(page), **fields, "action": action})
    check_page(answer.text, 60_000)
    return answer


def saved(person: httpx.Client, page: str, **fields: str) -> httpx.Response:
    """Preview, and save what is shown."""
    return sent(person, sent(person, page, "preview", **fields).text, "save", token=fields.get("token", ""))


def choices(page: str, field: str) -> list[tuple[str, str]]:
    listed = page.partition(f'<datalist id="l-{field}">')[2].partition("</datalist>")[0]
    return [
        (unescape(value), unescape(label))
        for value, label in re.findall(r'value="([^"]*)"(?: label="([^"]*)")?', listed)
    ]


def found(page: str, field: str) -> list[str]:
    listed = page.partition(f'<ul class="found" id="e-{field}">')[2].partition("</ul>")[0]
    return [" ".join(re.sub("<[^>]+>", "", each).split()) for each in re.findall(r"<li>(.*?)</li>", listed, re.DOTALL)]


def objects(running: Running, subject: str, predicate: str) -> list[Any]:
    rows = running.plugin.graph.list_triples({"subject": subject, "predicate": predicate})["triples"]
    return [row["object"] for row in rows]


def test_without_scripts_the_form_lists_predicates_of_shapes_first_and_then_those_of_the_class(
    person: httpx.Client,
) -> None:
    page = opened(person, subject="c")
    listed = choices(page, "predicate")
    assert [value.removeprefix("mayros:") for value, _ in listed[:4]] == ["due", "inStock", "state", "title"]
    assert listed[1][1] == "shape · 100 % of its class · 1, xsd:integer (the rules of the namespace)"
    by_name = dict(listed)
    assert by_name["mayros:note"] == "67 % of its class"
    assert "Shapes ask for" not in page  # it has what is required
    assert "Shapes ask for mayros:inStock" not in opened(person, subject="a")


def test_suggest_lists_the_values_of_the_predicate_and_chooses_the_kind_that_its_shape_asks_for(
    person: httpx.Client,
) -> None:
    page = opened(person, subject="c")
    assert form_of(page)["kind"] == ""
    asked = sent(person, page, "suggest", predicate="state")
    assert asked.status_code == 200
    assert choices(asked.text, "object") == [("new", "shape"), ("worn", "shape")]
    assert form_of(asked.text)["kind"] == "text"
    assert "One of new, worn (the rules of the namespace)" in unescape(asked.text)
    due = sent(person, asked.text, "suggest", predicate="due")  # the kind that was proposed follows the predicate
    assert form_of(due.text)["kind"] == f"{XSD}date"
    kept = sent(person, due.text, "suggest", predicate="state", kind="node")  # one that was chosen stays
    assert form_of(kept.text)["kind"] == "node"
    title = sent(person, page, "suggest", predicate="title")
    assert (form_of(title.text)["kind"], form_of(title.text)["language"]) == ("language", "sv")
    maker = sent(person, page, "suggest", predicate="madeBy")
    assert form_of(maker.text)["kind"] == "node"
    assert choices(maker.text, "object") == [("mayros:acme", "Acme Works · mayros:acme")]


def test_a_value_has_the_kind_that_is_proposed_where_none_is_chosen(
    running: Running, person: httpx.Client, token: str
) -> None:
    page = opened(person, subject="c", predicate="due")
    done = saved(person, page, object="2026-12-01", token=token)
    assert done.status_code == 303, done.text
    assert objects(running, "c", "due") == [{"value": "2026-12-01", "datatype": f"{XSD}date"}]
    unknown = saved(person, opened(person, subject="c"), predicate="weight", object="12.5", token=token)
    assert unknown.status_code == 303
    assert objects(running, "c", "weight") == [12.5]  # as it is typed


def test_findings_are_beside_the_field_that_they_are_about(person: httpx.Client) -> None:
    page = sent(person, opened(person, subject="b", predicate="state"), "preview", object="broken")
    assert page.status_code == 200
    (shown,) = found(page.text, "object")
    assert shown.startswith("New violation ")
    assert shown.endswith("mayros:PartShape, in the rules of the namespace")
    described = re.search(r'<input id="f-object"[^>]*aria-describedby="([^"]*)"[^>]*aria-invalid="true"', page.text)
    assert described is not None
    assert described[1].split() == ["h-object", "e-object"]
    assert "The change brings 1 violation." in page.text
    second = sent(person, opened(person, subject="b", predicate="inStock"), "preview", object="5")
    assert [each[:13] for each in found(second.text, "predicate")] == ["New violation"]
    other = sent(person, opened(person, subject="a", predicate="title"), "preview", object="Wheel", language="en")
    assert found(other.text, "object")[0].startswith("New warning A title in Swedish")
    assert found(other.text, "subject")[0].startswith("Violation that stays")
    assert 'name="accept"' not in other.text  # a warning is saved at once
    fine = sent(person, opened(person, subject="b", predicate="due"), "preview", object="2026-12-01")
    assert "No violation: 1 shape checked." in fine.text


def test_a_correction_shows_what_it_resolves(running: Running, person: httpx.Client) -> None:
    (row,) = running.plugin.graph.list_triples({"subject": "a", "predicate": "inStock"})["triples"]
    page = opened(person, triple=row["id"])
    preview = sent(person, page, "preview", object="12", kind=f"{XSD}integer")
    assert [line[:1] for line in difference(preview.text)] == ["−", "+"]
    assert [each[:18] for each in found(preview.text, "object")] == ["Resolved violation"]
    assert "The change resolves 1 violation." in preview.text


def test_a_violation_is_saved_by_a_second_act_for_this_statement_alone(
    running: Running, person: httpx.Client, token: str
) -> None:
    fields = {"object": "broken", "token": token}
    asked = saved(person, opened(person, subject="b", predicate="state"), **fields)
    assert (asked.status_code, objects(running, "b", "state")) == (409, [])
    assert "Save it although it brings 1 violation" in asked.text
    accept = re.search(r'name="accept" value="([^"]*)"', asked.text)
    assert accept is not None
    lost = sent(person, asked.text, "preview", object="lost")
    other = sent(person, lost.text, "save", accept=accept[1])
    assert (other.status_code, objects(running, "b", "state")) == (409, [])
    fresh = signed_in(running, token)
    form = form_of(opened(fresh, subject="b"))["form"]
    again = sent(fresh, asked.text, "save", accept=accept[1], form=form)
    assert again.status_code == 401  # the page that asks for the token names what is accepted
    assert "Add a statement, which brings 1 violation" in again.text
    done = sent(person, asked.text, "save", accept=accept[1])
    assert done.status_code == 303, done.text
    assert objects(running, "b", "state") == ["broken"]


def test_rules_that_cannot_be_evaluated_are_named_and_prevent_nothing(
    running: Running, person: httpx.Client, token: str
) -> None:
    rows = [
        {"subject": "Strange", "predicate": f"<http://www.w3.org/ns/shacl#{name}>", "object": {"node": to}}
        for name, to in (("targetNode", "odd"), ("rule", "r"))
    ]
    for row in rows:
        running.plugin.graph.create_triple(row)
    page = opened(person, subject="odd", predicate="weight")
    preview = sent(person, page, "preview", object="2")
    assert "Not checked against the shapes of the graph: the shapes of the graph use sh:rule" in preview.text
    assert sent(person, preview.text, "save", token=token).status_code == 303


def test_the_form_for_scripts_suggests_as_one_types(running: Running, person: httpx.Client) -> None:
    def asked(**query: str) -> Any:
        answer = person.get(WRITE, params={"format": "suggestions", **query})
        assert answer.status_code == 200, answer.text
        return answer.json()

    (stock,) = asked(field="predicate", subject="c", q="sto")["suggestions"]
    assert (stock["value"], stock["notes"][0]) == ("mayros:inStock", "shape")
    due = asked(field="object", subject="c", predicate="due")
    assert (due["kind"], due["kindWords"], due["asks"]) == (
        f"{XSD}date",
        "xsd:date",
        ["xsd:date (the rules of the namespace)"],
    )
    (acme,) = asked(field="object", subject="c", predicate="madeBy", q="acme wor")["suggestions"]
    assert (acme["text"], acme["value"], acme["kind"]) == ("Acme Works", "mayros:acme", "node")
    assert asked(field="subject", q="acme")["suggestions"][0]["value"] == "mayros:acme"
    assert asked(field="subject", q="")["suggestions"] == []
    assert person.get(WRITE, params={"format": "suggestions", "field": "x"}).status_code == 400
    reader = signed_in(running, running.token("reader", permissions=("read",)))
    assert reader.get(WRITE, params={"format": "suggestions"}).status_code == 403


def test_hostile_names_labels_and_messages_are_texts(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script> \\u202Egnp"
    (tmp_path / "hostile.ttl").write_text(
        f"""{PREFIXES} :S a sh:NodeShape ; sh:targetClass :C ; sh:property [ sh:path <urn:x:%3Cscript%3E\\u202E> ;
          sh:name "{hostile}" ; sh:in ( "{hostile}" ) ; sh:message "{hostile}" ] .
        <urn:x:%3Cscript%3E\\u202E> rdfs:label "{hostile}" . :x a :C ; <urn:x:%3Cscript%3E\\u202E> "{hostile}" ."""
    )
    settings = config(cortex={"tokenFile": str(tmp_path / "tokens.json")})
    with served(tmp_path, plugin=Plugin.open(settings)) as running:
        import_rdf(running.plugin.graph, tmp_path / "hostile.ttl")
        person = signed_in(running, running.token("ada", permissions=("read", "write")))
        page = opened(person, subject="x")
        (name, _), *_ = choices(page, "predicate")
        asked = sent(person, page, "preview", predicate=name, object="other")
        assert asked.status_code == 200
        assert [each[:13] for each in found(asked.text, "object")] == ["New violation"]
        assert "alert(1)" in unescape(asked.text)
        answer = person.get(WRITE, params={"format": "suggestions", "subject": "x"})
        assert "\u202e" not in answer.text
        assert "\\u202e" not in answer.text
