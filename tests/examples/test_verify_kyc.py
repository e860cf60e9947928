import logging
from pathlib import Path

import pytest

from cortex_graph import import_rdf
from cortex_skills import Plugin
from cortex_skills.manifest import EnrichmentField, ManifestAssertion, Permissions, Query, Semantic, load_manifest

from .conftest import enrichment

STATUS = {"predicate": "hasStatus", "scope": "namespace"}


@pytest.fixture
def kyc(plugin: Plugin, examples: Path) -> Plugin:
    import_rdf(plugin.graph, examples / "verify-kyc" / "customers.ttl")
    assert plugin.load(examples / "verify-kyc") == ["verify-kyc"]
    return plugin


def test_the_manifest_is_parsed(examples):
    manifest = load_manifest(examples / "verify-kyc")

    assert manifest.name == "verify-kyc"
    assert manifest.semantic == Semantic(
        version=1,
        permissions=Permissions(
            graph=frozenset({"read", "write"}),
            proofs=frozenset({"request", "verify", "publish"}),
            memory=frozenset({"recall", "remember"}),
        ),
        assertions=(ManifestAssertion("isVerified", require_proof=True),),
        queries=(Query("hasStatus", "namespace"),),
        allowed_tools=(
            *("skill_graph_query", "skill_assert", "skill_verify_assertion"),
            *("skill_request_zk_proof", "skill_verify_zk_proof", "hub_search"),
        ),
        fields=tuple(map(EnrichmentField, ("approved", "pending", "rejected", "toVerify"))),
        max_queries=100,
        skill_version="1.0.0",
    )


def test_the_skill_exports_all_four_hooks(kyc):
    runtime = kyc.skills["verify-kyc"].runtime

    assert runtime is not None
    assert runtime.hooks == {"onActivate", "onQuery", "onError", "onDeactivate"}


def test_the_enrichment_groups_customers_by_status(kyc):
    result = kyc.call("skill_graph_query", STATUS)

    assert result.text.startswith("4 triples found:\n")
    groups = enrichment(result)
    assert sorted(groups.pop("approved")) == ["mayros:customer:ada", "mayros:customer:boris"]
    assert groups == {
        "pending": ["mayros:customer:chidi"],
        "rejected": ["mayros:customer:dolores"],
        "toVerify": ["mayros:customer:boris"],
    }


def test_other_predicates_get_no_enrichment(kyc):
    assert enrichment(kyc.call("skill_graph_query", {"predicate": "isVerified", "scope": "namespace"})) is None


def test_an_approved_customer_is_verified_with_a_proof(kyc):
    asked = {"subject": "customer:boris", "predicate": "isVerified", "object": True, "requireProof": False}

    details = kyc.call("skill_assert", asked).details

    assert (details["created"], details["verified"]) == (True, True)
    [shown] = kyc.call("skill_graph_query", {**PROVED, "subject": "customer:boris"}).details["proofs"]
    assert (shown["proofHash"], shown["verdict"]) == (details["proofHash"], "verified")


PROVED = {"predicate": "isVerified", "scope": "namespace", "prove": "pol"}


@pytest.mark.parametrize("customer", ["chidi", "dolores", "unknown"])
def test_no_other_customer_is_verified(kyc, customer):
    asked = {"subject": f"customer:{customer}", "predicate": "isVerified", "object": True}

    refused = kyc.call("skill_assert", asked)

    assert refused.code == "proof_failed"
    assert "only a customer whose status is approved can be verified" in refused.text
    assert kyc.graph.list_triples({"subject": f"customer:{customer}", "predicate": "isVerified"})["total"] == 0


def test_a_proof_is_refuted_when_its_status_is_deleted(kyc):
    kyc.call("skill_assert", {"subject": "customer:boris", "predicate": "isVerified", "object": True})
    [status] = kyc.graph.list_triples({"subject": "customer:boris", "predicate": "hasStatus"})["triples"]

    kyc.graph.delete_triple(status["id"])

    [shown] = kyc.call("skill_graph_query", {**PROVED, "subject": "customer:boris"}).details["proofs"]
    assert shown["verdict"] == "refuted"
    assert f"the premise {status['id']} was withdrawn" in str(shown["checks"])


def test_the_context_lists_the_statuses(kyc):
    lines = kyc.context().splitlines()

    assert lines[0] == '<semantic-skill-context skill="verify-kyc">'
    assert 'mayros:customer:chidi mayros:hasStatus "pending"' in lines


def test_the_hooks_write_to_the_log(plugin, examples, caplog):
    caplog.set_level(logging.INFO)
    plugin.load(examples / "verify-kyc")
    plugin.unload("verify-kyc")

    logged = [record.getMessage() for record in caplog.records]
    assert "[skill:verify-kyc] knows the customers of mayros, for a1" in logged
    assert "[skill:verify-kyc] done: unload" in logged
