"""A statement is corrected, and two names are merged, in one step that keeps what was there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyoxigraph import NamedNode

from cortex_graph import Provenance
from cortex_graph.exceptions import InvalidArguments
from cortex_graph.naming.vocabulary import REVISION_OF
from cortex_graph.store import Pattern
from cortex_skills import CortexError, Plugin
from cortex_skills.features.graph.corrections import correct, merge, preview_correction, preview_merge
from tests.configs import config
from tests.server.proof_cases import Elsewhere
from tests.server.serving import Running, served

BY = Provenance("stock-watch", "1.0.0", "scout")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("corrections")
    cortex = {"tokenFile": str(folder / "tokens.json")}
    journal = {"journal": "on", "folder": str(folder / "journal")}
    with served(folder, plugin=Plugin.open(config(cortex=cortex, audit=journal))) as server:
        yield server


def written(plugin: Plugin, subject: str, predicate: str, value: Any, by: Provenance | None = BY) -> str:
    return str(plugin.graph.create_triple({"subject": subject, "predicate": predicate, "object": value}, by)["id"])


def objects(plugin: Plugin, subject: str, predicate: str) -> list[Any]:
    found = plugin.graph.list_triples({"subject": subject, "predicate": predicate})["triples"]
    return [row["object"] for row in found]


@pytest.mark.parametrize("by", [BY, None], ids=["recorded", "imported"])
def test_a_correction_withdraws_and_asserts_in_one_step(running: Running, by: Provenance | None) -> None:
    plugin, subject = running.plugin, f"part-{by is None}"
    old_id = written(plugin, subject, "inStock", 14, by)
    shown = plugin.operate(preview_correction, triple=old_id, object=12)
    assert (shown["old"]["object"], shown["new"]["object"], shown["created"]) == (14, 12, True)
    assert objects(plugin, subject, "inStock") == [14]  # nothing is changed yet
    done = plugin.operate(correct, by="ada", triple=old_id[:8], object=12, reason="counted again")
    assert objects(plugin, subject, "inStock") == [12]
    new_id, graph = done["new"]["id"], plugin.graph
    (withdrawal,) = graph.withdrawals.of(old_id)
    assert withdrawal.withdrawn["agent"] == "ada"
    assert withdrawal.asserted["agent"] == (None if by is None else "scout")
    assert (graph.provenance_of(new_id) or {})["agent"] == "ada"
    links = graph.store.quads(Pattern(graph.names.provenance_graph, graph.names.record(new_id), REVISION_OF))
    assert [quad.object for quad in links] == graph.withdrawals.records_of(old_id)
    record = next(
        each.record for each in plugin.audit.calls.page(limit=3).calls if each.record.event == "graph.correct"
    )
    assert record.data["object"] == old_id
    assert (record.data["after"], record.data["replacement"]) == ("withdrawn", new_id)
    assert "counted again" in str(record.data)


def test_a_correction_of_nothing_or_to_the_same_changes_nothing(running: Running) -> None:
    plugin = running.plugin
    old_id = written(plugin, "same", "p", 1)
    with pytest.raises(InvalidArguments, match="is as it was"):
        plugin.operate(correct, triple=old_id, object=1)
    plugin.graph.withdraw(old_id, BY)
    with pytest.raises(CortexError) as gone:
        plugin.operate(correct, triple=old_id, object=2)
    assert gone.value.code == "not_found"
    assert objects(plugin, "same", "p") == []


def test_what_is_in_the_graph_already_keeps_its_record(running: Running) -> None:
    plugin = running.plugin
    wrong, right = written(plugin, "wheel", "size", 27), written(plugin, "wheel", "size", 28)
    done = plugin.operate(correct, by="ada", triple=wrong, object=28)
    assert (done["created"], objects(plugin, "wheel", "size")) == (False, [28])
    assert (plugin.graph.provenance_of(right) or {})["agent"] == "scout"


def test_the_rules_of_withdrawing_hold_over_rest(running: Running) -> None:
    old_id = written(running.plugin, "over-rest", "p", 1)
    reader = running.client(running.token("reads", permissions=("read",)))
    address = f"/api/v1/triples/{old_id}/correct"
    assert reader.post(address, json={"object": 2}).json()["code"] == "permission_denied"
    writer = running.client(running.token("writes", permissions=("read", "write")))
    answer = writer.post(address, json={"object": {"node": "other"}})
    assert answer.status_code == 200, answer.text
    assert answer.json()["new"]["object"] == {"node": "mayros:other"}


def test_two_names_are_merged_and_each_statement_that_moves_is_previewed(running: Running) -> None:
    plugin = running.plugin
    for subject, predicate, value in (
        ("ada-l", "born", 1815),
        ("ada-l", "knows", {"node": "ada-l"}),
        ("charles", "knows", {"node": "ada-l"}),
        ("ada-lovelace", "born", 1815),
    ):
        written(plugin, subject, predicate, value)
    shown = plugin.operate(preview_merge, merged="ada-l", kept="ada-lovelace")
    assert len(shown["statements"]) == 3
    assert sorted(each["created"] for each in shown["statements"]) == [False, True, True]
    done = plugin.operate(merge, by="ada", merged="ada-l", kept="ada-lovelace", reason="one person")
    assert [each["new"] for each in done["statements"]] == [each["new"] for each in shown["statements"]]
    kept = {"node": "mayros:ada-lovelace"}
    assert (objects(plugin, "charles", "knows"), objects(plugin, "ada-lovelace", "knows")) == ([kept], [kept])
    same = "<http://www.w3.org/2002/07/owl#sameAs>"
    assert objects(plugin, "ada-l", same) == [kept]
    assert plugin.graph.store.count(Pattern(plugin.graph.names.graph, NamedNode("urn:cortex:mayros:ada-l"))) == 1
    with pytest.raises(CortexError) as again:
        plugin.operate(merge, merged="ada-l", kept="ada-lovelace")
    assert again.value.code == "not_found"
    with pytest.raises(CortexError) as itself:
        plugin.operate(merge, merged="ada-lovelace", kept="mayros:ada-lovelace")
    assert itself.value.code == "invalid_arguments"


def test_a_proved_statement_of_others_is_neither_corrected_nor_merged(running: Running, tmp_path: Any) -> None:
    elsewhere = Elsewhere("mayros", tmp_path)
    graph = running.plugin.graph
    old_id = written(running.plugin, "alice", "isVerified", True)
    writer = running.client(running.token("writes", permissions=("read", "write")))
    sent = writer.post("/api/v1/proofs", json={"proof_type": "pol", "proof_data": elsewhere.pol()})
    assert sent.status_code == 201, sent.text
    assert graph.proofs.has_any(old_id)
    for address, body in (
        (f"/api/v1/triples/{old_id}/correct", {"object": False}),
        ("/api/v1/resources/merge", {"merged": "alice", "kept": "bob"}),
    ):
        assert writer.post(address, json=body).json()["code"] == "permission_denied"
    assert objects(running.plugin, "alice", "isVerified") == [True]
