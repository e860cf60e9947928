"""An assertion with its record and its proof: all of it, or nothing; and what becomes of the proof afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from datetime import UTC, datetime
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Quad

from cortex_graph import GraphBusy, GraphUnavailable, NamespacedGraph, open_store
from cortex_graph.assertion_records.proofs import StoredProof
from cortex_graph.store import Pattern
from cortex_graph.stores.embedded import OxigraphStore
from cortex_skills import Config, CortexError
from cortex_skills.features.proofs.kinds import CheckContext, check_proof
from cortex_skills.features.proofs.logic.document import LogicProof, canonical, read_document, signed
from cortex_skills.features.proofs.logic.evaluate import CORE
from cortex_skills.features.proofs.logic.premises import GraphRead, RecordingReader, premises_of
from cortex_skills.features.proofs.logic.prover import Prover
from cortex_skills.features.proofs.logic.verify import verify
from cortex_skills.features.proofs.verdict import Verdict
from cortex_skills.skill_folder.rule_set import RuleSet
from tests.proofs.logic.conftest import ORIGIN, config_with_time, shapes

A1 = {"subject": "a", "predicate": "p", "object": 1}
ONE = shapes(":S a sh:NodeShape ; sh:targetSubjectsOf :p ; sh:property [ sh:path :p ; sh:maxCount 1 ] .")
# `p` needs a `status`, which is the premise.
STATUS = shapes(":S a sh:NodeShape ; sh:targetSubjectsOf :p ; sh:property [ sh:path :status ; sh:minCount 1 ] .")


def everything(graph: NamespacedGraph) -> set[Quad]:
    return {quad for name in graph.store.graph_names() for quad in graph.store.quads(Pattern(name))}


def checked(graph: NamespacedGraph, proof_id: str, **how: Any) -> dict[str, Verdict]:
    proof = graph.proofs.get(proof_id)
    assert proof is not None
    return {check.part: check.verdict for check in verify(proof, graph, timeout_s=60, **how)}


HOLDS = dict.fromkeys(("signature", "statement", "premises", "logic"), Verdict.VERIFIED)


def test_an_assertion_is_written_with_its_record_and_its_proof(graph: NamespacedGraph, prover: Prover) -> None:
    proved = prover.assert_proved(A1, ORIGIN, ONE)
    triple_id = proved.triple["id"]
    assert (proved.triple["created"], proved.added) == (True, True)
    record = graph.provenance_of(triple_id)
    assert record is not None
    assert (record["skill"], record["agent"]) == ("probe", "bob")
    assert graph.proofs_of(triple_id) == [graph.proofs.iri(proved.proof).value]
    assert graph.proofs.rules(ONE.digest) == ONE.text
    assert checked(graph, proved.proof) == HOLDS


def test_a_proof_states_its_premises(graph: NamespacedGraph, prover: Prover) -> None:
    status = graph.create_triple({"subject": "a", "predicate": "status", "object": "fine"})["id"]
    graph.create_triple({"subject": "a", "predicate": "unrelated", "object": "x"})
    proof = graph.proofs.get(prover.assert_proved(A1, ORIGIN, STATUS).proof)
    assert proof is not None
    assert (proof.premises, proof.rests_on_graph, proof.rules) == ((status,), False, (STATUS.digest,))
    fields = json.loads(proof.content)
    assert fields["statement"] == (
        '<urn:cortex:mayros:a> <urn:cortex:mayros:p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> '
        "<urn:cortex:mayros> ."
    )
    assert (fields["skill"], fields["skillVersion"], fields["verdict"]) == ("probe", "1.2.3", "verified")
    assert [(rules["name"], rules["version"], rules["digest"]) for rules in fields["rules"]] == [
        tuple(CORE),
        ("skill:probe", "1.2.3", STATUS.digest),
    ]
    assert fields["premises"]["reads"] == [
        {"pattern": ["<urn:cortex:mayros:a>", "<urn:cortex:mayros:p>", ""], "triples": []},
        {"pattern": ["<urn:cortex:mayros:a>", "<urn:cortex:mayros:status>", ""], "triples": [status]},
    ]
    assert graph.proofs.resting_on(status) == [proof.id]


def test_a_statement_that_breaks_the_rules_is_not_written(graph: NamespacedGraph, prover: Prover) -> None:
    prover.assert_proved(A1, ORIGIN, ONE)
    before = everything(graph)
    with pytest.raises(CortexError, match="nothing was written") as refused:
        prover.assert_proved({**A1, "object": 2}, ORIGIN, ONE)
    assert refused.value.code == "proof_failed"
    (finding,) = refused.value.details["findings"]
    assert (finding["rules"], finding["rule"]) == ("skill:probe", "MaxCountConstraintComponent")
    assert everything(graph) == before


def test_a_statement_is_not_written_when_the_shapes_time_out(graph: NamespacedGraph, tmp_path: Path) -> None:
    config = Config(proofs={"keys": str(tmp_path / "keys")}, skill_sandbox={"proofTimeoutMs": 1000})
    slow = shapes(':S a sh:NodeShape ; sh:targetNode :a ; sh:property [ sh:path :p ; sh:pattern "^(a+)+$" ] .')
    with pytest.raises(CortexError) as refused:
        Prover(config, graph).assert_proved({**A1, "object": "a" * 50 + "!"}, ORIGIN, slow)
    assert refused.value.code == "proof_timeout"
    assert everything(graph) == set()


def test_asserting_again_keeps_the_proof(graph: NamespacedGraph, prover: Prover) -> None:
    first = prover.assert_proved(A1, ORIGIN, ONE)
    before = everything(graph)
    again = prover.assert_proved(A1, ORIGIN, ONE)
    assert (again.triple["created"], again.added, again.proof) == (False, False, first.proof)
    assert everything(graph) == before


def test_a_proof_by_another_key_is_not_reused(prover: Prover, tmp_path: Path) -> None:
    theirs = Prover(config_with_time(keys=str(tmp_path / "others")), prover.graph).assert_proved(A1, ORIGIN, ONE)
    ours = prover.assert_proved(A1, ORIGIN, ONE)
    assert (ours.added, ours.triple["created"]) == (True, False)
    found = prover.graph.proofs.of(ours.triple["id"])
    assert {proof.id for proof in found} == {ours.proof, theirs.proof}
    assert prover.assert_proved(A1, ORIGIN, ONE).proof == ours.proof


def test_an_existing_statement_gets_a_proof_and_keeps_its_record(graph: NamespacedGraph, prover: Prover) -> None:
    triple_id = graph.create_triple(A1, ORIGIN)["id"]
    record = graph.provenance_of(triple_id)
    proved = prover.assert_proved(A1, ORIGIN, None)
    assert (proved.triple["created"], proved.added) == (False, True)
    assert graph.provenance_of(triple_id) == record
    assert checked(graph, proved.proof) == {**HOLDS, "logic": Verdict.WELL_FORMED}


def test_an_imported_statement_gets_a_record_with_its_proof(graph: NamespacedGraph, prover: Prover) -> None:
    triple_id = graph.create_triple(A1)["id"]
    prover.assert_proved(A1, ORIGIN, None)
    record = graph.provenance_of(triple_id)
    assert record is not None
    assert record["skill"] == "probe"


def test_a_removed_premise_refutes_the_proof(graph: NamespacedGraph, prover: Prover) -> None:
    status = graph.create_triple({"subject": "a", "predicate": "status", "object": "fine"})["id"]
    proved = prover.assert_proved(A1, ORIGIN, STATUS)
    assert checked(graph, proved.proof) == HOLDS
    assert graph.delete_triple(status)
    assert checked(graph, proved.proof) == {**HOLDS, "premises": Verdict.REFUTED, "logic": Verdict.REFUTED}
    quick = checked(graph, proved.proof, replay=False)
    assert quick == {**HOLDS, "premises": Verdict.REFUTED, "logic": Verdict.NOT_CHECKED}


def test_another_premise_does_not_restore_a_proof_but_a_new_proof_does(graph: NamespacedGraph, prover: Prover) -> None:
    status = graph.create_triple({"subject": "a", "predicate": "status", "object": "fine"})["id"]
    proved = prover.assert_proved(A1, ORIGIN, STATUS)
    graph.delete_triple(status)
    graph.create_triple({"subject": "a", "predicate": "status", "object": "better"})
    assert checked(graph, proved.proof) == {**HOLDS, "premises": Verdict.REFUTED}
    again = prover.assert_proved(A1, ORIGIN, STATUS)
    assert (again.triple["created"], again.added) == (False, True)
    assert checked(graph, again.proof) == HOLDS
    assert [proof.id for proof in graph.proofs.of(again.triple["id"])] == [again.proof]  # the other has been outlived
    assert graph.proofs_of(again.triple["id"]) == [graph.proofs.iri(again.proof).value]


def test_an_added_triple_is_reported_and_the_rules_decide(graph: NamespacedGraph, prover: Prover) -> None:
    graph.create_triple({"subject": "a", "predicate": "status", "object": "fine"})
    harmless = prover.assert_proved(A1, ORIGIN, STATUS)
    single = prover.assert_proved({**A1, "subject": "b"}, ORIGIN, ONE)
    graph.create_triple({"subject": "a", "predicate": "status", "object": "better"})
    graph.create_triple({"subject": "b", "predicate": "p", "object": 2})
    assert checked(graph, harmless.proof) == HOLDS
    assert checked(graph, single.proof) == {**HOLDS, "logic": Verdict.REFUTED}


def test_a_removed_statement_removes_its_proof(graph: NamespacedGraph, prover: Prover) -> None:
    proved = prover.assert_proved(A1, ORIGIN, None)
    kept = graph.proofs.get(proved.proof)
    assert kept is not None
    graph.delete_triple(proved.triple["id"])
    assert graph.proofs.get(proved.proof) is None
    found = {check.part: check.verdict for check in verify(kept, graph)}
    assert found == {**HOLDS, "logic": Verdict.WELL_FORMED, "statement": Verdict.REFUTED}


def test_rules_that_read_much_depend_on_the_whole_graph(graph: NamespacedGraph, prover: Prover) -> None:
    graph.create_triples([{"subject": f"n{number}", "predicate": "q", "object": number} for number in range(500)])
    look = "SELECT $this { ?y <urn:cortex:mayros:q> ?z FILTER(?z < 0) }"
    wide = shapes(f':S a sh:NodeShape ; sh:targetNode :a ; sh:sparql [ sh:select "{look}" ] .')
    proved = prover.assert_proved(A1, ORIGIN, wide)
    proof = graph.proofs.get(proved.proof)
    assert proof is not None
    assert (proof.premises, proof.rests_on_graph) == ((), True)
    assert checked(graph, proved.proof) == HOLDS
    assert checked(graph, proved.proof, replay=False)["premises"] is Verdict.NOT_CHECKED
    graph.create_triple({"subject": "n", "predicate": "q", "object": 7})
    assert checked(graph, proved.proof) == {**HOLDS, "premises": Verdict.NOT_CHECKED}
    graph.create_triple({"subject": "n", "predicate": "q", "object": -7})
    assert checked(graph, proved.proof)["logic"] is Verdict.REFUTED


def test_a_proof_is_replayed_with_the_rules_that_it_names(graph: NamespacedGraph, prover: Prover) -> None:
    proved = prover.assert_proved(A1, ORIGIN, ONE)
    proof = graph.proofs.get(proved.proof)
    assert proof is not None
    rules = graph.proofs.rule_quads([ONE.text])
    graph.store.apply(remove=rules)
    assert checked(graph, proved.proof) == {**HOLDS, "logic": Verdict.NOT_CHECKED}
    assert checked(graph, proved.proof, rules={ONE.digest: STATUS.text})["logic"] is Verdict.NOT_CHECKED
    assert checked(graph, proved.proof, rules={ONE.digest: ONE.text}) == HOLDS


def test_a_proof_by_other_core_rules_is_not_evaluated(plain: NamespacedGraph, config: Config) -> None:
    prover = Prover(config, plain)
    document = read_document(plain.proofs.get(prover.assert_proved(A1, ORIGIN, None).proof).content)  # type: ignore[union-attr]
    other = json.loads(document.content.replace(CORE.digest, "0" * 64))
    found = {check.part: check for check in verify(LogicProof(canonical(other), other), plain)}
    assert found["logic"].verdict is Verdict.NOT_CHECKED
    assert "not those of this version" in found["logic"].reasons[0]


def test_without_a_graph_only_the_signature_is_checked(graph: NamespacedGraph, prover: Prover) -> None:
    proof = graph.proofs.get(prover.assert_proved(A1, ORIGIN, ONE).proof)
    assert proof is not None
    expected = dict.fromkeys(HOLDS, Verdict.NOT_CHECKED) | {"signature": Verdict.VERIFIED}
    assert {check.part: check.verdict for check in verify(proof, None)} == expected
    other = NamespacedGraph(graph.store, "other")
    assert {check.part: check.verdict for check in verify(proof, other)} == expected


def test_a_write_between_evaluation_and_write_is_detected(
    graph: NamespacedGraph, prover: Prover, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    judge = prover.evaluate

    def judged(*args: Any, **how: Any) -> Any:
        answer = judge(*args, **how)
        if not looks:  # another client writes just after the first evaluation
            graph.create_triple({"subject": "a", "predicate": "p", "object": 2})
        looks.append(1)
        return answer

    monkeypatch.setattr(prover, "evaluate", judged)
    with pytest.raises(CortexError) as refused:
        prover.assert_proved(A1, ORIGIN, ONE)
    assert (refused.value.code, len(looks)) == ("proof_failed", 2)
    assert graph.count() == 1


def test_a_graph_that_always_changes_is_busy(
    graph: NamespacedGraph, prover: Prover, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge, numbers = prover.evaluate, iter(range(100))

    def judged(*args: Any, **how: Any) -> Any:
        answer = judge(*args, **how)
        graph.create_triple({"subject": "b", "predicate": "q", "object": next(numbers)})
        return answer

    monkeypatch.setattr(prover, "evaluate", judged)
    with pytest.raises(GraphBusy, match="nothing was written"):
        prover.assert_proved(A1, ORIGIN, ONE)
    assert graph.count({"subject": "a"}) == 0


def test_of_two_writers_who_break_a_rule_together_one_is_refused(graph: NamespacedGraph, prover: Prover) -> None:
    said: list[str] = []

    def write(number: int) -> None:
        try:
            prover.assert_proved({**A1, "object": number}, ORIGIN, ONE)
            said.append("written")
        except CortexError as refused:
            said.append(refused.code)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(said) == ["proof_failed"] * 3 + ["written"]
    assert graph.count({"subject": "a", "predicate": "p"}) == 1


class Failing(OxigraphStore):
    """A store whose writes fail on demand."""

    fails = False

    def _change(self, *args: Any, **how: Any) -> None:
        if self.fails:
            raise OSError("No space left on device")
        super()._change(*args, **how)


@pytest.mark.parametrize("rules", [None, STATUS], ids=["core", "shapes"])
def test_a_store_that_cannot_write_leaves_nothing(config: Config, rules: RuleSet | None) -> None:
    store = Failing()
    graph = NamespacedGraph(store, "mayros")
    graph.create_triple({"subject": "a", "predicate": "status", "object": "fine"})
    before = everything(graph)
    prover = Prover(config, graph)
    store.fails = True
    with pytest.raises(GraphUnavailable):
        prover.assert_proved(A1, ORIGIN, rules)
    store.fails = False
    assert everything(graph) == before
    assert prover.assert_proved(A1, ORIGIN, rules).added
    store.close()


KILLED = """
import sys
from cortex_graph import NamespacedGraph, open_store
from cortex_skills import Config
from cortex_skills.features.proofs.logic.premises import RecordingReader, GraphRead, premises_of
from cortex_skills.features.proofs.logic.prover import Prover
from tests.proofs.logic.conftest import ORIGIN
folder, keys = sys.argv[1:]
prover = Prover(Config(proofs={"keys": keys}), NamespacedGraph(open_store(folder), "mayros"))
for number in range(900):  # of which one page holds all
    prover.assert_proved({"subject": f"s{number}", "predicate": "p", "object": number}, ORIGIN, None)
    print(number, flush=True)
