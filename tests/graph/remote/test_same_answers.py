"""What is read ahead of a server answers as a store on this machine does, in as many requests as it depends on."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import pytest

from cortex_graph import Pattern, open_store
from cortex_graph.stores.http.client import HttpClient
from cortex_skills import Plugin
from cortex_skills.features.proofs.logic.shacl_engine import ENGINE
from cortex_skills.features.registry.documents.document import SkillDocument
from cortex_skills.operations.operation import all_operations
from tests.configs import config
from tests.graph.remote.daily_operations import PERMISSIONS
from tests.plugin.skills import write_skill
from tests.services.oxigraph import oxigraph

SHAPES = """@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix : <urn:cortex:answers:> .
:S a sh:NodeShape ; sh:targetSubjectsOf :price ; sh:property [ sh:path :price ; sh:maxCount 3 ; sh:minCount 1 ] ;
  sh:property [ sh:path :maker ; sh:maxCount 5 ] .
"""
ASSERTIONS = [{"predicate": name, "requireProof": name in ("sealed", "price")} for name in ("note", "sealed", "price")]
_MARK = re.compile(r"(?<= )[0-9a-f]{8}(?=])")  # around a foreign text; new in each answer
_CHANGING = ("freshness", "lastUsedAt", "tokenCost", "tokens")
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"

# What is asked, and how many requests of a server answer it: what depends on the answer of one is in the next.
ASKED: list[tuple[int, str, dict[str, Any]]] = [
    (2, "skill_graph_query", {"subject": "saw"}),
    (3, "skill_graph_query", {"subject": "saw", "prove": "pol"}),  # the page, its proofs, what their rules read
    (2, "skill_graph_query", {"subject": "tool1", "scope": "namespace", "prove": "pol"}),
    (2, "skill_graph_query", {"subject": "none", "scope": "namespace", "prove": "pol"}),  # the index, for its begin
    (3, "skill_verify_assertion", {"subject": "saw", "predicate": "sealed"}),
    (3, "skill_verify_assertion", {"subject": "saw", "predicate": "note"}),  # what was withdrawn may be there again
    (2, "skill_verify_assertion", {"subject": "tool1", "predicate": "maker"}),
    (2, "skill_verify_assertion", {"subject": "saw", "predicate": "sealed", "object": "twice"}),
    (1, "skill_verify_assertion", {"subject": "saw", "predicate": "maker", "object": {"node": "ada"}}),
    (3, "skill_verify_assertion", {"subject": "saw", "predicate": "sealed", "object": "gone"}),  # another form of it
    (2, "graph_describe", {"name": "saw"}),
    (2, "graph_describe", {"name": "shed"}),
    (2, "graph_describe", {"name": "note"}),
    (3, "graph_describe", {"name": "maker", "limit": 3}),  # a predicate of more statements than it shows
    (2, "skill_find", {"query": "sort the nails"}),
    (1, "skill_find", {"query": "nothing like that"}),
    (2, "skill_read", {"name": "sort-nails"}),
    (3, "skill_read", {"limit": 5}),
    (3, "memory_skill_list", {"limit": 5}),
]


@pytest.fixture(scope="module", autouse=True)
def _no_process_is_left() -> Iterator[None]:
    yield
    ENGINE.close()


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Plugin, Plugin, list[str]]]:
    """A plugin with a store in a folder, one with a server of the same quads, and the requests of the latter."""
    folder = tmp_path_factory.mktemp("answers")
    sent: list[str] = []
    send: Callable[..., Any] = HttpClient.send

    def counted(client: HttpClient, method: str, url: str, **given: Any) -> Any:
        if b"artifactsChanged" not in given.get("body", b"") and threading.current_thread() is threading.main_thread():
            sent.append(given.get("body", b"").decode())
        return send(client, method, url, **given)

    skill = write_skill(
        folder / "probe",
        files={"shapes.ttl": SHAPES},
        assertions=ASSERTIONS,
        permissions=PERMISSIONS,
        allowedTools=["*"],
    )
    local = str(folder / "graph")
    with oxigraph("--location", str(folder / "server")) as server, pytest.MonkeyPatch.context() as patch:
        with _plugin(local, skill) as plugin:
            _fill(plugin)
        with closing(open_store(local)) as source, closing(open_store(server.url)) as target:
            for graph in source.graph_names():
                target.bulk_insert(source.quads(Pattern(graph)))
        patch.setattr(HttpClient, "send", counted)
        with _plugin(local, skill) as here, _plugin(server.url, skill) as there:
            yield here, there, sent


def _plugin(store: str, skill: Path) -> Plugin:
    settings = config(
        store=store,
        agentNamespace="answers",
        tools={"profiles": ["operator"]},
        skillSandbox={"maxAssertions": 1_000, "proofTimeoutMs": 60_000},
    )
    plugin = Plugin.open(settings, agent="a1")
    plugin.load(skill)
    return plugin


def _call(plugin: Plugin, tool: str, **arguments: Any) -> Any:
    result = plugin.call(tool, arguments)
    assert not result.is_error, (tool, result.text)
    return result.details


def _fill(plugin: Plugin) -> None:
    operations = all_operations()

    def write(predicate: str, value: object) -> str:
        hash_: str = _call(plugin, "skill_assert", subject="saw", predicate=predicate, object=value)["tripleHash"]
        return hash_

    rows = [
        {"subject": "saw", "predicate": LABEL, "object": "The saw"},
        {"subject": "saw", "predicate": "maker", "object": {"node": "ada"}},
        {"subject": "ada", "predicate": LABEL, "object": {"value": "Ada", "language": "en"}},
        *({"subject": f"tool{n}", "predicate": "kept-in", "object": {"node": "shed"}} for n in range(30)),
        *({"subject": f"tool{n}", "predicate": "maker", "object": {"node": f"m{n % 3}"}} for n in range(12)),
    ]
    plugin.operate(operations["graph.assert"], statements=rows, provenance=None)
    for number in range(4):
        write("note", f"note {number}")
        write("sealed", f"sealed {number}")
    for number in range(2):
        write("price", number)
    for value in ("twice", "gone"):
        _call(plugin, "skill_retract", tripleHash=write("sealed", value))
        _call(plugin, "skill_retract", tripleHash=write("note", value))
    write("sealed", "twice")
    for name in ("sort-nails", "sort-screws", "paint"):
        document = SkillDocument.checked(
            namespace="answers", name=name, description=f"How to {name.replace('-', ' ')}.", body="Do it.\n"
        )
        plugin.operate(operations["registry.register"], document=document)


def _answer(plugin: Plugin, tool: str, arguments: dict[str, Any]) -> tuple[str, object]:
    result = plugin.call(tool, arguments)
    assert not result.is_error, (tool, result.text)
    return _MARK.sub("", result.text), _without_ages(result.details)


def _without_ages(answer: object) -> object:
    """An answer without what changes: the freshness of a skill, its last use, and its length, which has the marks."""
    if isinstance(answer, dict):
        return {key: _without_ages(value) for key, value in answer.items() if key not in _CHANGING}
    return [_without_ages(each) for each in answer] if isinstance(answer, list) else answer


@pytest.mark.parametrize(("requests", "tool", "arguments"), ASKED, ids=[f"{tool} {given}" for _, tool, given in ASKED])
def test_a_server_answers_as_a_folder_does(
    answers: tuple[Plugin, Plugin, list[str]], requests: int, tool: str, arguments: dict[str, Any]
) -> None:
    here, there, sent = answers
    for _ in range(2):
        sent.clear()
        assert _answer(there, tool, arguments) == _answer(here, tool, arguments)
    reads = [unquote_plus(each) for each in sent if each.startswith("query=")]
    assert len(reads) == requests, reads
