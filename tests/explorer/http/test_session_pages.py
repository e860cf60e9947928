"""The pages of sessions and agents: a run from each call to what came of it, and what a reader may see of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from cortex_skills import Plugin
from cortex_skills.features.memory.requests import new_memory
from tests.actions.conftest import operator
from tests.approvals.approver import opened
from tests.explorer.hostile import check_page
from tests.plugin.skills import write_skill
from tests.server.serving import Running, served

__all__ = ["operator"]

HOSTILE = "<script>alert(1)</script>\u202e{{ 7*7 }}"
ALL = ("read", "audit", "memories", "approve")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, operator: Path) -> Iterator[Running]:
    """A server after two sessions: one asserts, asks a person, and is refused; the other only reads."""
    folder = tmp_path_factory.mktemp("sessions")
    settings: dict[str, Any] = {
        "cortex": {"tokenFile": str(folder / "tokens.json")},
        "host": {"name": "desk.example.org"},
    }
    plugin = opened("memory:", operator, folder / "lines", audit={"folder": str(folder / "journal")}, **settings)
    plugin.load(write_skill(folder / "probe", allowedTools=["*"]))
    with served(folder, plugin=plugin) as server:
        run(plugin)
        yield server


def run(plugin: Plugin) -> None:
    def call(
        tool: str, arguments: dict[str, Any], skill: str = "probe", session: str = "first", agent: str = "a1"
    ) -> Any:
        return plugin.call(tool, arguments, skill=skill, agent=agent, session=session).details

    call("skill_assert", {"subject": "nails", "predicate": "note", "object": "three left"})
    call("skill_graph_query", {"predicate": "note"})
    call("skill_assert", {"subject": "nails", "predicate": "undeclared", "object": HOSTILE})
    for approves in (True, False):
        approval = call("append_line", {"text": "a line"}, "operator")["approval"]
        decide = plugin.approvals.approve if approves else plugin.approvals.reject
        decide(approval, by="ada", reason="as agreed")
    call("append_line", {"text": "another line"}, "operator")
    call("skill_graph_query", {"predicate": "note"}, session="second", agent="a 2/ä")


@pytest.fixture(scope="module")
def reader(running: Running) -> httpx.Client:
    client = running.client(running.token("sees-all", permissions=ALL, holder="person"))
    client.headers["Accept"] = "text/html"
    return client


@pytest.fixture(scope="module")
def session(reader: httpx.Client) -> str:
    found = reader.get("/explore/sessions?format=json").json()["sessions"]
    assert [(each["agents"], each["calls"]) for each in found] == [(["a 2/ä"], 1), (["a1"], found[1]["calls"])]
    return str(found[1]["id"])


def test_a_session_is_a_tree_from_each_call_to_what_came_of_it(reader: httpx.Client, session: str) -> None:
    document = reader.get(f"/explore/sessions/{session}?format=json").json()
    counts = document["counts"]
    assert {name: counts[name] for name in ("calls", "asked", "refused")} == {"calls": 6, "asked": 3, "refused": 1}
    tools = [(each["tool"], [below["kind"] for below in each["below"]]) for each in document["steps"]]
    assert tools == [
        ("skill_assert", ["change"]),
        ("skill_graph_query", []),
        ("skill_assert", ["change"]),
        ("append_line", ["asked"]),
        ("append_line", ["asked"]),
        ("append_line", ["asked"]),
    ]
    approved, rejected, waiting = (each["below"][0] for each in document["steps"][3:])
    ((decision,), (refusal,)) = approved["below"], rejected["below"]
    assert (decision["event"], decision["agent"], [each["event"] for each in decision["below"]]) == (
        "approvals.approve",
        "ada",
        ["skill_executed"],
    )
    assert (refusal["event"], refusal["below"], waiting["below"]) == ("approvals.reject", [], [])
    assert (counts["asserted"], counts["done"]) == (1, 1)


def test_the_page_of_a_session_links_what_the_reader_may_see(
    running: Running, reader: httpx.Client, session: str
) -> None:
    page = check_page(reader.get(f"/explore/sessions/{session}").text, 60_000)
    assert "1 calls that only read are folded" in page.text
    assert f"/explore/sessions/{session}?show=all" in page.links
    (row,) = running.plugin.graph.list_triples({"predicate": "note"})["triples"]
    assert f"/explore/mayros/t/{row['id']}" in page.links
    assert any(link.startswith("/explore/approvals/") for link in page.links)
    assert "waits for a person" in page.text
    only = running.client(running.token("audits-only", permissions=("audit",)))
    seen = check_page(only.get(f"/explore/sessions/{session}", headers={"Accept": "text/html"}).text, 60_000)
    assert not [link for link in seen.links if "/t/" in link or "/approvals/" in link or "/memories/" in link]
    assert "three left" not in seen.text.replace("probe · skill_assert nails, note, three left", "")


@pytest.mark.parametrize(
    ("query", "calls"),
    [
        ({"show": "refused"}, 1),
        ({"show": "changed"}, 5),
        ({"show": "all"}, 6),
        ({"q": "APPEND_line"}, 3),
        ({"q": "x y"}, 0),
    ],
)
def test_the_steps_are_filtered(reader: httpx.Client, session: str, query: dict[str, str], calls: int) -> None:
    html = reader.get(f"/explore/sessions/{session}", params=query).text
    check_page(html, 60_000)
    assert html.count('<li class="call') == calls


def test_an_unknown_session_is_not_found_and_one_without_the_permission_is_refused(
    running: Running, reader: httpx.Client, session: str
) -> None:
    for unknown in ("0" * 32, "first", "a%2Fb", "%00"):
        assert reader.get(f"/explore/sessions/{unknown}").status_code == 404
    plain = running.client(running.token("plain", permissions=("read",)))
    assert plain.get(f"/explore/sessions/{session}").status_code == 403
    foreign = running.client(running.token("foreign", ("elsewhere",), ALL, holder="person"))
    assert foreign.get(f"/explore/sessions/{session}").status_code == 403
    assert "first" not in reader.get(f"/explore/sessions/{session}").text.replace("first step", "")


def test_the_audit_is_filtered_by_text_by_time_and_by_session(reader: httpx.Client, session: str) -> None:
    def found(**query: str) -> list[str]:
        answer = reader.get("/explore/audit", params={"format": "jsonl", **query})
        return [line.partition('"tool": "')[2].partition('"')[0] for line in answer.text.splitlines()]

    assert len(found(session=session, q="LINE")) == 3
    assert found(since="1h", session=session) == found(session=session)
    assert found(until="1h", session=session) == []
    assert found(until="yesterday") == []
    assert reader.get("/explore/audit", params={"since": "soon"}).status_code == 400


def test_an_agent_has_a_page_with_what_it_asserted_asked_and_was_refused(
    running: Running, reader: httpx.Client, session: str
) -> None:
    running.plugin.memories.remember(new_memory(f"Weekly {HOSTILE}"), agent="a1")
    running.plugin.graph.counts.latest(wait_s=30)
    page = check_page(reader.get("/explore/mayros/agent?name=a1").text, 60_000)
    (row,) = running.plugin.graph.list_triples({"predicate": "note"})["triples"]
    assert {f"/explore/mayros/t/{row['id']}", f"/explore/sessions/{session}"} <= set(page.links)
    assert "undeclared_predicate" in page.text
    assert "Weekly <script>" in page.text
    listed = check_page(reader.get("/explore/mayros/agents").text, 60_000)
    assert {"/explore/mayros/agent?name=a1", "/explore/mayros/agent?name=a%202%2F%C3%A4"} <= set(listed.links)
    document = reader.get("/explore/mayros/agent?name=a1&format=json").json()
    assert ([each["predicate"] for each in document["assertions"]], document["sessions"]) == (
        ["mayros:note"],
        [session],
    )
    before = check_page(reader.get("/explore/mayros/agent?name=a1&asOf=yesterday").text, 60_000)
    assert row["id"] not in before.text


def test_an_agent_shows_no_call_and_no_memory_to_one_who_may_only_read(running: Running) -> None:
    plain = running.client(running.token("plain", permissions=("read",)))
    plain.headers["Accept"] = "text/html"
    for path in ("/explore/mayros/agent?name=a1", "/explore/mayros/agents"):
        html = plain.get(path).text
        for secret in ("Weekly", "undeclared", "/explore/sessions/", "Refused", "Sessions"):
            assert secret not in html, (path, secret)
    document = plain.get("/explore/mayros/agent?name=a1&format=json").json()
    assert [document[name] for name in ("memories", "sessions", "refused")] == [None, None, None]
    unknown = plain.get("/explore/mayros/agent", params={"name": HOSTILE})
    check_page(unknown.text, 60_000)
    assert plain.get("/explore/elsewhere/agent?name=a1").status_code == 404


def test_the_page_of_the_audit_names_the_host_of_its_records_once(reader: httpx.Client) -> None:
    page = reader.get("/explore/audit").text
    rows = page.partition("<tbody>")[2].split("<tr>")[1:]
    assert len(rows) > 5
    assert '<p class="usual">All on the host desk.example.org</p>' in page


def test_the_audit_does_not_show_what_waits_as_done(running: Running, reader: httpx.Client) -> None:
    asked = running.plugin.call("append_line", {"text": "first\nsecond"}, skill="operator", agent="a9").details
    waits = reader.get("/explore/audit?agent=a9").text
    assert ("half", "Asked a person") in re.findall(r'<span class="say ([a-z]+)">([^<]*)</span>', waits)
    running.plugin.approvals.approve(asked["approval"], by="ada")
    page = reader.get("/explore/audit?agent=a9").text
    tools = re.findall(r"</time></a><td>([^<]*)<td>", page)
    assert sorted(tools) == ["append_line", "append_line", "append_line started", "approval.requested"]
    assert page.count(">Asked a person<") == 1
    (session,) = reader.get("/explore/sessions?agent=a9&format=json").json()["sessions"]
    run = reader.get(f"/explore/sessions/{session['id']}?show=all").text
    assert "first second" in run
    assert "U+000A" not in run
