"""Palyra's cases of its runtime and of the negotiation of contracts, with `WasmSandbox` and `negotiate`."""

from __future__ import annotations

import pytest
from wasmtime import wat2wasm

from cortex_sandbox.errors import (
    CompileError,
    FuelExhausted,
    MemoryLimit,
    MissingExport,
    SandboxError,
    TimedOut,
    Trap,
)
from cortex_sandbox.wasm import Grants, PluginHost, WasmLimits, WasmSandbox
from cortex_sandbox.wasm.grants import BASES
from cortex_skills.features.artifacts.contracts import KINDS, negotiate
from tests.interchange.palyra.original import KINDS as THEIRS
from tests.wasm.modules import CORE, core

GRANTS = Grants(http=["api.example.com"], secret=["db_password"], storage=["plugins/cache"], channel=["cli"])
IMPORTED = "".join(
    f'(import "{CORE}" "{kind}-count" (func ${kind}c (result i32)))'
    f'(import "{CORE}" "{kind}-handle" (func ${kind}h (param i32) (result i32)))'
    for kind in BASES
)
LOOP = "(loop (br 0)) (i32.const 0)"


def test_an_export_with_any_name_is_called() -> None:
    module = bytes(wat2wasm('(module (func (export "answer") (result i32) i32.const 42))'))
    assert WasmSandbox(module, entrypoint="answer").call() == 42


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("".join(f"call ${kind}c " for kind in BASES) + "i32.add i32.add i32.add", 4),
        ("(call $httph (i32.const 0))", 10_000),
        ("(call $secreth (i32.const 0))", 20_000),
        ("(call $storageh (i32.const 0))", 30_000),
        ("(call $channelh (i32.const 0))", 40_000),
        ("(call $httph (i32.const 42))", -1),
    ],
    ids=["counts", "http", "secret", "storage", "channel", "out of range"],
)
def test_counts_and_handles_are_those_of_palyra(body: str, result: int) -> None:
    assert WasmSandbox(core(body, IMPORTED), host=PluginHost(GRANTS)).call() == result


@pytest.mark.parametrize(
    ("body", "before", "limits", "error"),
    [
        (LOOP, "", WasmLimits(fuel=5_000), FuelExhausted),
        ("(i32.const 42)", "(memory 2000)", WasmLimits(), MemoryLimit),
        ("unreachable", "", WasmLimits(), Trap),
        (LOOP, "", WasmLimits(fuel=1 << 40, timeout_s=0.01), TimedOut),
    ],
    ids=["fuel", "memory", "trap", "time"],
)
def test_a_run_ends_as_in_palyra(body: str, before: str, limits: WasmLimits, error: type[SandboxError]) -> None:
    with pytest.raises(error):
        WasmSandbox(core(body, before), limits).call()


def test_an_import_with_another_type_is_refused() -> None:
    with pytest.raises(CompileError, match="another type"):
        WasmSandbox(core("(i32.const 7)", f'(import "{CORE}" "http-count" (func (param i32) (result i32)))'))


def test_an_unknown_entrypoint_is_refused() -> None:
    with pytest.raises(MissingExport):
        WasmSandbox(bytes(wat2wasm('(module (func (export "something_else") (result i32) i32.const 7))')))


def test_the_kinds_of_contracts_are_those_of_palyra() -> None:
    assert set(KINDS) == THEIRS


@pytest.mark.parametrize(
    ("declared", "requested", "reasons"),
    [
        ([("memory_provider", 1)], ["http_hosts", "secrets", "storage_prefixes"], []),
        ([("context_engine", 1)], ["http_hosts", "secrets", "storage_prefixes"], []),
        ([("routing_strategy", 1)], ["http_hosts", "secrets", "storage_prefixes"], []),
        ([("delivery_adapter", 1)], ["channels"], []),
        ([("model_auth_provider", 1)], ["secrets"], []),
        ([("run_lifecycle_hook", 1)], ["http_hosts"], ["run_lifecycle_hook does not allow http_hosts"]),
        ([("memory_provider", 2)], ["channels"],
         ["this host has version 1 of memory_provider, not 2", "memory_provider does not allow channels"]),
    ],
)  # fmt: skip
def test_contracts_are_negotiated_as_in_palyra(
    declared: list[tuple[str, int]], requested: list[str], reasons: list[str]
) -> None:
    tools = [f"acme.it.{operation}" for operation in KINDS[declared[0][0]].operations]
    found = negotiate("acme.it", declared, tools, requested)
    assert (found.mode, found.ready) == ("typed", not reasons)
    assert list(found.contracts[0].reasons) == reasons


def test_without_contracts_an_artifact_is_ready() -> None:
    assert negotiate("acme.it", [], ["acme.it.run"], []).to_json() == {
        "mode": "untyped_legacy",
        "ready": True,
        "contracts": [],
    }


def test_refused_a_contract_without_a_tool_for_its_operation() -> None:
    """In Palyra the module itself answers; here a call of a contract is a call of a tool, with its risk."""
    found = negotiate("acme.it", [("routing_strategy", 1)], ["acme.run"], [])
    assert found.contracts[0].reasons == ("the artifact has no tool acme.it.route_model",)
