"""The pages of the registry: what they show, what a form on them does, and hostile skills."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from html import unescape

import httpx
import pytest

from cortex_skills.features.registry.documents.skill_md import inline_document
from cortex_skills.features.registry.parts import registry_in
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import LearnedIn, SkillKey
from tests.explorer.hostile import TEXTS, check_page
from tests.explorer.http.browsing import CLICKED, signed_in, submitted
from tests.server.serving import Running, served

pytestmark = pytest.mark.usefixtures("no_package_skills")

LIST = "/explore/registry"
STEPS = "1. **Read it** — use fs_read\n"
LEARNED = LearnedIn("5e" * 16, "a1 <b>\u202e", datetime(2026, 1, 2, 3, 4, tzinfo=UTC))


def key(name: str) -> SkillKey:
    return SkillKey("mayros", name)


def add(registry: SkillRegistry, name: str, description: str, origin: str = "human", **more: object) -> None:
    document = inline_document({"name": name, "description": description, "body": STEPS, **more}, "mayros")
    registry.register(document, actor="ada", origin=origin)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with served(tmp_path_factory.mktemp("explorer-registry")) as server:
        registry = server.plugin.registry
        add(registry, "read-table", "Reads a table from a page.")
        add(registry, "read-table", "Reads a table from a web page.")
        add(registry, "plan-day", "Plans a day.", depends_on=["read-table"])
        eggs = inline_document({"name": "boil-eggs", "description": "Boils eggs.", "body": STEPS}, "mayros")
        registry.register(eggs, actor="ada", origin="learned", learned_in=LEARNED)
        for success in (True, True, False):
            registry.outcome(key("boil-eggs"), success=success, actor="a1")
        registry.loaded(key("boil-eggs"), 120, actor="a1")
        yield server


@pytest.fixture(scope="module")
def reader(running: Running) -> httpx.Client:
    client = running.client(running.token("reads", ("mayros",), ("read",)))
    client.headers.update({"Accept": "text/html"})
    return client


@pytest.fixture(scope="module")
def token(running: Running) -> str:
    return running.token("manages", ("mayros",), ("read", "registry"), "person")


def shown(client: httpx.Client, path: str) -> str:
    answer = client.get(path, headers=CLICKED)
    assert answer.status_code == 200, answer.text
    return re.sub(r"\s+", " ", check_page(answer.text).text)


def names(client: httpx.Client, query: str = "") -> list[str]:
    answer = client.get(f"{LIST}?format=json{query}")
    assert answer.status_code == 200, answer.text
    return [each["name"] for each in answer.json()["skills"]]


def test_the_list_has_figures_states_trust_and_success_with_its_interval(reader: httpx.Client) -> None:
    text = shown(reader, LIST)
    assert "Utility, mean" in text
    assert "Active3" in text.replace(" ", "")
    assert "Candidate 1" in text
    assert "2 of 3 succeeded, 95 %: 0.21 to 0.94" in text
    assert "★★★☆ trusted, of a person" in text
    assert "No outcome yet" in text
    page = reader.get(LIST, headers=CLICKED).text
    assert (
        '<svg viewBox="0 0 120 14" class="interval" role="img" aria-label="2 of 3 succeeded, 95 %: 0.21 to 0.94">'
        in page
    )


def test_the_skills_are_shown_as_cards_too_with_the_same_links_and_forms(
    running: Running, reader: httpx.Client
) -> None:
    cards = shown(reader, f"{LIST}?view=cards&group=learned")
    assert "boil-eggs version 1Candidate Boils eggs." in cards
    assert "last use" in cards
    assert "read-table" not in cards
    page = reader.get(f"{LIST}?view=cards&group=learned", headers=CLICKED).text
    assert (page.count('<article class="card skill">'), "<table" in page) == (1, False)
    assert f'href="{LIST}?group=learned"' in page
    assert '<input type="hidden" name="view" value="cards">' in page
    assert f'href="{LIST}?view=cards"' in page  # another group stays with cards
    listed = reader.get(LIST, headers=CLICKED).text
    assert ("<table" in listed, '<article class="card' in listed) == (True, False)
    assert reader.get(f"{LIST}?view=tiles", headers=CLICKED).status_code == 400
    assert reader.get(f"{LIST}?view=cards&format=json").json()["matching"] == 3
    writer = signed_in(running, running.token("cards", ("mayros",), ("read", "registry"), "person"))
    page = writer.get(f"{LIST}?view=cards", headers=CLICKED).text
    assert page.count('<input type="checkbox" name="skill:') == 3


def test_groups_states_and_orders_select_and_sort(reader: httpx.Client) -> None:
    assert names(reader) == ["boil-eggs", "plan-day", "read-table"]
    assert names(reader, "&group=learned") == ["boil-eggs"]
    assert names(reader, "&group=people&state=released") == ["plan-day", "read-table"]
    assert names(reader, "&group=deprecated") == []
    assert names(reader, "&order=success")[0] == "boil-eggs"
    assert names(reader, "&order=trust")[-1] == "boil-eggs"
    assert names(reader, "&start=2") == ["read-table"]
    document = reader.get(f"{LIST}?format=json&group=people").json()
    assert (document["total"], document["states"]["released"], document["states"]["candidate"]) == (3, 2, 0)
    for query in ("state=new", "start=-1", "order=size", "nothing=1"):
        assert reader.get(f"{LIST}?{query}").status_code == 400


def test_a_search_finds_the_best_first_in_the_chosen_group(reader: httpx.Client) -> None:
    assert names(reader, "&q=a+table") == ["read-table"]
    assert names(reader, "&q=a+table&group=learned") == []
    assert "1 skill" in shown(reader, f"{LIST}?q=a+table")


def test_a_skill_shows_versions_difference_relations_use_and_what_an_agent_reads(reader: httpx.Client) -> None:
    text = shown(reader, f"{LIST}/read-table")
    assert "What changed since version 1" in text
    assert '+description: "Reads a table from a web page."' in text
    assert "is needed by" in text
    assert "It is not deleted" not in text  # the caller may not act
    assert "[instructions of read-table" in text
    assert shown(reader, f"{LIST}/read-table@1").count("Reads a table from a page.") >= 2
    eggs = shown(reader, f"{LIST}/boil-eggs")
    assert "3 outcomes, 1 failure of them, 1 load in 30 days" in eggs
    assert "An agent wrote what follows" in eggs
    assert "registered" in eggs
    assert "by ada" in eggs
    assert f"version 1 in the session {'5e' * 16} of a1 <b>" in eggs
    document = reader.get(f"{LIST}/boil-eggs?format=json").json()
    assert document["shown"]["learnedIn"]["session"] == "5e" * 16
    assert document["shown"]["learnedIn"]["time"] == "2026-01-02T03:04:00Z"
    document = reader.get(f"{LIST}/read-table?format=json").json()
    assert [each["version"] for each in document["versions"]] == [1, 2]
    assert document["neededBy"] == ["mayros/plan-day"]
    assert document["difference"][-1].startswith(("+", "-", " "))
    assert document["health"]["overall"] == pytest.approx(0.59)


def test_what_is_not_registered_has_the_page_of_an_unknown_name(reader: httpx.Client) -> None:
    missing = reader.get(f"{LIST}/read-tables", headers=CLICKED)
    assert missing.status_code == 404
    assert f'href="{LIST}/read-table"' in missing.text
    for path in ("read-table@9", "read-table@x", "a%20b", "..%2f..", "%00"):
        assert reader.get(f"{LIST}/{path}", headers=CLICKED).status_code == 404, path


def act(browser: httpx.Client, path: str, action: str, token: str = "", **fields: str) -> httpx.Response:
    """Send a form of a page."""
    page = browser.get(path, headers=CLICKED).text
    form = re.search(rf'name="action" value="{action}"><input type="hidden" name="form" value="([^"]*)"', page)
    assert form is not None, page
    state = re.search(r'name="state" value="([^"]*)"', page)
    kept = {"state": unescape(state[1])} if state and action == "promote" else {}
    given = {"action": action, "form": form[1], **kept, **fields}
    return submitted(browser, path, given | ({"token": token} if token else {}))


def test_forms_promote_deprecate_and_delete_and_ask_for_the_token_first(running: Running, token: str) -> None:
    registry, browser = running.plugin.registry, signed_in(running, token)
    add(registry, "try-out", "Tries it out.", "learned")
    path = f"{LIST}/try-out"
    asking = act(browser, path, "promote")
    assert (asking.status_code, "A session reads." in asking.text) == (401, True)
    assert registry.record(key("try-out")).standing.lifecycle == "candidate"
    unchecked = act(browser, path, "promote", token)
    assert (unchecked.status_code, "try-out is not verified: 0 of 0" in unchecked.text) == (409, True)
    done = act(browser, path, "promote", unmeasured="yes")
    assert (done.status_code, done.headers["location"]) == (303, path)
    assert registry.record(key("try-out")).standing.lifecycle == "verified"
    stale = act(browser, path, "promote", state="candidate")
    assert (stale.status_code, "is verified now, and was not promoted" in stale.text) == (400, True)
    assert act(browser, path, "deprecate", reason=" ").status_code == 400
    assert act(browser, path, "deprecate", reason="<b>old</b>").status_code == 303
    standing = registry.record(key("try-out")).standing
    assert (standing.lifecycle, standing.reason) == ("deprecated", "<b>old</b>")
    assert "<b>old</b>" in shown(browser, path)
    deleted = act(browser, path, "delete")
    assert (deleted.status_code, deleted.headers["location"]) == (303, LIST)
    assert registry.find(key("try-out")) is None
    record = running.plugin.recent_calls.page(limit=1).calls[0].record
    assert (record.tool, record.agent, record.outcome) == ("registry.delete", "manages", "ok")


def test_a_skill_that_others_need_is_not_deleted(running: Running, token: str) -> None:
    registry, browser = running.plugin.registry, signed_in(running, token)
    assert "while others depend on it: mayros/plan-day" in shown(browser, f"{LIST}/read-table")
    add(registry, "a-base", "Is a base.")
    submitted(browser, "/explore/login", {"token": token})
    path = f"{LIST}/a-base"
    page = browser.get(path, headers=CLICKED).text
    form = re.search(r'value="delete"><input type="hidden" name="form" value="([^"]*)"', page)
    assert form is not None
    add(registry, "on-top", "Needs a base.", depends_on=["a-base"])
    refused = submitted(browser, path, {"action": "delete", "form": form[1]})
    assert refused.status_code == 409
    assert "a-base cannot be removed: on-top depend on it" in re.sub(r"\s+", " ", check_page(refused.text).text)
    assert registry.find(key("a-base")) is not None
    for name in ("on-top", "a-base"):
        registry.purge(key(name), actor="tests")


def test_actions_need_the_permission_and_the_form_of_this_page(
    running: Running, reader: httpx.Client, token: str
) -> None:
    path = f"{LIST}/read-table"
    assert "<form method" not in reader.get(path, headers=CLICKED).text.partition("<main")[2]
    writer = running.token("only-writes", ("mayros",), ("read", "write"), "person")
    browser = signed_in(running, writer)
    for action in ("promote", "deprecate", "delete"):
        assert submitted(browser, path, {"action": action, "form": "0" * 64, "token": writer}).status_code == 403
    manager = signed_in(running, token)
    submitted(manager, "/explore/login", {"token": token})
    other = re.search(
        r'value="delete"><input type="hidden" name="form" value="([^"]*)"',
        manager.get(f"{LIST}/plan-day", headers=CLICKED).text,
    )
    assert other is not None
    refused = submitted(manager, path, {"action": "delete", "form": other[1]})
    assert (refused.status_code, "Nothing was done." in refused.text) == (403, True)
    assert running.plugin.registry.record(key("read-table")).standing.lifecycle == "released"


def test_the_health_check_proposes_and_the_action_maintains(running: Running) -> None:
    registry = running.server.config.app.state.service.host("shop").part(registry_in)
    for number in range(5):
        text = "Grinds coffee beans very slowly by hand in a wooden mill."
        document = inline_document({"name": f"grind-{number}", "description": text, "body": STEPS}, "shop")
        registry.register(document, actor="ada", origin="learned")
    for _ in range(5):
        registry.outcome(SkillKey("shop", "grind-1"), success=False, actor="a1")
    token = running.token("shopkeeper", ("shop", "mayros"), ("read", "registry"), "person")
    browser = signed_in(running, token)
    path = f"{LIST}?namespace=shop&check=yes"
    text = shown(browser, path)
    assert "grind-1: candidate → degraded, because its health is low" in text
    assert registry.record(SkillKey("shop", "grind-1")).standing.lifecycle == "candidate"
    document = browser.get(f"{path}&format=json", headers=CLICKED).json()
    assert document["proposals"] == [
        {"name": "grind-1", "from": "candidate", "to": "degraded", "reason": "its health is low"}
    ]
    assert act(browser, path, "maintain", token).status_code == 303
    assert registry.record(SkillKey("shop", "grind-1")).standing.lifecycle == "degraded"
    assert "Nothing to do" in shown(browser, path)
    assert "grind-0" in shown(browser, f"{LIST}/grind-1?namespace=shop")  # much like it
    assert browser.get(f"{LIST}/grind-1", headers=CLICKED).status_code == 404


def test_hostile_skills_are_shown_as_text(running: Running, token: str) -> None:
    registry, browser = running.plugin.registry, signed_in(running, token)
    for text in TEXTS:
        add(registry, "hostile", "Fine.", body=text, metadata={"note": text, text[:60]: "x"}, license=text[:80] or "x")
        registry.deprecate(key("hostile"), text[:500], actor=text)
        for path in ("/hostile", "?q=fine", "?group=deprecated", "/hostile?of=" + "x" * 40):
            answer = browser.get(f"{LIST}{path}", headers=CLICKED)
            assert answer.status_code in (200, 404), (text, path)
            check_page(answer.text)
        registry.purge(key("hostile"), actor="tests")


def test_several_are_promoted_or_deprecated_and_the_answer_lists_what_was_refused(running: Running, token: str) -> None:
    registry, browser = running.plugin.registry, signed_in(running, token)
    for name in ("many-a", "many-b"):
        add(registry, name, f"Is {name}.", "learned")
        registry.promote(key(name), actor="ada", unmeasured=True)
    add(registry, "many-c", "Is many-c.", "learned")
    path = f"{LIST}?group=learned"
    page = browser.get(path, headers=CLICKED).text
    assert '<input type="checkbox" name="skill:many-a" value="verified" form="choose" aria-label="many-a">' in page
    form = re.search(r'<form id="choose".*?name="form" value="([^"]*)"', page)
    assert form is not None, page
    registry.deprecate(key("many-b"), "old", actor="ada")
    chosen = {"skill:many-a": "verified", "skill:many-b": "verified", "skill:many-c": "candidate", "skill:<i>": "x"}
    given = {"form": form[1], "action": "promote", **chosen}
    asking = submitted(browser, path, given)
    assert (asking.status_code, "<bdi>skill:many-a" in asking.text) == (401, False)  # in words, below
    assert "many-a: verified → released" in asking.text
    assert "many-c: candidate → mayros/many-c is not verified" in re.sub(r"\s+", " ", asking.text)
    answer = submitted(browser, path, {**given, "token": token})
    text = re.sub(r"\s+", " ", check_page(answer.text).text)
    assert answer.status_code == 200
    assert "1 promoted, 3 refused" in text
    assert "many-a is released now" in text
    assert "many-b was refused: it is deprecated now, and was not promoted" in text
    assert "many-c was refused: mayros/many-c is not verified: 0 of 0" in text
    assert "<i> was refused:" in text
    assert registry.record(key("many-c")).standing.lifecycle == "candidate"
    chosen |= {"skill:many-a": "released"}
    given = {"form": form[1], "action": "deprecate", **chosen}
    assert submitted(browser, path, given).status_code == 400
    assert submitted(browser, path, {"form": form[1], "action": "promote"}).status_code == 400
    assert submitted(browser, path, {**given, "form": "0" * 64, "reason": "x"}).status_code == 403
    assert registry.record(key("many-a")).standing.lifecycle == "released"
    text = re.sub(r"\s+", " ", submitted(browser, path, {**given, "reason": "<b>too many</b>"}).text)
    assert "many-a</bdi> is deprecated now" in text
    assert registry.record(key("many-a")).standing.reason == "<b>too many</b>"
    for name in ("many-a", "many-b", "many-c"):
        registry.purge(key(name), actor="tests")


def test_what_becomes_of_each_is_shown_before_and_each_deletion_has_its_record(running: Running, token: str) -> None:
    registry, browser = running.plugin.registry, signed_in(running, token)
    add(registry, "low", "Is low.")
    add(registry, "high", "Is high.", depends_on=["low"])
    add(registry, "kept", "Is kept.")
    add(registry, "above", "Keeps it.", depends_on=["kept"])
    page = browser.get(LIST, headers=CLICKED).text
    form = re.search(r'<form id="choose".*?name="form" value="([^"]*)"', page)
    assert form is not None, page
    chosen = {f"skill:{name}": "released" for name in ("low", "high", "kept")}
    asked = {"form": form[1], "action": "preview", **chosen}
    answer = submitted(browser, LIST, {**asked, "does": "delete"})
    text = re.sub(r"\s+", " ", check_page(answer.text).text)
    assert answer.status_code == 200, answer.text
    assert "Delete: what becomes of each" in text
    assert "lowreleasedDeleted" in text
    assert "keptreleasedRefusedmayros/kept cannot be removed: above depend on it" in text
    section = answer.text.partition("what becomes of each")[2].partition("</section>")[0]
    assert (section.count('name="skill:'), "Delete 2</button>" in section) == (2, True)
    assert registry.find(key("low")) is not None
    retiring = submitted(browser, LIST, {**asked, "does": "retire"})
    assert "low cannot be removed: high depend on it" in re.sub(r"\s+", " ", retiring.text)
    for does in ("", "burn"):
        assert submitted(browser, LIST, {**asked, "does": does}).status_code == 400
    assert submitted(browser, LIST, {"form": form[1], "action": "preview", "does": "delete"}).status_code == 400
    before = running.plugin.recent_calls.counts().total
    given = {"form": form[1], "action": "delete", **chosen}
    assert submitted(browser, LIST, given).status_code == 401
    done = re.sub(r"\s+", " ", check_page(submitted(browser, LIST, {**given, "token": token}).text).text)
    assert "2 deleted, 1 refused" in done
    records = [each.record for each in running.plugin.audit.calls.page(limit=3).calls]
    assert running.plugin.recent_calls.counts().total == before + 3
    found = [(each.tool, each.agent, each.outcome) for each in reversed(records)]
    assert found == [
        ("registry.delete", "manages", "ok"),
        ("registry.delete", "manages", "skill_in_use"),
        ("registry.delete", "manages", "ok"),
    ]
    archived = {"form": form[1], "action": "retire", "skill:above": "released", "reason": "not used"}
    assert "1 archived, 0 refused" in re.sub(r"\s+", " ", submitted(browser, LIST, archived).text)
    standing = registry.record(key("above")).standing
    assert (standing.lifecycle, standing.reason) == ("archived", "not used")
    for name in ("above", "kept"):
        registry.purge(key(name), actor="tests")


def test_a_reader_has_no_check_boxes(reader: httpx.Client) -> None:
    assert 'type="checkbox"' not in reader.get(LIST, headers=CLICKED).text


def test_a_similar_skill_is_shown_side_by_side_with_its_difference(running: Running, reader: httpx.Client) -> None:
    registry = running.plugin.registry
    for name, body in (("mill-a", "Grind <b>slowly</b>."), ("mill-b", "Grind fast.")):
        add(registry, name, "Grinds coffee beans by hand in a wooden mill.", body=body)
    page = reader.get(f"{LIST}/mill-a", headers=CLICKED).text
    assert f'href="{LIST}/mill-a?beside=mill-b#beside"' in page
    text = shown(reader, f"{LIST}/mill-a?beside=mill-b")
    assert "From mill-b to mill-a" in text
    assert "-Grind fast." in text
    assert "+Grind <b>slowly</b>." in text
    assert "[instructions of mill-b" in text
    assert reader.get(f"{LIST}/mill-a?beside=none", headers=CLICKED).status_code == 404
    for name in ("<i>", "a%20b", "x" * 301):
        assert reader.get(f"{LIST}/mill-a?beside={name}", headers=CLICKED).status_code == 400
    for name in ("mill-a", "mill-b"):
        registry.purge(key(name), actor="tests")
