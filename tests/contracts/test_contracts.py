"""Typed contracts: the kinds, negotiation, and the codes of lifecycle hooks."""

from __future__ import annotations

import pytest
from jsonschema_rs import Draft202012Validator

from cortex_skills.features.artifacts.contracts import KINDS, SCHEMAS, decision_in, decision_of, negotiate
from cortex_skills.features.artifacts.package import ArtifactError, read_skill_toml
from tests.artifacts.samples import MANIFEST

ORIGIN = [
    "memory_provider",
    "context_engine",
    "routing_strategy",
    "run_lifecycle_hook",
    "compaction_provider",
    "diagnostics_provider",
    "policy_signal_provider",
    "channel_binding_provider",
    "delivery_adapter",
    "scheduler_task_provider",
    "model_auth_provider",
    "connector_adapter",
]


def test_the_kinds_are_the_twelve_of_the_origin_with_their_schema_names() -> None:
    assert list(KINDS) == ORIGIN
    assert KINDS["memory_provider"].input_schema == "palyra.plugin.memory_provider.input.v1"
    assert KINDS["run_lifecycle_hook"].output_schema == "palyra.plugin.run_lifecycle_hook.decision.v1"
    assert KINDS["delivery_adapter"].output_schema == "palyra.plugin.delivery_adapter.receipt.v1"
    assert KINDS["connector_adapter"].output_schema == "palyra.plugin.connector_adapter.output.v1"
    called = [kind.name for kind in KINDS.values() if kind.called]
    assert called == ["memory_provider", "routing_strategy", "run_lifecycle_hook", "delivery_adapter"]


def test_each_called_contract_has_valid_schemas() -> None:
    called = [kind for kind in KINDS.values() if kind.called]
    assert set(SCHEMAS) == {name for kind in called for name in (kind.input_schema, kind.output_schema)}
    for schema in SCHEMAS.values():
        Draft202012Validator(dict(schema))


def test_an_artifact_without_contracts_is_untyped_and_ready() -> None:
    result = negotiate("acme.echo", [], ["acme.echo.say"], ["http_hosts"])
    assert result.to_json() == {"mode": "untyped_legacy", "ready": True, "contracts": []}


def test_an_accepted_contract_names_the_tool_that_is_called() -> None:
    result = negotiate("acme.notes", [("memory_provider", 1)], ["acme.notes.provide_memory"], ["storage_prefixes"])
    assert (result.mode, result.ready) == ("typed", True)
    assert result.fulfilled_by("acme.notes.provide_memory") == {("memory_provider", "provide_memory")}
    assert result.fulfilled_by("acme.notes.route_model") == frozenset()
    (entry,) = result.to_json()["contracts"]
    assert entry["status"] == "accepted"


def test_a_contract_that_this_host_never_calls_is_reported_as_such() -> None:
    result = negotiate("acme.plan", [("context_engine", 1)], ["acme.plan.plan_context"], [])
    assert result.ready
    assert result.to_json()["contracts"][0]["status"] == "not_invoked_here"
    assert result.fulfilled_by("acme.plan.plan_context") == frozenset()


@pytest.mark.parametrize(
    ("declared", "requested", "reasons"),
    [
        (("delivery_adapter", 2), [], ["this host has version 1 of delivery_adapter, not 2"]),
        (("delivery_adapter", 1), ["secrets", "channels"], ["delivery_adapter does not allow secrets"]),
        (("policy_signal_provider", 1), [], ["the artifact has no tool acme.it.emit_policy_signal"]),
        (("agent_harness", 1), [], ["this host has no contract agent_harness"]),
        (
            ("run_lifecycle_hook", 3),
            ["http_hosts"],
            [
                "this host has version 1 of run_lifecycle_hook, not 3",
                "run_lifecycle_hook does not allow http_hosts",
                "the artifact has no tool acme.it.decide_run_lifecycle",
            ],
        ),
    ],
)
def test_a_rejected_contract_has_each_reason_and_is_never_called(
    declared: tuple[str, int], requested: list[str], reasons: list[str]
) -> None:
    result = negotiate("acme.it", [declared], ["acme.it.deliver_message"], requested)
    assert not result.ready
    assert [list(each.reasons) for each in result.contracts] == [reasons]
    assert result.to_json()["contracts"][0]["status"] == "rejected"
    assert result.fulfilled_by("acme.it.deliver_message") == frozenset()


@pytest.mark.parametrize(
    ("code", "decided"),
    [
        (0, "continue"),
        (10, "annotate"),
        (20, "request_approval"),
        (30, "block"),
        (40, "transform_preview"),
        (-1, "fail"),
        (50, "fail"),
        (2**31 - 1, "fail"),
        (1, "fail"),
    ],
)
def test_a_code_of_a_lifecycle_hook_is_a_decision(code: int, decided: str) -> None:
    assert decision_of(code).decided == decided
    assert decision_in({"code": code, "reason": "why"}).reason == "why"


def test_a_manifest_with_another_kind_of_contract_is_refused() -> None:
    contract = '[operator.plugin]\nkind = "wasm"\ncontracts = [{ kind = "KIND", version = 1 }]\n'
    good = read_skill_toml((MANIFEST + contract.replace("KIND", "routing_strategy")).encode())
    assert good.plugin["contracts"] == [{"kind": "routing_strategy", "version": 1}]
    with pytest.raises(ArtifactError) as caught:
        read_skill_toml((MANIFEST + contract.replace("KIND", "routing_strategies")).encode())
    (problem,) = caught.value.details["errors"]
    assert "routing_strategies is not a kind of contract" in str(problem)
    assert "routing_strategy" in str(problem)
