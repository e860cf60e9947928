"""A browser, and a server with a graph worth looking at, for all tests of this folder.

Rules kept here:
- the browser is the Chromium of the system; without one the tests are skipped with the reason, and with
  `BROWSER_TESTS=required` they fail;
- one browser and one server; a context for each test, whose console, policy reports and requests are watched: a
  message, or a request to anywhere but the server, fails the test;
- tests wait by locators: the policy of the pages forbids what evaluates strings (`wait_for_function`).
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cortex_graph import import_rdf
from cortex_skills import Plugin
from cortex_skills.features.proofs.signing.credentials import sign_assertion
from cortex_skills.features.registry.documents.skill_md import inline_document
from cortex_skills.features.registry.records.skill_record import SkillKey
from cortex_skills.keys.folder import key_folder
from cortex_skills.manifest import load_manifest
from cortex_skills.signatures import sign_for_others
from tests.configs import config
from tests.explorer.http.browsing import signed_in as of_token
from tests.installed.samples import NETWORK, artifact, install
from tests.server.serving import Running, served

playwright = pytest.importorskip("playwright.sync_api", reason="the extra `browser` is not installed")
ROOT = Path(__file__).parents[3]
_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
REBOUND = "rebound.example"  # a foreign name that leads to this machine
WAIT_MS = 30_000  # generous: only so that a test ends
CUSTOMERS = ROOT / "examples" / "verify-kyc"
READER = ("read", "write", "audit", "provenance", "registry", "approve", "memories")
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</textarea></style><svg onload=alert(1)>",
    "javascript:alert(1)",
    "\u202egnp.exe",
    "{{ 7*7 }}{% raw %}",
    "x" * 20_000,
    "e" + "\u0301" * 300,
)


def hostile_skills(folder: Path) -> Path:
    """A folder of two skills whose manifests and sources have hostile texts; the second one is refused."""
    description = f"Notes of {HOSTILE[0]} and {HOSTILE[1]}. Use it for questions about them."
    manifest = {"name": "hostile-notes", "description": description, "type": "semantic", "semantic": {"version": 1}}
    manifest["semantic"] = {"version": 1, "permissions": {"graph": ["read"]}, "skillVersion": "1.0.0"}
    refused = {**manifest, "name": "hostile-refused", HOSTILE[2]: HOSTILE[0], "type": HOSTILE[1]}
    source = "".join(f"// {text}\n" for text in HOSTILE if "\u202e" not in text)
    for front in (manifest, refused):
        skill = folder / str(front["name"])
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text(f"---\n{json.dumps(front)}\n---\n\n{HOSTILE[2]}\n", encoding="utf-8")
        code = f"{source}export default {{ name: {front['name']!r}, onQuery: () => ({{}}) }};\n"
        (skill / "skill.ts").write_text(code, encoding="utf-8")
    return folder


def chromium() -> str:
    """The program; skips, or fails where it is required, without one."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        reason = f"there is no Chromium ({', '.join(_NAMES)}): install it, for instance with apt-get"
        if os.environ.get("BROWSER_TESTS") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


