"""Every link of every page leads to a page: a crawl from the first page, by a caller who may see all of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import urldefrag

import httpx
import pytest

from cortex_graph import Provenance
from cortex_skills import Plugin
from cortex_skills.doors.explorer.page import pages
from cortex_skills.features.memory.requests import new_memory
from cortex_skills.features.proofs.signing.credentials import sign_assertion
from cortex_skills.features.registry.documents.skill_md import inline_document
from cortex_skills.keys import Key
from cortex_skills.signatures import Publisher
from cortex_skills.signatures.trust_file import trust_of
from tests.artifacts.samples import KEY
from tests.configs import config
from tests.explorer.hostile import Page
from tests.explorer.http.browsing import CLICKED
from tests.explorer.http.test_data_pages import fill
from tests.explorer.http.test_skill_pages import write_skill
from tests.explorer.page_examples import is_of_one
from tests.installed.samples import artifact, install
from tests.server.serving import Running, served

ALL = ("read", "write", "audit", "memories", "registry", "approve")
EACH = 2  # pages of a kind whose links are followed
FILTERS = 2  # of an address that is followed: more are combinations of the same links


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with something on every page: each kind of record, event and thing that a page links to."""
    folder = tmp_path_factory.mktemp("links")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        plugin = Plugin.open(
            config(
                artifacts={"folder": str(folder / "artifacts")},
                verification={"trustStore": str(folder / "trust.json")},
                cortex={"tokenFile": str(folder / "tokens.json")},
                audit={"folder": str(folder / "audit")},
            )
        )
        plugin.load(write_skill(folder / "skills", "stock-watch"))
        fill(plugin.graph)
        arguments = {"subject": "nuts", "predicate": "reorder", "object": True, "proofType": "pol"}
        made = plugin.call("skill_assert", arguments, skill="stock-watch", agent="a 1/ä").details["tripleHash"]
        sign_assertion(plugin.graph, made, Key("issuer", b"\1" * 32), datetime.now(UTC))
        plugin.graph.create_triples(
            [{"subject": "café 100 %", "predicate": "a/b?c#d", "object": {"node": "x:y"}}], Provenance(agent="a&b=c")
        )
        plugin.memories.remember(new_memory("The harbour is closed."), agent="ada")
        text = "Reads a table from a web page. Use it when a question needs figures."
        document = inline_document({"name": "read-table", "description": text, "body": "Read it."}, "mayros")
        plugin.registry.register(document, actor="auditor", origin="learned")
        publisher = Publisher("acme", KEY.did, "listed", "2026-01-01T00:00:00Z")
        trust_of(plugin.config).change(lambda known: known.with_publisher(publisher))
        install(plugin.installed, artifact("1.3.0"))
        plugin.record("find_tables", outcome="ok", skill="gone-since", agent="a1", milliseconds=1.0)
        plugin.graph.counts.latest(wait_s=30)
        with served(folder, plugin=plugin) as found:
            yield found


def kind_of(address: str) -> str:
    """The page of an address, and the parameters that it has: pages of one kind have the same links."""
    url = httpx.URL(address)
    path = re.sub(r"[0-9a-f]{32,}", "ID", url.path)
    return f"{path}?{'&'.join(sorted(url.params))}"


@pytest.mark.extended
def test_no_link_of_any_page_is_dead(running: Running) -> None:
    client = running.client(running.token("sees-all", ("mayros",), ALL, holder="person"))
    found, opened = {"/explore", "/explore/mayros/find?q=order"}, Counter[str]()  # a form leads to the second one
    waiting = [(address, "") for address in sorted(found)]
    dead, seen = [], set()
    while waiting:
        address, where = waiting.pop(0)
        answer = client.get(address, headers=CLICKED, follow_redirects=True)
        if answer.status_code >= 400:
            dead.append((answer.status_code, address, where))
        kind = kind_of(address)
        opened[kind] += 1
        if opened[kind] > EACH or not answer.headers.get("content-type", "").startswith("text/html"):
            continue
        seen.add(answer.url.path)
        for link in Page(answer.text).anchors:
            target = urldefrag(link).url
            filters = {name for name in httpx.URL(target).params if name != "format"}
            if target.startswith("/explore") and target not in found and len(filters) <= FILTERS:
                found.add(target)
                waiting.append((target, address))
    assert dead == []
    read = [each for each in pages() if not is_of_one(each) and each.permission != "write"]  # which a session is led to
    listed = {each.path.replace("{namespace}", "mayros") for each in read}
    assert listed - {"/explore"} <= seen


def test_who_asserted_on_the_overview_leads_to_what_they_asserted(running: Running) -> None:
    client = running.client(running.token("sees-all", ("mayros",), ALL, holder="person"))
    overview = client.get("/explore/mayros", headers=CLICKED).text.partition("Who asserted")[2]
    lists = {link for link in Page(overview).anchors if re.search(r"[?](agent|skill)=", link)}
    assert len(lists) == 4
    for link in lists:
        assert "No triple matches" not in client.get(link, headers=CLICKED).text, link
