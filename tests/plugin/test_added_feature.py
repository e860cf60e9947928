"""A feature of another distribution: what it declares once is there through every interface.

The files are those that CONTRIBUTING.md names, and nothing else is edited.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.plugin.distribution import install
from tests.plugin.skills import write_skill

FEATURE = """
from cortex_skills.feature import Feature

FEATURE = Feature(
    "tally",
    operations=("acme_tally.tally",),
    tools=("acme_tally.tools",),
    default_tools=("graph_tally",),
    rest=("acme_tally.rest",),
    pages=("acme_tally.page",),
    commands={"Inspect": {"graph tally": "acme_tally.tally:tally"}},
    settings={"tally": "acme_tally.tally:TallySettings"},
    members=("acme_tally.members:TallyMembers",),
)
"""
OPERATION = '''
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Len
from typing_extensions import TypedDict

from cortex_graph import NamespacedGraph
from cortex_skills.config.setting import setting
from cortex_skills.operations.operation import Described, OperationCall, operation


@dataclass(frozen=True, slots=True)
class TallySettings:
    """How statements are counted."""

    most: int = setting(10, "The number at which counting ends: 1 to 1000.", minimum=1, maximum=1000)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is counted."""

    subject: Annotated[str, Len(1, 100), Described("Only statements of this subject.")] | None = None


class TallyDocument(TypedDict):
    """How many statements there are; without `exact` at least so many."""

    count: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Tally:
    """A number."""

    count: int
    is_exact: bool

    def text(self, policy: object = None) -> str:
        """The number in words."""
        return f"{self.count}{'' if self.is_exact else ' or more'} statements"

    def document(self) -> TallyDocument:
        """The number as JSON."""
        return {"count": self.count, "exact": self.is_exact}


@operation("graph.tally", effect="reads", permission="read")
def tally(call: OperationCall, given: Wanted) -> Tally:
    """Count the statements of the namespace, or of one subject."""
    return tally_of(call.host.graph, given.subject, call.host.config.section(TallySettings).most)


def tally_of(graph: NamespacedGraph, subject: str | None, most: int) -> Tally:
    """Count up to a number."""
    filter_ = {"limit": 1} if subject is None else {"subject": subject, "limit": 1}
    total = graph.list_triples(filter_)["total"]
    return Tally(min(total, most), total <= most)
'''
TOOLS = """
from cortex_skills.tools.operation_tools import operation_tool

TOOLS = (operation_tool("acme_tally.tally:tally", "graph_tally", "How many statements the graph has."),)
"""
REST = """
from acme_tally.tally import tally
from cortex_skills.doors.rest.operations import Operations

OPERATIONS = Operations()
OPERATIONS.serve("GET", "/api/v1/graph/tally", tally)
"""
PAGE = """
from acme_tally.tally import tally
from cortex_skills.doors.explorer.page import ExplorerPage, PageCall


def view(call: PageCall) -> object:
    return call.api().operate(tally)


PAGE = ExplorerPage(
    "/explore/{namespace}/tally", "tally", "tally.html", view, label="Tally", section="See", keys="g y", place=500
)
"""
TEMPLATE = """{% extends "base.html" %}
{% block title %}Tally{% endblock %}
{% block main %}<h1>Tally</h1><p>{{ view.count }} counted</p>{% endblock %}
"""
MEMBERS = """
from acme_tally.tally import tally_of
from cortex_skills.plugin import Plugin


class TallyMembers(Plugin):
    def tally(self, subject=None):
        return tally_of(self.graph, subject, 1000).count
"""
PROGRAM = """
import json, sys

sys.path.insert(0, sys.argv[1])

from click.testing import CliRunner
from starlette.testclient import TestClient
from cortex_skills import Config, Plugin
from cortex_skills.doors.cli.app import program
from cortex_skills.doors.server.app import create_app
from cortex_skills.operations.operation import all_operations

found = {}
settings = dict(verification={"requireSignature": False}, tally={"most": 2}, store=sys.argv[3])
with Plugin.open(Config(**settings, cortex={"authToken": "t" * 40})) as plugin:
    rows = [{"subject": f"s{n % 2}", "predicate": "p", "object": n} for n in range(3)]
    plugin.graph.create_triples(rows)
    plugin.load(sys.argv[2])
    found["operation"] = all_operations()["graph.tally"].summary
    found["member"] = plugin.tally("s0")
    found["python"] = plugin.operate(all_operations()["graph.tally"]).document()
    called = plugin.call("graph_tally", {"subject": "s1"}, skill="alone")
    found["tool"] = [called.text, called.details["exact"], called.code]
    found["wrong"] = plugin.call("graph_tally", {"subjekt": "s1"}, skill="alone").code
    (listed,) = [tool for tool in plugin.tools() if tool["name"] == "graph_tally"]
    found["schema"] = listed["inputSchema"]["properties"]
    anonymous = TestClient(create_app(plugin), base_url="http://127.0.0.1")
    found["anonymous"] = anonymous.get("/api/v1/graph/tally").status_code
    with TestClient(create_app(plugin), base_url="http://127.0.0.1", headers={"Authorization": "t" * 40}) as client:
        found["rest"] = client.get("/api/v1/graph/tally").json()
        found["refused"] = client.get("/api/v1/graph/tally", params={"subject": "s" * 101}).json()["code"]
        openapi = client.get("/openapi.json").json()["paths"]["/api/v1/graph/tally"]["get"]
        found["openapi"] = [openapi["operationId"], [each["name"] for each in openapi["parameters"]]]
        page = client.get("/explore/mayros/tally", headers={"Accept": "text/html"})
        found["page"] = [page.status_code, "2 counted" in page.text, "/explore/mayros/tally" in page.text]
run = CliRunner().invoke
words = ["graph", "tally", "--store", sys.argv[3]]
found["command"] = json.loads(run(program, [*words, "--json"]).stdout)
found["text"] = run(program, [*words, "--subject", "s0"]).stdout.strip()
found["setting"] = Config.load(env={"CORTEX_TALLY__MOST": "5000"}).to_json()["tally"]
print(json.dumps(found))
"""


def test_a_feature_of_another_distribution_is_there_through_every_interface(tmp_path: Path) -> None:
    files = {
        "feature": FEATURE,
        "tally": OPERATION,
        "tools": TOOLS,
        "rest": REST,
        "page": PAGE,
        "members": MEMBERS,
        "__init__": "",
    }
    texts = {f"acme_tally/{name}.py": text for name, text in files.items()} | {"acme_tally/tally.html": TEMPLATE}
    point = {"cortex_skills.features": {"tally": "acme_tally.feature:FEATURE"}}
    install(tmp_path / "site", "acme-tally", point, texts)
    skill = write_skill(tmp_path / "alone", code="export default { name: 'alone' };")
    words = [sys.executable, "-c", PROGRAM, str(tmp_path / "site"), str(skill), str(tmp_path / "store")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "operation": "Count the statements of the namespace, or of one subject.",
        "member": 2,
        "python": {"count": 2, "exact": False},
        "tool": ["1 statements", True, None],
        "wrong": "invalid_arguments",
        "schema": {
            "subject": {
                "type": "string",
                "minLength": 1,
                "maxLength": 100,
                "description": "Only statements of this subject.",
            }
        },
        "anonymous": 401,
        "rest": {"count": 2, "exact": False},
        "refused": "invalid_arguments",
        "openapi": ["graphTally", ["namespace", "subject"]],
        "page": [200, True, True],
        "command": {"count": 3, "exact": True},
        "text": "2 statements",
        "setting": {"most": 1000},
    }