sys.stdin.read()
"""


def test_a_killed_process_leaves_each_assertion_complete_or_absent(tmp_path: Path) -> None:
    folder, root = tmp_path / "store", Path(__file__).parents[3]
    command = [sys.executable, "-c", KILLED, str(folder), str(tmp_path / "keys")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root) as process:
        assert process.stdout is not None
        answered = [int(process.stdout.readline()) for _ in range(30)]
        process.kill()
    store = open_store(str(folder))
    graph = NamespacedGraph(store, "mayros")
    triples = graph.list_triples({"limit": 1000})["triples"]
    assert {triple["subject"] for triple in triples} >= {f"mayros:s{number}" for number in answered}
    for triple in triples:
        (proof,) = graph.proofs.of(triple["id"])
        assert graph.proofs_of(triple["id"]) == [graph.proofs.iri(proof.id).value]
        assert graph.provenance_of(triple["id"]) is not None
        assert {check.verdict for check in verify(proof, graph)} == {Verdict.VERIFIED, Verdict.WELL_FORMED}
    assert graph.proofs.count() == len(triples)
    store.close()


def test_the_shapes_of_a_namespace_apply_to_every_skill(plain: NamespacedGraph, tmp_path: Path) -> None:
    file = tmp_path / "shapes.ttl"
    file.write_text(ONE.text)
    config = config_with_time(keys=str(tmp_path / "keys"), shapes={"mayros": str(file), "other": "/nowhere"})
    prover = Prover(config, plain)
    proof = plain.proofs.get(prover.assert_proved(A1, ORIGIN, _ANYTHING).proof)
    assert isinstance(proof, StoredProof)
    names = [rules["name"] for rules in json.loads(proof.content)["rules"]]
    assert names == ["core", "namespace:mayros", "skill:x"]
    with pytest.raises(CortexError) as refused:
        prover.assert_proved({**A1, "object": 2}, ORIGIN, None)
    assert refused.value.code == "proof_failed"


_ANYTHING = shapes(":S a sh:NodeShape ; sh:targetNode :a ; sh:nodeKind sh:IRI .", "skill:x")


def test_a_proof_by_other_rules_than_those_of_the_host_is_not_verified(plain: NamespacedGraph, tmp_path: Path) -> None:
    """A client with write access can make a proof of any statement, with rules that verify it."""
    file = tmp_path / "ours.ttl"
    none = ":S a sh:NodeShape ; sh:targetSubjectsOf :p ; sh:property [ sh:path :p ; sh:maxCount 0 ] ."
    file.write_text(shapes(none).text)
    host = config_with_time(keys=str(tmp_path / "keys"), shapes={"mayros": str(file)})
    with pytest.raises(CortexError, match="breaks the rules"):
        Prover(host, plain).assert_proved(A1, ORIGIN, None)
    forged = Prover(config_with_time(keys=str(tmp_path / "other")), plain).assert_proved(A1, ORIGIN, ONE)
    (proof,) = plain.proofs.of(forged.triple["id"])
    asked = CheckContext(datetime.now(UTC), host, plain, plain.quad_of(A1))
    found = {check.part: check for check in check_proof("pol", proof.content, asked)}
    assert found["logic"].verdict is Verdict.VERIFIED
    assert found["rules"].verdict is Verdict.NOT_CHECKED
    assert found["rules"].reasons == ("it was not made with the rules namespace:mayros of this host",)
    assert Verdict.of_all(check.verdict for check in found.values()) is Verdict.NOT_CHECKED


def test_a_proof_with_the_rules_of_the_host_is_verified(plain: NamespacedGraph, tmp_path: Path) -> None:
    file = tmp_path / "ours.ttl"
    file.write_text(ONE.text)
    host = config_with_time(keys=str(tmp_path / "keys"), shapes={"mayros": str(file)})
    proved = Prover(host, plain).assert_proved(A1, ORIGIN, None)
    proof = plain.proofs.get(proved.proof)
    assert proof is not None
    checks = check_proof("pol", proof.content, CheckContext(datetime.now(UTC), host, plain, plain.quad_of(A1)))
    more = dict.fromkeys(("rules", "about"), Verdict.VERIFIED)
    assert {check.part: check.verdict for check in checks} == HOLDS | more


@pytest.mark.parametrize("content", [None, "no turtle"])
def test_unreadable_shapes_of_a_namespace_are_reported_at_the_start(
    plain: NamespacedGraph, tmp_path: Path, content: str | None
) -> None:
    file = tmp_path / "shapes.ttl"
    if content is not None:
        file.write_text(content)
    config = Config(proofs={"keys": str(tmp_path / "keys"), "shapes": {"mayros": str(file)}})
    with pytest.raises(CortexError) as refused:
        Prover(config, plain).assert_proved(A1, ORIGIN, None)
    assert refused.value.code == "config_invalid"
    assert plain.count() == 0


def test_a_proof_with_many_reads_of_the_whole_graph_is_bounded(
    plain: NamespacedGraph, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain.create_triples([{"subject": f"n{number}", "predicate": "q", "object": number} for number in range(50)])
    prover = Prover(config, plain)
    proof = plain.proofs.get(prover.assert_proved(A1, ORIGIN, None).proof)
    assert proof is not None
    fields = json.loads(proof.content)
    del fields["proof"]

    def safe_message(*reads: GraphRead) -> dict[str, Any]:
        whole = premises_of(reads)
        return {"count": whole.count, "digest": whole.digest, "reads": [read.to_json() for read in sorted(reads)]}

    fields["premises"] = safe_message(*(GraphRead(("", "", ""), (f"{number:064x}",)) for number in range(100)))
    hostile = signed(fields, prover.key, datetime.now(UTC))
    asked: list[Any] = []
    quads = plain.store.quads
    monkeypatch.setattr(plain.store, "quads", lambda pattern: asked.append(pattern) or quads(pattern))
    monkeypatch.setattr(RecordingReader, "__init__", partialmethod(RecordingReader.__init__, left=120))
    found = {check.part: check for check in verify(hostile, plain, replay=False)}
    assert found["premises"].verdict is Verdict.NOT_CHECKED
    assert "read more than" in found["premises"].reasons[0]
    assert len(asked) == 3
    fields["premises"] = safe_message(GraphRead(("_:b", "?x", '"'), ()))
    nonsense = signed(fields, prover.key, datetime.now(UTC))
    found = {check.part: check for check in verify(nonsense, plain, replay=False)}
    assert found["premises"].verdict is Verdict.NOT_CHECKED
