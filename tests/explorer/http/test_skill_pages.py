"""The pages of skills and of the audit, with hostile manifests, sources and records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from cortex_skills.audit.call_records import AuditRecord, Removed, started
from cortex_skills.config.host_identity import HostIdentity
from cortex_skills.features.proofs.signing.credentials import sign_assertion
from cortex_skills.keys import Key
from cortex_skills.manifest import load_manifest
from cortex_skills.signatures import sign_for_others
from tests.explorer.hostile import TEXTS, check_page
from tests.server.serving import Running, served

HTML = {"Accept": "text/html"}
MANIFEST = """---
name: {name}
description: {description}
type: semantic
semantic:
  version: 1
  permissions:
    graph: [read, write]
    proofs: [request]
  assertions:
    - {{predicate: reorder, requireProof: true}}
  queries:
    - {{predicate: inStock, scope: namespace}}
  skillVersion: "1.2.0"
---
{body}
"""
CODE = """export default {{
  name: "{name}",
  // {comment}
  async onQuery({{ results }}) {{
    return {{ additionalContext: {{ n: results.length }} }};
  }},
}} satisfies Skill;
"""


def write_skill(
    folder: Path, name: str, description: str = "Reports stock.", comment: str = "plain", code: str = CODE
) -> Path:
    place = folder / name
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text(MANIFEST.format(name=name, description="Reports stock.", body=comment))
    (place / "skill.ts").write_text(code.format(name=name, comment=comment.replace("\n", " ").replace("\r", " ")))
    return place


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("explorer-skills")
    with served(folder) as server:
        skills = folder / "skills"
        write_skill(skills, "stock-watch", comment="</script><script>alert(1)</script>")
        write_skill(skills, "sneaky", comment="pay \u202e001")
        write_skill(skills, "broken", code="export default {{ onQuery() {{ eval('1') }} }} // {name}{comment}")
        (write_skill(skills, "invalid") / "SKILL.md").write_text("---\nname: invalid\n---\n<script>alert(1)</script>")
        server.plugin.load(skills, strict=False)
        server.plugin.call("skill_graph_query", {"predicate": "inStock"}, skill="stock-watch", agent="a1")
        server.plugin.call("skill_graph_query", {"nonsense": 1}, skill="stock-watch", agent="<b>a2</b>")
        yield server


def with_html(running: Running, *permissions: str) -> httpx.Client:
    client = running.client(running.token("-".join(permissions), ("mayros",), permissions))
    client.headers.update(HTML)
    return client


def test_skills_are_listed_with_their_budgets_and_refusals_with_their_reason(running: Running) -> None:
    page = with_html(running, "read").get("/explore/skills")
    assert page.status_code == 200
    found = check_page(page.text, 60_000)
    assert {"/explore/skills/stock-watch", "/explore/skills/broken", "/explore/skills/invalid"} <= set(found.links)
    assert "graph:write" in found.text
    assert "1 / " in found.text
    assert "scan_rejected" in found.text
    assert str(running.plugin.skills["stock-watch"].folder.parent) not in page.text


def test_a_skill_shows_what_it_may_do_and_its_source_as_text(running: Running) -> None:
    page = with_html(running, "read").get("/explore/skills/stock-watch")
    found = check_page(page.text, 60_000)
    assert "Files, network, processes" in found.text
    assert "Proof required" in found.text
    assert "</script><script>alert(1)</script>" in found.text
    assert "Latest calls" not in found.text
    assert with_html(running, "read").get("/explore/skills/stock-watch@1.2.0").status_code == 200
    assert with_html(running, "read").get("/explore/skills/stock-watch@9.0.0").status_code == 404
    assert with_html(running, "read").get("/explore/skills/unknown").status_code == 404


def test_a_finding_is_shown_at_its_line_and_a_refused_skill_has_its_reason(running: Running) -> None:
    found = check_page(with_html(running, "read").get("/explore/skills/broken").text)
    assert "This skill is not loaded" in found.text
    assert "critical, dynamic-code" in found.text
    sneaky = check_page(with_html(running, "read").get("/explore/skills/sneaky").text)
    assert "critical, hidden-characters" in sneaky.text
    assert "// pay U+202E001" in sneaky.text
    invalid = check_page(with_html(running, "read").get("/explore/skills/invalid?file=SKILL.md").text)
    assert "manifest_invalid" in invalid.text
    assert "<script>alert(1)</script>" in invalid.text


def test_a_file_comes_whole_as_text_and_an_unknown_one_is_not_found(running: Running) -> None:
    client = with_html(running, "read")
    whole = client.get("/explore/skills/stock-watch?file=SKILL.md&format=text")
    assert whole.headers["content-type"] == "text/plain; charset=utf-8"
    assert whole.headers["x-content-type-options"] == "nosniff"
    assert whole.text == (running.plugin.skills["stock-watch"].folder / "SKILL.md").read_text()
    assert client.get("/explore/skills/stock-watch?file=../SKILL.md").status_code == 404


def test_a_reload_shows_what_changed(running: Running) -> None:
    folder = running.plugin.skills["stock-watch"].folder
    text = (folder / "SKILL.md").read_text()
    (folder / "SKILL.md").write_text(text.replace("1.2.0", "1.2.1").replace("Reports stock.", "Reports all stock."))
    differs = check_page(with_html(running, "read").get("/explore/skills/stock-watch").text)
    assert "holds other files than the version that is loaded" in differs.text
    running.plugin.reload("stock-watch")
    changed = check_page(with_html(running, "read").get("/explore/skills/stock-watch").text)
    assert "semantic.skillVersion" in changed.text
    assert "description" in changed.text


def test_the_audit_needs_its_permission_and_shows_calls_and_refusals(running: Running) -> None:
    assert with_html(running, "read", "write").get("/explore/audit").status_code == 403
    client = with_html(running, "read", "audit")
    found = check_page(client.get("/explore/audit").text, 60_000)
    assert "skill_graph_query" in found.text
    assert "invalid_arguments" in found.text
    assert "<b>a2</b>" in found.text
    refused = check_page(client.get("/explore/audit?outcome=refused").text)
    assert "skill_graph_query" in refused.text
    assert "for a1" not in refused.text
    assert "No call matches" in check_page(client.get("/explore/audit?skill=other").text).text
    assert client.get("/explore/audit?cursor=nonsense").status_code == 400
    assert client.get("/explore/audit?limit=0").status_code == 400
    assert client.get("/explore/audit?id=nonsense").status_code == 404
    lines = client.get("/explore/audit?format=jsonl&outcome=ok").text.splitlines()
    assert len(lines) == 1
    assert '"agent": "a1"' in lines[0]


def test_calls_of_a_skill_are_on_its_page_for_who_may_read_the_audit(running: Running) -> None:
    found = check_page(with_html(running, "read", "audit").get("/explore/skills/stock-watch").text)
    assert "Latest calls" in found.text
    assert "for a1" in found.text


def test_hostile_records_stay_text_and_what_was_removed_has_its_place(running: Running) -> None:
    calls = running.plugin.recent_calls
    for text in TEXTS:
        host = HostIdentity("5c2f" * 8, text)
        calls.record(AuditRecord(started(), text, text, text, text, 1.0, 2, (Removed(text, text, 2),), host=host))
    newest = calls.page(limit=1).calls[0].id
    client = with_html(running, "read", "audit")
    found = check_page(client.get(f"/explore/audit?id={newest}&limit=100").text)
    assert "2 × mayros:" in found.text
    assert "The texts are not kept" in found.text
    assert "5c2f" * 8 in found.text
    for text in TEXTS:
        check_page(client.get("/explore/audit", params={"skill": text[:300], "outcome": text[:300]}).text)
        page = client.get("/explore/skills/" + quote(text[:300], safe=""))
        assert page.status_code in (400, 404), text
        check_page(page.text)


def test_the_audit_names_the_host_where_records_do(tmp_path: Path) -> None:
    with served(tmp_path, host={"name": "desk"}, audit={"folder": str(tmp_path / "journal")}) as server:
        server.plugin.call("nothing", {})
        client = with_html(server, "read", "audit")
        page = client.get("/explore/audit").text
        assert '<p class="usual">All on the host desk</p>' in page
        assert '<th scope="col">Host</th>' not in page
        (entry,) = client.get("/api/v1/audit", headers={"Accept": "application/json"}).json()
        assert (entry["host"]["name"], entry["host"]["id"] in page) == ("desk", False)


def test_removed_texts_are_shown_where_they_are_kept_struck_through(tmp_path: Path) -> None:
    files = {"removed": str(tmp_path / "kept"), "removedKey": str(tmp_path / "settings" / "key")}
    code = "export default {{ name: '{name}', async onQuery() {{ return {{ additionalContext: {comment} }} }} }};"
    skill = write_skill(tmp_path, "adds", code=code)
    (skill / "skill.ts").write_text(code.format(name="adds", comment=json.dumps([*TEXTS[:12], *TEXTS[13:]])))
    with served(tmp_path, audit={"keepRemoved": True, **files}) as server:
        server.plugin.load(skill)
        assert server.plugin.call("skill_graph_query", {"predicate": "inStock"}, skill="adds", agent="a1").code is None
        call = server.plugin.recent_calls.page(limit=1).calls[0]
        client = with_html(server, "read", "audit")
        pages = [client.get("/explore/audit", params=given).text for given in ({"id": call.id}, {"removed": "yes"})]
        for page in pages:
            check_page(page, 60_000)
            assert '<p class="cut"><del dir="auto">&lt;script&gt;alert(1)&lt;/script&gt;</del></p>' in page
        forms = [client.get(f"/explore/audit?id={call.id}&format=jsonl"), client.get(f"/api/v1/audit/{call.id}")]
        assert all("alert" not in form.text for form in forms)
        refused = with_html(server, "read").get("/explore/audit?removed=yes")
        assert (refused.status_code, "alert" in refused.text) == (403, False)
    with served(tmp_path / "other") as server:
        answer = with_html(server, "read", "audit").get("/explore/audit?removed=yes")
        assert (answer.status_code, "audit.keepRemoved" in answer.text) == (404, True)


def test_a_bundle_of_a_skill_without_a_publisher_is_refused_with_the_reason(running: Running) -> None:
    plugin, client, key = running.plugin, with_html(running, "read"), Key("issuer", b"\1" * 32)
    arguments = {"subject": "nails", "predicate": "reorder", "object": True, "proofType": "pol"}
    triple_id = plugin.call("skill_assert", arguments, skill="stock-watch", agent="a1").details["tripleHash"]
    sign_assertion(plugin.graph, triple_id, key, datetime.now(UTC))
    address = f"/explore/mayros/t/{triple_id}"
    assert "needs the signature of the skill&#39;s publisher: cortex-skills sign" in client.get(address).text
    refused = client.get(f"{address}?format=bundle")
    assert refused.status_code == 409
    assert "Stock-watch has no signature of a publisher" in check_page(refused.text).text
    assert client.get(f"{address}?format=bundle", headers={"Accept": "*/*"}).json()["code"] == "signature_required"

    folder = plugin.skills["stock-watch"].folder
    sign_for_others(folder, load_manifest(folder), key, "stock.example", datetime.now(UTC))
    assert f"{address}?format=bundle" in check_page(client.get(address).text).links
    assert client.get(f"{address}?format=bundle").json()["type"] == "CortexProofBundle"
