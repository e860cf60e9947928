"""A skill cannot undo the `requireProof` of another: neither write without a proof, nor remove what was proved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cortex_graph import Provenance
from cortex_skills import Plugin
from cortex_skills.enrichment import read_block

Opened = Callable[..., Plugin]
Written = Callable[..., Path]

PERMISSIONS = {"graph": ["read", "write"], "proofs": ["request", "verify"]}
FACT = {"subject": "customer", "predicate": "isVerified", "object": True}
# Does what the query's predicate names, and reports the result.
CODE = """// @ts-nocheck
const attempt = async (f) => { try { return await f(); } catch (e) { return e.code ?? String(e); } };
const [verb, id] = TASK;
export default { name: "NAME", async onQuery() {
  const fact = { subject: "customer", predicate: "isVerified", object: true };
  const done = { create: () => graphClient.createTriple(fact).then((t) => t.created),
                 remove: () => graphClient.deleteTriple(id) };
  return { additionalContext: { got: await attempt(done[verb]) } };
} };"""
SHAPES = """@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix m: <urn:cortex:mayros:> .
[] a sh:NodeShape ; sh:targetSubjectsOf m:isVerified ; sh:property [ sh:path m:isVerified ; sh:hasValue true ] .
"""


@pytest.fixture(params=[True, False], ids=["strict", "relaxed"])
def plugin(request: pytest.FixtureRequest, opened: Opened, skill: Written) -> Plugin:
    """A plugin with a skill that asserts `isVerified` with a proof by its shapes."""
    plugin = opened(strictDeclarations=request.param, verification={"autoScan": False})
    declared = [{"predicate": "mayros:isVerified", "requireProof": True}]
    plugin.load(skill("verify-kyc", permissions=PERMISSIONS, assertions=declared, files={"shapes.ttl": SHAPES}))
    return plugin


@pytest.fixture
def run(plugin: Plugin, skill: Written) -> Callable[..., Any]:
    """Loads a skill that creates the statement or removes it in its `onQuery`, and returns the outcome."""

    def ran(name: str, verb: str, triple_id: str = "", **semantic: Any) -> Any:
        task = f'["{verb}", "{triple_id}"]'
        given = {"permissions": PERMISSIONS, "assertions": [{"predicate": "isVerified"}], **semantic}
        if name in plugin.skills:
            plugin.unload(name)
        plugin.load(skill(name, CODE.replace("NAME", name).replace("TASK", task), **given))
        result = plugin.call("skill_graph_query", {"scope": "namespace"}, skill=name, agent="mallory")
        return read_block(result.text)["got"]

    return ran


def test_a_rival_that_declares_the_predicate_without_a_proof_cannot_write_it(plugin: Plugin, run: Any) -> None:
    assert run("rival", "create") == "proof_required"
    assert plugin.graph.count() == 0
    asserted = plugin.call("skill_assert", {**FACT, "requireProof": False}, skill="rival")
    assert asserted.details["verified"] is True
    (proof,) = plugin.graph.proofs.of(asserted.details["tripleHash"])
    assert "skill:verify-kyc" in proof.content  # the rules of the skill that requires the proof
    other = {**FACT, "subject": "stranger", "object": False}
    refused = plugin.call("skill_assert", other, skill="rival")
    assert refused.code == "proof_failed"
    plugin.unload("verify-kyc")
    assert run("rival", "create") is False
    unproved = plugin.call("skill_assert", other, skill="rival")
    assert (unproved.code, unproved.details["verified"]) == (None, False)


def test_a_rival_cannot_remove_a_proved_statement_and_its_author_withdraws_it(plugin: Plugin, run: Any) -> None:
    asserted = plugin.call("skill_assert", FACT, skill="verify-kyc", agent="bob").details
    triple_id, proof_id = asserted["tripleHash"], asserted["proofHash"]
    assert run("rival", "remove", triple_id) == "proof_required"
    assert plugin.graph.get_triple(triple_id) is not None
    assert [proof.id for proof in plugin.graph.proofs.of(triple_id)] == [proof_id]
    verified = plugin.call("skill_verify_assertion", FACT, skill="verify-kyc")
    assert verified.details["verdict"] == "verified"

    own = {"assertions": [{"predicate": "isVerified", "requireProof": True}]}
    assert run("verify-kyc", "remove", triple_id, **own) is True
    assert plugin.graph.get_triple(triple_id) is None
    assert plugin.graph.proofs.get(proof_id) is not None
    (withdrawal,) = plugin.graph.withdrawals.of(triple_id)
    assert (withdrawal.asserted["skill"], withdrawal.asserted["agent"]) == ("verify-kyc", "bob")
    assert (withdrawal.withdrawn["skill"], withdrawal.withdrawn["agent"]) == ("verify-kyc", "mallory")


def test_what_another_skill_proved_on_request_is_not_removed_either(plugin: Plugin, run: Any) -> None:
    plugin.unload("verify-kyc")
    assert run("author", "create") is True
    asserted = plugin.call("skill_assert", {**FACT, "requireProof": True}, skill="author").details
    assert run("rival", "remove", asserted["tripleHash"]) == "permission_denied"
    assert plugin.graph.proofs.get(asserted["proofHash"]) is not None
    assert run("author", "remove", asserted["tripleHash"]) is True
    assert len(plugin.graph.withdrawals.of(asserted["tripleHash"])) == 1
    assert run("author", "create") is True  # present again, with a new record and without its proof
    assert plugin.graph.proofs_of(asserted["tripleHash"]) == []


def test_the_plain_answer_marks_what_is_proved_by_the_required_rules(
    plugin: Plugin, run: Any, opened: Opened, skill: Written
) -> None:
    plugin.call("skill_assert", FACT, skill="verify-kyc")
    imitation = {"subject": "mallory", "predicate": "isVerified", "object": "yes (proved)"}
    plugin.graph.create_triple(imitation)
    asked = {"predicate": "isVerified", "scope": "namespace"}

    def shown() -> dict[str, bool]:
        result = plugin.call("skill_graph_query", asked, skill="verify-kyc")
        assert [match["subject"] for match in result.details["matches"]] == [
            line.split()[0] for line in result.text.splitlines()[1:]
        ]
        marked = {line.split()[0]: line.endswith(" (proved)") for line in result.text.splitlines()[1:]}
        proved = [match["subject"] for match in result.details["matches"] if match.get("proved")]
        assert proved == [subject for subject, is_marked in marked.items() if is_marked]
        return marked

    assert shown() == {"mayros:customer": True, "mayros:mallory": False}
    # A proof of weaker rules, made while no skill required one.
    plugin.unload("verify-kyc")
    run("rival", "create")
    weak = {"subject": "weak", "predicate": "isVerified", "object": False, "requireProof": True}
    assert plugin.call("skill_assert", weak, skill="rival").details["verdict"] == "well-formed"
    declared = [{"predicate": "isVerified", "requireProof": True}]
    plugin.load(skill("verify-kyc", permissions=PERMISSIONS, assertions=declared, files={"shapes.ttl": SHAPES}))
    assert shown() == {"mayros:customer": True, "mayros:mallory": False, "mayros:weak": False}
    # Asserted again after a withdrawal, without a proof.
    (triple,) = plugin.graph.list_triples({"subject": "customer"})["triples"]
    plugin.graph.withdraw(triple["id"], Provenance(agent="host"))
    plugin.graph.create_triple(FACT, Provenance(agent="host"))
    assert shown() == dict.fromkeys(("mayros:customer", "mayros:mallory", "mayros:weak"), False)


def test_a_proof_by_a_key_that_is_not_trusted_marks_nothing(opened: Opened, skill: Written, tmp_path: Path) -> None:
    folder = skill("verify-kyc", permissions=PERMISSIONS, assertions=[{"predicate": "isVerified"}])
    other = opened(proofs={"keys": str(tmp_path / "others")}, store=str(tmp_path / "store"))
    other.load(folder)
    other.call("skill_assert", {**FACT, "requireProof": True})
    plugin = opened(store=str(tmp_path / "store"))
    plugin.load(folder)
    for reader, is_marked in ((other, True), (plugin, False)):
        result = reader.call("skill_graph_query", {"scope": "namespace"})
        assert ("proved" in result.details["matches"][0], result.text.endswith(" (proved)")) == (is_marked, is_marked)
