import logging
from pathlib import Path

import pytest

from cortex_graph import import_rdf
from cortex_skills import Plugin
from cortex_skills.manifest import Assertion, Permissions, Query, Semantic, load_manifest

from .conftest import enrichment

STATUS = {"predicate": "hasStatus", "scope": "namespace"}


@pytest.fixture
def kyc(plugin: Plugin, examples: Path) -> Plugin:
    import_rdf(plugin.graph, examples / "verify-kyc" / "customers.ttl")
    assert plugin.load(examples / "verify-kyc") == ["verify-kyc"]
    return plugin


def test_its_manifest_is_the_one_of_the_contract_with_the_tools_for_proofs(examples):
    manifest = load_manifest(examples / "verify-kyc")

    assert manifest.name == "verify-kyc"
    assert manifest.semantic == Semantic(
        version=1,
        permissions=Permissions(
            graph=frozenset({"read", "write"}),
            proofs=frozenset({"request", "verify", "publish"}),
            memory=frozenset({"recall", "remember"}),
        ),
        assertions=(Assertion("isVerified", require_proof=True),),
        queries=(Query("hasStatus", "namespace"),),
        allowed_tools=(
            *("skill_graph_query", "skill_assert", "skill_verify_assertion"),
            *("skill_request_zk_proof", "skill_verify_zk_proof", "hub_search"),
        ),
        max_queries=100,
        skill_version="1.0.0",
    )


def test_it_has_all_four_hooks(kyc):
    runtime = kyc.skills["verify-kyc"].runtime

    assert runtime is not None
    assert runtime.hooks == {"onActivate", "onQuery", "onError", "onDeactivate"}


def test_it_tells_who_has_which_status_and_who_is_still_to_be_verified(kyc):
    result = kyc.call("skill_graph_query", STATUS)

    assert result.text.startswith("4 triples found:\n")
    said = enrichment(result)
    assert sorted(said.pop("approved")) == ["mayros:customer:ada", "mayros:customer:boris"]
    assert said == {
        "pending": ["mayros:customer:chidi"],
        "rejected": ["mayros:customer:dolores"],
        "toVerify": ["mayros:customer:boris"],
    }


def test_it_has_nothing_to_say_about_other_predicates(kyc):
    assert enrichment(kyc.call("skill_graph_query", {"predicate": "isVerified", "scope": "namespace"})) is None


def test_an_approved_customer_is_verified_with_a_proof(kyc):
    asked = {"subject": "customer:boris", "predicate": "isVerified", "object": True, "requireProof": False}

    told = kyc.call("skill_assert", asked).details

    assert (told["created"], told["verified"]) == (True, True)
    [shown] = kyc.call("skill_graph_query", {**PROVED, "subject": "customer:boris"}).details["proofs"]
    assert (shown["proofHash"], shown["verdict"]) == (told["proofHash"], "verified")


PROVED = {"predicate": "isVerified", "scope": "namespace", "prove": "pol"}


@pytest.mark.parametrize("customer", ["chidi", "dolores", "nobody"])
def test_no_other_customer_is_verified(kyc, customer):
    asked = {"subject": f"customer:{customer}", "predicate": "isVerified", "object": True}

    refused = kyc.call("skill_assert", asked)

    assert refused.code == "proof_failed"
    assert "only a customer whose status is approved can be verified" in refused.text
    assert kyc.graph.list_triples({"subject": f"customer:{customer}", "predicate": "isVerified"})["total"] == 0


def test_a_proof_falls_with_the_status_that_it_rests_on(kyc):
    kyc.call("skill_assert", {"subject": "customer:boris", "predicate": "isVerified", "object": True})
    [status] = kyc.graph.list_triples({"subject": "customer:boris", "predicate": "hasStatus"})["triples"]

    kyc.graph.delete_triple(status["id"])

    [shown] = kyc.call("skill_graph_query", {**PROVED, "subject": "customer:boris"}).details["proofs"]
    assert shown["verdict"] == "refuted"
    assert f"the premise {status['id']} was withdrawn" in str(shown["checks"])


def test_an_agent_is_told_the_statuses_before_it_starts(kyc):
    lines = kyc.context().splitlines()

    assert lines[0] == '<semantic-skill-context skill="verify-kyc">'
    assert 'mayros:customer:chidi mayros:hasStatus "pending"' in lines


def test_its_hooks_write_to_the_log(plugin, examples, caplog):
    caplog.set_level(logging.INFO)
    plugin.load(examples / "verify-kyc")
    plugin.unload("verify-kyc")

    logged = [record.getMessage() for record in caplog.records]
    assert "[skill:verify-kyc] knows the customers of mayros, for a1" in logged
    assert "[skill:verify-kyc] done: unload" in logged
