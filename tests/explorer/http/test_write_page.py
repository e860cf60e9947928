"""A person adds a statement, corrects one and merges two names, each seen as a difference before it is done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import httpx
import pytest

from cortex_graph import Provenance
from cortex_skills import Plugin
from tests.configs import config
from tests.explorer.hostile import check_page
from tests.explorer.http.browsing import CLICKED, fields_of, signed_in, submitted
from tests.server.serving import Running, served

WRITE = "/explore/mayros/write"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("write")
    journal: dict[str, Any] = {"journal": "on", "folder": str(folder / "journal")}
    with served(
        folder, plugin=Plugin.open(config(audit=journal, cortex={"tokenFile": str(folder / "tokens.json")}))
    ) as server:
        yield server


@pytest.fixture(scope="module")
def token(running: Running) -> str:
    return running.token("ada", permissions=("read", "write"))


@pytest.fixture(scope="module")
def person(running: Running, token: str) -> httpx.Client:
    return signed_in(running, token)


def written(running: Running, subject: str, predicate: str, value: Any) -> str:
    row = {"subject": subject, "predicate": predicate, "object": value}
    return str(running.plugin.graph.create_triple(row, Provenance("stock", "1.0.0", "scout"))["id"])


def objects(running: Running, subject: str, predicate: str) -> list[Any]:
    found = running.plugin.graph.list_triples({"subject": subject, "predicate": predicate})["triples"]
    return [row["object"] for row in found]


def opened(person: httpx.Client, query: str) -> tuple[str, dict[str, str]]:
    page = person.get(f"{WRITE}{query}", headers=CLICKED)
    assert page.status_code == 200, page.text
    check_page(page.text, 60_000)
    form = page.text.partition('<form class="card"')[2]
    found = re.findall(r'name="([a-zA-Z]+)" value="([^"]*)" required', form)
    typed = {name: unescape(value) for name, value in found}
    language = re.findall(r'name="(language)" value="([^"]*)"', form)
    return page.text, {**fields_of(form), **typed, **dict(language), **chosen_kind(form)}


def chosen_kind(form: str) -> dict[str, str]:
    return {"kind": unescape(found[1])} if (found := re.search(r'<option value="([^"]*)" selected>', form)) else {}


def difference(page: str) -> list[str]:
    within = page.partition('aria-label="What changes">')[2].partition("</section>")[0]
    lines = re.findall(r'<div class="(?:add|gone)">(.*?)</div>', within, re.DOTALL)
    return [" ".join(re.sub("<[^>]+>", "", line).split()) for line in lines]


def shown_in(preview: str) -> dict[str, str]:
    """The digest of what a preview shows."""
    return {"shown": fields_of(preview)["shown"]}


def test_a_statement_is_previewed_then_added_in_the_name_of_the_person(
    running: Running, person: httpx.Client, token: str
) -> None:
    _, fields = opened(person, "?subject=order:1")
    fields |= {"predicate": "state", "object": "late"}
    preview = submitted(person, WRITE, {**fields, "action": "preview"})
    assert (preview.status_code, difference(preview.text)) == (200, ["+ mayros:order:1 state late"])
    assert objects(running, "order:1", "state") == []
    fresh = signed_in(running, token)
    asked = submitted(fresh, WRITE, {**fields, **opened_form(fresh), "action": "save"})
    assert asked.status_code == 401  # the token is shown again, beside what is done
    assert "mayros:order:1 mayros:state late" in asked.text
    done = submitted(person, WRITE, {**fields, **shown_in(preview.text), "action": "save", "token": token})
    assert done.status_code == 303, done.text
    (row,) = running.plugin.graph.list_triples({"subject": "order:1"})["triples"]
    assert done.headers["location"] == f"/explore/mayros/t/{row['id']}"
    assert (running.plugin.graph.provenance_of(row["id"]) or {})["agent"] == "ada"
    records = [
        each.record for each in running.plugin.audit.calls.page(limit=5).calls if each.record.event == "graph.assert"
    ]
    assert [(record.data["object"], record.data["door"]) for record in records] == [(row["id"], "page")]


def opened_form(client: httpx.Client) -> dict[str, str]:
    return {"form": opened(client, "?subject=order:1")[1]["form"]}


@pytest.mark.parametrize(
    ("value", "typed", "after"),
    [
        (14, "12", 12),
        ("5", "6", "6"),
        ({"node": "old"}, "mayros:new", {"node": "mayros:new"}),
        (True, "false", False),
        (
            {"value": "2026-01-31", "datatype": "xsd:date"},
            "2026-02-01",
            {"value": "2026-02-01", "datatype": "http://www.w3.org/2001/XMLSchema#date"},
        ),
        ({"value": "a", "language": "sv"}, "b", {"value": "b", "language": "sv"}),
        (
            {"value": "a", "language": "ar", "direction": "rtl"},
            '{"value": "b", "language": "ar", "direction": "rtl"}',
            {"value": "b", "language": "ar", "direction": "rtl"},
        ),
        ({"value": " a ", "datatype": "urn:x:own"}, " b", {"value": " b", "datatype": "urn:x:own"}),
    ],
)
def test_a_statement_is_corrected(
    running: Running, person: httpx.Client, token: str, value: Any, typed: str, after: Any
) -> None:
    subject = f"part-{typed.encode().hex()}"
    old = written(running, subject, "p", value)
    _, fields = opened(person, f"?triple={old}")
    unchanged = submitted(person, WRITE, {**fields, "action": "preview"})
    assert (unchanged.status_code, "is as it was" in unchanged.text) == (400, True)
    fields |= {"object": typed, "reason": "counted again"}
    preview = submitted(person, WRITE, {**fields, "action": "preview"})
    assert [line[:1] for line in difference(preview.text)] == ["−", "+"]
    done = submitted(person, WRITE, {**fields, **shown_in(preview.text), "action": "save", "token": token})
    assert done.status_code == 303, done.text
    assert objects(running, subject, "p") == [after]
    shown = person.get(done.headers["location"], headers=CLICKED).text
    assert "wasRevisionOf" in shown
    assert "Withdrawn" in person.get(f"/explore/mayros/t/{old}", headers=CLICKED).text


@pytest.mark.parametrize("text", ["pay \u202e001", "⟨U+202E⟩", "one\ntwo\n\nthree | four", "e" + "\u0301" * 9, "true"])
def test_a_text_with_lines_or_with_what_hides_comes_back_as_it_is(
    running: Running, person: httpx.Client, text: str
) -> None:
    old = written(running, "hidden", "p", text)
    page, fields = opened(person, f"?triple={old}")
    area = re.search(r'<textarea [^>]*name="object"[^>]*>\n([^<]*)</textarea>', page)
    assert (area is not None) is ("\n" in text)
    if area is not None:
        fields["object"] = unescape(area[1]).replace("\n", "\r\n")  # as a browser sends it
    unchanged = submitted(person, WRITE, {**fields, "action": "preview"})
    assert (unchanged.status_code, "is as it was" in unchanged.text) == (400, True)
    assert (
        submitted(person, WRITE, {**fields, "object": f"{fields['object']}.", "action": "preview"}).status_code == 200
    )


def test_two_names_are_merged(running: Running, person: httpx.Client, token: str) -> None:
    written(running, "chain-11", "inStock", 4)
    written(running, "order:9", "needs", {"node": "chain-11"})
    written(running, "chain:11-118", "inStock", 3)
    _, fields = opened(person, "?merged=chain-11")
    fields |= {"kept": "chain:11-118"}
    preview = submitted(person, WRITE, {**fields, "action": "preview"})
    assert difference(preview.text) == [
        "− mayros:chain-11 inStock 4",
        "+ mayros:chain:11-118 inStock 4",
        "− mayros:order:9 needs mayros:chain-11",
        "+ mayros:order:9 needs mayros:chain:11-118",
        "+ mayros:chain-11 owl:sameAs mayros:chain:11-118",
    ]
    fields |= shown_in(preview.text)
    done = submitted(person, WRITE, {**fields, "action": "save", "token": token, "reason": "one part"})
    assert done.status_code == 303, done.text
    assert sorted(objects(running, "chain:11-118", "inStock")) == [3, 4]


def test_what_changed_since_it_was_shown_is_shown_again_and_not_saved(
    running: Running, person: httpx.Client, token: str
) -> None:
    written(running, "bolt", "inStock", 4)
    _, fields = opened(person, "?merged=bolt")
    fields |= {"kept": "bolt:m6", "action": "save", "token": token}
    unseen = submitted(person, WRITE, fields)
    assert (unseen.status_code, "Nothing was saved" in unseen.text) == (200, True)
    assert len(difference(unseen.text)) == 3
    written(running, "bolt", "note", "the last one")
    stale = submitted(person, WRITE, {**fields, **shown_in(unseen.text)})
    assert (stale.status_code, "Nothing was saved" in stale.text) == (200, True)
    assert len(difference(stale.text)) == 5
    other = submitted(person, WRITE, {**fields, **shown_in(stale.text), "kept": "bolt:m8"})
    assert (other.status_code, "Nothing was saved" in other.text) == (200, True)
    assert objects(running, "bolt", "inStock") == [4]
    assert submitted(person, WRITE, {**fields, **shown_in(stale.text)}).status_code == 303
    assert objects(running, "bolt:m6", "note") == ["the last one"]


def test_what_is_refused_keeps_what_was_typed_before_a_token_is_asked_for(running: Running, token: str) -> None:
    old = written(running, "washer", "inStock", 7)
    fresh = signed_in(running, token)
    _, fields = opened(fresh, f"?triple={old}")
    fields |= {"object": "seven", "predicate": "<urn:a b>", "action": "save"}
    refused = submitted(fresh, WRITE, fields)
    assert (refused.status_code, 'role="alert"' in refused.text) == (400, True)
    assert 'value="seven"' in refused.text
    assert "&lt;urn:a b&gt;" in refused.text


def test_the_last_form_asks_for_the_token_where_it_has_to_be_shown(running: Running, token: str) -> None:
    fresh = signed_in(running, token)
    _, fields = opened(fresh, "?subject=order:2")
    fields |= {"predicate": "state", "object": "early", "action": "preview"}
    preview = submitted(fresh, WRITE, fields)
    assert 'id="token"' in preview.text
    fields |= {**shown_in(preview.text), "action": "save"}
    assert submitted(fresh, WRITE, {**fields, "token": token}).status_code == 303
    again = submitted(fresh, WRITE, {**fields, "object": "late", "action": "preview"})
    assert 'id="token"' not in again.text


def test_the_answer_to_a_form_is_within_the_namespace_of_its_page(running: Running) -> None:
    both = signed_in(running, running.token("of-two", namespaces=("mayros", "second"), permissions=("read", "write")))
    path = "/explore/second/write"
    page = both.get(path, headers=CLICKED)
    wrong = {"subject": "", "predicate": "p", "object": "1", "action": "preview"}
    refused = submitted(both, path, {**fields_of(page.text), **wrong})
    assert refused.status_code == 400
    assert 'action="/explore/second/find"' in refused.text


def test_a_statement_that_is_not_there_has_no_form(running: Running, person: httpx.Client, token: str) -> None:
    old = written(running, "screw", "inStock", 7)
    _, fields = opened(person, f"?triple={old}")
    fields |= {"object": "8"}
    shown = shown_in(submitted(person, WRITE, {**fields, "action": "preview"}).text)
    running.plugin.graph.delete_triple(old)
    late = submitted(person, WRITE, {**fields, **shown, "action": "save", "token": token})
    assert (late.status_code, 'role="alert"' in late.text) == (404, True)
    assert objects(running, "screw", "inStock") == []
    for triple in (old, "0" * 64):
        assert person.get(f"{WRITE}?triple={triple}", headers=CLICKED).status_code == 404


def test_a_value_that_is_none_is_named_beside_what_was_typed(person: httpx.Client) -> None:
    _, fields = opened(person, "?subject=order:1")
    for typed in (
        {"predicate": "", "object": "x"},
        {"predicate": "state", "object": " "},
        {"predicate": "<urn:a b>", "object": "1"},
    ):
        page = submitted(person, WRITE, {**fields, **typed, "action": "preview"})
        assert page.status_code == 400, typed
        assert 'role="alert"' in page.text
        check_page(page.text, 60_000)


def test_who_may_not_write_has_no_form(running: Running) -> None:
    reader = signed_in(running, running.token("reader", permissions=("read",)))
    assert reader.get(WRITE, headers=CLICKED).status_code == 403
    assert "Add a statement" not in reader.get("/explore/mayros/r?name=order:1", headers=CLICKED).text


def typed_in(page: str) -> str:
    """What the field of the value has: a text of several lines is in one that keeps them."""
    area = re.search(r'<textarea id="f-object"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)
    found = area or re.search(r'id="f-object" name="object" value="([^"\n]*)"', page)
    assert found is not None
    return unescape(found[1])


@pytest.mark.parametrize("text", ["a\u202eb\u200bc", "⟨U+202E⟩", "two\nlines"])
def test_a_text_with_invisible_characters_is_saved_as_it_was_typed(
    running: Running, person: httpx.Client, token: str, text: str
) -> None:
    old = written(running, f"hidden-{len(text)}", "note", text)
    page, fields = opened(person, f"?triple={old}")
    check_page(page, 60_000)
    fields |= {"object": typed_in(page)}
    same = submitted(person, WRITE, {**fields, "action": "preview"})
    assert (same.status_code, "is as it was" in same.text) == (400, True)
    preview = submitted(person, WRITE, {**fields, "object": f"{fields['object']}!", "action": "preview"})
    check_page(preview.text, 60_000)
    sent = {**fields, **shown_in(preview.text), "object": typed_in(preview.text), "action": "save"}
    asked = submitted(signed_in(running, token), WRITE, sent)  # of another session: nothing is done
    assert asked.status_code == 403
    assert submitted(person, WRITE, {**sent, "token": token}).status_code == 303
    assert objects(running, f"hidden-{len(text)}", "note") == [f"{text}!"]


def test_in_place_of_a_text_a_number_that_is_typed_is_a_text(
    running: Running, person: httpx.Client, token: str
) -> None:
    old = written(running, "package:x", "version", "7.6.0")
    _, fields = opened(person, f"?triple={old}")
    fields |= {"object": "8.0"}
    shown = shown_in(submitted(person, WRITE, {**fields, "action": "preview"}).text)
    assert submitted(person, WRITE, {**fields, **shown, "action": "save", "token": token}).status_code == 303
    assert objects(running, "package:x", "version") == ["8.0"]