# Playwright keeps an event loop in this thread for as long as it runs, and other tests begin other loops.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = chromium()
    playwright.expect.set_options(timeout=WAIT_MS)
    with playwright.sync_playwright() as driver:
        args = ["--no-sandbox", "--disable-dev-shm-usage", f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1"]
        running = driver.chromium.launch(executable_path=program, args=args)
        yield running
        running.close()


@dataclass
class Watched:
    """A context whose pages are watched.

    Attributes:
        context: the context.
        url: of the server; the only origin that may be asked.
        others: further origins that may be.
        seen: the messages and the requests to elsewhere.
        expected: parts of messages that a test brings about.

    """

    context: Any
    url: str
    others: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def page(self) -> Any:
        """A new page."""
        page = self.context.new_page()
        page.set_default_timeout(WAIT_MS)
        return page

    def watch(self) -> None:
        self.context.on("console", lambda message: self.seen.append(f"{message.type}: {message.text}"))
        self.context.on("weberror", lambda error: self.seen.append(f"error: {error.error.stack or error.error}"))
        self.context.on("request", self._request)
        self.context.on("dialog", lambda dialog: (self.seen.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def _request(self, request: Any) -> None:
        allowed = (f"{self.url}/", *self.others, "data:", "blob:", "about:")
        if not request.url.startswith(allowed):
            self.seen.append(f"request to {request.url}")

    def check(self) -> None:
        unexpected = [each for each in self.seen if not any(part in each for part in self.expected)]
        assert unexpected == []


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with the customers of verify-kyc, one of them verified with a proof, and calls in its audit."""
    folder = tmp_path_factory.mktemp("explorer")
    cortex = {"tokenFile": str(folder / "tokens.json")}
    plugin = Plugin.open(config(store=str(folder / "store"), proofs={"keys": str(folder / "keys")}, cortex=cortex))
    import_rdf(plugin.graph, CUSTOMERS / "customers.ttl")
    skill = shutil.copytree(CUSTOMERS, folder / "verify-kyc")
    key = key_folder(plugin.config).open_or_create("kyc")
    sign_for_others(skill, load_manifest(skill), key, "kyc.example", datetime.now(UTC))
    plugin.load(skill)
    assert plugin.load(hostile_skills(folder / "hostile"), strict=False) == ["hostile-notes"]
    with served(folder, plugin=plugin) as server:
        for customer in ("customer:boris", "customer:dolores"):  # the rules refuse the second
            arguments = {"subject": customer, "predicate": "isVerified", "object": True, "proofType": "pol"}
            outcome = plugin.call("skill_assert", arguments, skill="verify-kyc", agent="auditor")
            if "tripleHash" in outcome.details:
                sign_assertion(plugin.graph, outcome.details["tripleHash"], key, datetime.now(UTC))
        for name, text in (
            ("read-table", "Reads a table."),
            ("plan-day", HOSTILE[0]),
            ("read-table", "Reads a web page."),
        ):
            needs = ["read-table"] if name == "plan-day" else []
            given = {"name": name, "description": text, "body": HOSTILE[1], "depends_on": needs}
            plugin.registry.register(inline_document(given, "mayros"), actor="ada", origin="human")
        install(plugin.installed, artifact("1.2.0", NETWORK), allow_untrusted=True)
        plugin.registry.outcome(SkillKey("mayros", "read-table"), success=True, actor="auditor")
        plugin.registry.deprecate(SkillKey("mayros", "plan-day"), HOSTILE[4], actor="auditor")
        label = "<http://www.w3.org/2000/01/rdf-schema#label>"
        labels = {"customer:dolores": f"Dolores {'B' * 90}", "hostile": "customer:boris", "hasStatus": "x\u202ey"}
        for subject, text in labels.items():
            plugin.graph.create_triple({"subject": subject, "predicate": label, "object": text})
        for text in HOSTILE:
            plugin.graph.create_triple({"subject": "hostile", "predicate": "note", "object": text})
        plugin.call("skill_graph_query", {"predicate": "hasStatus", "scope": "namespace"}, agent="auditor")
        yield server


@pytest.fixture(scope="module")
def cookie(running: Running) -> dict[str, str]:
    """The cookie of a session that reads."""
    client = of_token(running, running.token("reader", permissions=READER))
    (found,) = client.cookies.jar
    return {"name": found.name, "value": found.value or ""}


@pytest.fixture
def watched(browser: Any, running: Running) -> Iterator[Callable[..., Watched]]:
    """Makes contexts without a session, and checks them at the end."""
    made: list[Watched] = []

    def make(url: str = running.url, *, others: Sequence[str] = (), **settings: Any) -> Watched:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
        one = Watched(context, url, list(others))
        one.watch()
        made.append(one)
        return one

    yield make
    for one in made:
        one.context.close()
        one.check()


@pytest.fixture
def signed_in(watched: Callable[..., Watched], cookie: dict[str, str], running: Running) -> Callable[..., Any]:
    """Makes pages with the session."""

    def make(*, expected: Sequence[str] = (), **settings: Any) -> Any:
        one = watched(**settings)
        one.expected += expected
        one.context.add_cookies([{**cookie, "url": f"{running.url}/explore", "httpOnly": True, "sameSite": "Strict"}])
        return one.page()

    return make
