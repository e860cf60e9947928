"""What a first visit to a page sends: at most 60 KB in 6 requests, a sheet at most 8 KB. Assets are compressed.

The rows are ordinary ones: names and values of the README, each asserted by an agent with a skill.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from cortex_graph import Provenance
from cortex_skills import Plugin
from cortex_skills.doors.explorer.assets import FOLDER, PREFIX
from cortex_skills.doors.explorer.page import ExplorerPage, PageCall, pages
from cortex_skills.doors.explorer.rendering import Surroundings, navigation_of, render
from cortex_skills.doors.http.auth import AccessControl, Principal
from cortex_skills.doors.http.bodies import Bodies
from cortex_skills.doors.http.service import Service
from cortex_skills.features.actions.action_request import ActionRequest
from cortex_skills.features.memory.requests import new_memory
from cortex_skills.features.registry.documents.skill_md import inline_document
from cortex_skills.features.registry.records.skill_record import SkillKey
from tests.configs import config
from tests.explorer.page_examples import example_of, is_of_one

MOST, SHEET, REQUESTS = 60_000, 8_000, 6
ROWS = 120
MOMENT = "2026-11-24T10:00:00.123Z"
PERMISSIONS = frozenset({"read", "write", "audit", "memories", "registry", "approve"})
# The parameters that show most, where they are not the example of the page; pages of one triple, proof or skill are
# measured over HTTP.
QUERIES: dict[str, tuple[dict[str, str], ...]] = {
    "triples": (
        {},
        {"skill": "verify-kyc"},
        {"predicate": "contains"},
        {"asOf": MOMENT},
        {"asOf": MOMENT, "skill": "verify-kyc"},
    ),
    "find": ({"q": "customer"},),
    "memories": ({}, {"q": "table"}),
    "approvals": ({}, {"state": "all"}, {"state": "rules"}),
    "registry": ({}, {"check": "yes"}, {"q": "table"}, {"view": "cards"}),
}
# The editor of queries is larger, and only its page loads it.
MEASURED = [page for page in pages() if not is_of_one(page) and page.name != "sparql"]
SKILLS = 31  # more than a page has


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    plugin = Plugin.open(config())
    when = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
    for n in range(8):  # as many facets as the page has
        who = Provenance(f"verify-kyc-{n}" if n else "verify-kyc", "1.2.0", f"auditor-{n}", when)
        rows = [
            {"subject": f"customer:{k}", "predicate": f"hasStatus{n}", "object": ("active", k, True)[k % 3]}
            for k in range(ROWS if n == 0 else 12)
        ]
        plugin.graph.create_triples(rows, who)
    orders = [{"subject": f"order:{k}", "predicate": "contains", "object": {"node": "customer:1"}} for k in range(ROWS)]
    plugin.graph.create_triples(orders, Provenance("stock-watch", "1.0.0", "auditor", when))
    for _ in range(ROWS):
        plugin.record("skill_graph_query", outcome="ok", skill="verify-kyc", agent="auditor", milliseconds=1.5)
    for number in range(40):
        inputs = {"path": f"out/{number}.md", "content": "text\n" * 100}
        reason = "at the trust level suggest an action of medium risk needs the approval of a person"
        request = ActionRequest("fs_write", "v1", inputs, f"agent-{number}", "mayros", "tidy", "medium", reason)
        plugin.approvals.request(request)
    for number in range(ROWS):
        memory = new_memory(f"Memory {number} of a table, and who reads it, in an ordinary sentence.", {"tags": ["t"]})
        plugin.memories.remember(memory, agent="auditor")
    for number in range(SKILLS):
        text = f"Reads table {number} from a web page. Use it when a question needs current figures."
        document = inline_document({"name": f"read-table-{number}", "description": text, "body": "Read it."}, "mayros")
        plugin.registry.register(document, actor="auditor", origin="learned")
        plugin.registry.outcome(SkillKey("mayros", document.name), success=number % 3 > 0, actor="auditor")
    plugin.graph.counts.latest(wait_s=30)
    made = Service(plugin, AccessControl(plugin.config), Bodies())
    yield made
    made.close()
    plugin.close()


def sent(service: Service, page: ExplorerPage, query: dict[str, str]) -> list[int]:
    """The sizes of the page and of each asset that it loads."""
    caller = Principal("a-reader", ("mayros", "warehouse"), PERMISSIONS, "mayros")
    here = page.path.replace("{namespace}", "mayros")
    around = Surroundings(
        page.name,
        here,
        here,
        "mayros",
        navigation_of(pages(), page.name, "mayros", PERMISSIONS),
        "/explore/mayros/find",
        caller.name,
        ", ".join(sorted(PERMISSIONS)),
        "20:00 UTC",
        "dark",
        lambda *_: "0" * 64,
        "http://cortex-abcdefghijkl.localhost:19090",
    )
    text = render(page.template, around, page.view(PageCall(service, caller, query, {"namespace": "mayros"})))
    assets = set(re.findall(rf'(?:href|src)="{PREFIX}/([^"]+)"', text.decode()))
    assert len(assets) >= 2  # the assets were built
    sizes = {name: len(gzip.compress((FOLDER / name).read_bytes())) for name in sorted(assets)}
    assert all(size <= SHEET for name, size in sizes.items() if name.endswith(".css"))
    return [len(text), *sizes.values()]


@pytest.mark.parametrize("page", MEASURED, ids=lambda page: page.name)
def test_a_page_is_small_on_the_first_visit(service: Service, page: ExplorerPage) -> None:
    for query in QUERIES.get(page.name, (example_of(page, "customer:1"),)):
        sizes = sent(service, page, query)
        assert sum(sizes) <= MOST, (query, sizes)
        assert len(sizes) <= REQUESTS


def test_the_list_has_a_hundred_rows(service: Service) -> None:
    (page,) = (each for each in pages() if each.name == "triples")
    caller = Principal("a-reader", ("mayros", "warehouse"), PERMISSIONS, "mayros")
    view = page.view(PageCall(service, caller, {}, {"namespace": "mayros"}))
    assert len(view.rows) == 100  # type: ignore[attr-defined]
