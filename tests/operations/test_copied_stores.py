"""A store that is copied to a server and back has all that is kept for a namespace, and it works there."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyoxigraph import Literal, Quad

from cortex_graph import GraphStore, GraphUnavailable, NamespacedGraph, open_store
from cortex_graph.naming.names import _BESIDE, Names
from cortex_graph.store import Pattern
from cortex_skills import CortexError
from cortex_skills.doors.cli.app import program
from cortex_skills.feature import functions
from cortex_skills.features.actions.action_request import ActionRequest
from cortex_skills.features.actions.approvals.queue import ApprovalQueue
from cortex_skills.features.actions.approvals.rule_book import RULE, RULE_END, USE_OF
from cortex_skills.features.actions.trust_store import TRUST_LEVEL
from cortex_skills.features.artifacts.installed.installed_artifacts import InstalledArtifacts
from cortex_skills.features.artifacts.installed.installed_index import InstalledIndex
from cortex_skills.features.artifacts.package import write_archive
from cortex_skills.features.graph.copied_parts import StorePair, check_no_conflict, compare_parts, copy_parts
from cortex_skills.features.registry.documents.document import SkillDocument, SkillResource
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.keys import Key
from cortex_skills.signatures import Publisher
from tests.artifacts.samples import KEY, MANIFEST, payload, signed
from tests.configs import config
from tests.installed.samples import artifact, install
from tests.operations.test_every_command import Home, home_in
from tests.services.oxigraph import oxigraph
from tests.services.virtuoso import Unavailable, virtuoso
from tests.wasm.modules import ECHO, component

ROOT = Path(__file__).parents[2]
HOST = "0" * 32
SINCE = "2026-01-01T00:00:00Z"
PLACE = f"host:{HOST}"
QUERY = "SELECT ?s { ?s <urn:cortex:mayros:price> 3 }"
TURTLE = "@prefix pv: <http://example.org/vocab/> . <urn:cortex:mayros:nails> <urn:cortex:mayros:price> 3 ; a pv:Part ."


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with oxigraph() as running:
        yield running.url


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    yield from home_in(tmp_path)


def copy(home: Home, source: object, target: object, *options: str) -> dict[str, Any]:
    return dict(home.run("graph", "copy", "--from", source, "--to", target, *options))


def refusal(home: Home, *words: object) -> str:
    """The code of the error of a command."""
    options = ("--config", str(home.folder / "cortex.yaml"), "--json")
    result = CliRunner().invoke(program, [*map(str, words), *options])
    assert result.exit_code == 1, result.output
    return str(json.loads(result.stderr)["code"])


def parts(document: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """The missing triples and artifacts of each part."""
    return {each["part"]: (each["missing"], each["files"]) for each in document["parts"]}


def filled(home: Home) -> tuple[str, str]:
    """Fill the store; returns the name of a registered skill, and the id of a request that waits."""
    skill, request = home.skill(), home.request()
    file = home.new(".ttl")
    file.write_text(TURTLE)
    home.run("graph", "import", file)
    home.run("graph", "save-query", "parts", QUERY)
    path = home.new(".palyra-skill")
    path.write_bytes(write_archive(signed(payload(MANIFEST, {"modules/echo.wasm": component(ECHO)}))))
    home.run("install", path, "--grant-all")
    home.run("trust-level", "set", "bounded_auto")
    return skill, request


def works(home: Home, store: object, skill: str) -> None:
    """Each part of a copy does what it did."""
    at = ("--store", store)
    assert home.run("call", "acme.echo", '{"text": "hi"}', *at)["details"]["outputs"] == {"text": "hi"}
    assert skill in [each["name"] for each in home.run("registry", "list", *at)]
    home.run("registry", "events", "verify", *at)
    assert home.run("graph", "run-query", "parts", *at)["rows"]
    assert home.run("memory", "recall", "Fact", *at)["found"][0][0]["text"].startswith("Fact")
    assert home.run("trust-level", "show", *at)["level"] == "bounded_auto"
    with closing(open_store(str(store))) as opened:
        assert NamespacedGraph(opened, "mayros").prefixes.kept()["pv"] == "http://example.org/vocab/"


@pytest.mark.extended
def test_all_that_is_kept_for_a_namespace_works_on_a_server_and_in_a_folder_again(home: Home, server: str) -> None:
    source, back = home.folder / "graph", home.new()
    skill, request = filled(home)
    preview = parts(copy(home, source, server, "--preview"))
    with closing(open_store(server)) as store:
        assert store.graph_names() == []
    assert parts(copy(home, source, server)) == preview
    assert {name: files for name, (_, files) in preview.items()} == {
        "saved queries": 0,
        "registered skills": 0,
        "requests for approval": 0,
        "trust level": 0,
        "installed artifacts": 1,
    }
    assert all(missing for missing, _ in preview.values())
    assert set(parts(copy(home, source, server)).values()) == {(0, 0)}
    for name in ("graph", "graph.artifacts"):
        shutil.move(home.folder / name, home.folder / f"away-{name}")
    works(home, server, skill)
    assert parts(copy(home, server, back)).keys() == preview.keys()
    works(home, back, skill)
    assert list(back.with_name(f"{back.name}.artifacts").rglob("*.palyra-skill"))
    approved = ("approvals", "approve", request, "--store", back, "--skills", home.folder / "operator")
    assert home.run(*approved)["state"] == "done"
    assert len(list((home.folder / "work" / "out").iterdir())) == 1
    assert refusal(home, "graph", "copy", "--from", back, "--to", server) == "state_conflict"
    assert parts(copy(home, back, server, "--only-statements")) == {}
    copy(home, back, server, "--replace")
    assert home.run("approvals", "show", request, "--store", server)["state"] == "done"


@pytest.mark.extended
@pytest.mark.parametrize("step", ["statements", "bytes", "part"])
def test_a_copy_that_is_killed_is_continued(home: Home, server: str, step: str) -> None:
    skill, _ = filled(home)
    with closing(open_store(server)) as store:
        for graph in store.graph_names():
            store.apply(remove=store.quads(Pattern(graph)))
    words = ("graph", "copy", "--from", home.folder / "graph", "--to", server, "--config", home.folder / "cortex.yaml")
    command = [sys.executable, "-m", "tests.operations.killed_command", step, *map(str, words)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == step
        process.kill()
    copy(home, home.folder / "graph", server)
    for name in ("graph", "graph.artifacts"):
        shutil.move(home.folder / name, home.folder / f"away-{name}")
    works(home, server, skill)


@pytest.mark.extended
def test_all_parts_come_back_from_virtuoso_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("DATA", "CONFIG"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))
    monkeypatch.setenv("TEST_VIRTUOSO_PASSWORD", "dba")
    auth = {"type": "digest", "user": "dba", "password": "${TEST_VIRTUOSO_PASSWORD}"}
    names, here = Names("moved"), [config(artifacts={"folder": str(tmp_path / name)}) for name in "abc"]
    with ExitStack() as stack:
        try:
            server = stack.enter_context(virtuoso(tmp_path))
        except Unavailable as reason:
            pytest.skip(str(reason))
        there = {"query": f"{server.url}/sparql-auth", "auth": auth}
        source, target, back = (
            stack.enter_context(closing(open_store(each))) for each in ("memory:", there, "memory:")
        )
        queue = ApprovalQueue(source, names)
        queue.resolve(queue.add(request("é\u2028 'q' \"")).id, approved=False, by="ada", reason="nö\nline")
        document = SkillDocument.checked(
            namespace="moved",
            name="odd",
            description="dé\ttab",
            body='\r\n\\ "é\U0001f600' + "x" * 20_000,
            resources=(SkillResource("a", bytes(range(256)) * 40),),
        )
        registered(source, names).register(document, actor="ada", origin="learned")
        installed = InstalledArtifacts(here[0], source, names)
        installed.trust_file.change(lambda state: state.with_publisher(Publisher("acme", KEY.did, "listed", SINCE)))
        install(installed, artifact())
        copy_parts(StorePair(source, target, here[0], here[1]), names, replace=False)
        copy_parts(StorePair(target, back, here[1], here[2]), names, replace=False)
        for store, settings in ((target, here[1]), (back, here[2])):
            found = compare_parts(StorePair(source, store, here[0], settings), names)
            assert [(each.missing, each.other, each.files) for each in found] == [(0, 0, 0)] * 3
            registry = registered(store, names)
            (record,) = registry.all_records()
            assert registry.verify_events() is None
            assert registry.document(registry.current(record.key)) == document
            assert InstalledArtifacts(settings, store, names).open("acme.echo_http").installed.status == "active"


def registered(store: GraphStore, names: Names) -> SkillRegistry:
    return SkillRegistry(store, names, lambda: Key("local", b"\1" * 32))


def test_each_graph_that_is_kept_beside_a_namespace_is_a_part_or_is_made_again() -> None:
    names = Names("mayros")
    named = {part.graph(names).value.rpartition("/")[2] for part in functions("copies")}
    assert named == _BESIDE - {"provenance", "index", "artifact-bytes"}


def test_requests_that_are_under_way_and_turns_of_an_audit_stay_where_they_are() -> None:
    names, (source, target) = Names("mayros"), (open_store("memory:"), open_store("memory:"))
    pair = StorePair(source, target, config(), config())
    queue = ApprovalQueue(source, names)
    waits, runs, runs_elsewhere, rejected = (queue.add(request(text)) for text in ("a", "b", "c", "d"))
    queue.start(queue.resolve(runs.id, approved=True, by="ada"))
    queue.resolve(runs_elsewhere.id, approved=True, by="ada", runs_at=PLACE)
    queue.resolve(rejected.id, approved=False, by="ada")
    rules = [names.beside("approval-rule", letter * 32) for letter in "ab"]
    uses = [names.beside("approval-rule", letter * 32, "1") for letter in "ab"]
    graph = names.approvals_graph
    source.apply([Quad(each, RULE, Literal("{}"), graph) for each in rules])
    source.apply([Quad(use, USE_OF, rule, graph) for use, rule in zip(uses, rules, strict=True)])
    source.apply([Quad(rules[1], RULE_END, Literal("{}"), graph)])
    assert InstalledIndex(source, names).take_audit(timedelta(hours=6)) is not None
    notes = [note for part in compare_parts(pair, names) for note in part.notes]
    assert sorted(notes) == sorted(
        [
            f"{runs.id} is running, and ends there",
            f"{runs_elsewhere.id} is approved, and ends there",
            f"the rule {'a' * 32} holds there only",
        ]
    )
    assert InstalledIndex(target, names).take_audit(timedelta(hours=6)) is not None
    copy_parts(pair, names, replace=False)
    copied = {record.id: record.state(queue.now()) for record in ApprovalQueue(target, names).read_all()}
    assert copied == {waits.id: "pending", rejected.id: "rejected"}
    assert ApprovalQueue(target, names).to_run(PLACE) == ()
    copied_rules = {quad.subject for each in (RULE, USE_OF) for quad in target.quads(Pattern(graph, None, each))}
    assert copied_rules == {rules[1], uses[1]}


def test_what_the_target_has_of_a_part_is_kept_unless_it_is_to_be_replaced() -> None:
    names, (source, target) = Names("mayros"), (open_store("memory:"), open_store("memory:"))
    pair = StorePair(source, target, config(), config())
    for store, level in ((source, "observe"), (target, "bounded_auto")):
        store.apply([Quad(names.trust_graph, TRUST_LEVEL, Literal(level), names.trust_graph)])
    found = list(compare_parts(pair, names))
    assert [(each.name, each.triples, each.missing, each.other) for each in found] == [("trust level", 1, 1, 1)]
    with pytest.raises(CortexError, match="trust level of mayros") as caught:
        check_no_conflict(found)
    assert caught.value.code == "state_conflict"
    with pytest.raises(GraphUnavailable, match="other triples"):
        copy_parts(pair, names, replace=False)
    assert level_of(target) == ["bounded_auto"]
    copy_parts(pair, names, replace=True)
    assert level_of(target) == ["observe"]


def level_of(store: GraphStore) -> list[str]:
    return [quad.object.value for quad in store.quads(Pattern(Names("mayros").trust_graph))]


def request(text: str) -> ActionRequest:
    return ActionRequest("fs_write", "1", {"text": text}, f"agent-{text}", "mayros", "s", "medium", "r", "p", host=HOST)
