"""The compiled guests: built from pinned inputs, reproducible, with few imports."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
import wasmtime

from cortex_sandbox.engine.engine import engine_for
from cortex_sandbox.engine.guests import FOLDER, read_guest

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "sandbox" / "guest" / "engine"

# How much native stack its frames need was measured with these bytes (docs/decisions/0004-stacks-and-threads.md):
# after a change, measure again and update the digest.
MEASURED = "25152360b070095a033ea4c0c9ccedb18887e1013c2cb484ab61a22c88138bbc"


def test_the_compiled_engine_is_the_one_whose_stack_was_measured() -> None:
    assert hashlib.sha256(read_guest("quickjs.wasm")).hexdigest() == MEASURED


def test_every_guest_has_the_digest_that_the_build_recorded() -> None:
    reported = json.loads((FOLDER / "guests.json").read_text())["sha256"]
    assert set(reported) == {"quickjs.wasm", "quickjs.LICENSE", "esbuild.wasm", "bootstrap.js"}
    for name, digest in reported.items():
        assert hashlib.sha256(read_guest(name)).hexdigest() == digest


def test_the_engine_imports_a_clock_one_host_call_and_refusals() -> None:
    module = wasmtime.Module(engine_for(64 << 10).wasm, read_guest("quickjs.wasm"))
    assert sorted((i.module, i.name) for i in module.imports) == [
        ("cortex", "host_call"),
        ("wasi_snapshot_preview1", "clock_time_get"),
        ("wasi_snapshot_preview1", "fd_close"),
        ("wasi_snapshot_preview1", "fd_fdstat_get"),
        ("wasi_snapshot_preview1", "fd_seek"),
        ("wasi_snapshot_preview1", "fd_write"),
    ]


@pytest.mark.parametrize("name", ["compiler.txt", "requirements.txt"])
def test_inputs_are_pinned_by_version_and_hash(name: str) -> None:
    text = (ENGINE / name).read_text().replace("\\\n", " ")
    (wanted,) = [line for line in text.splitlines() if line and not line.startswith(("#", "-"))]
    assert re.fullmatch(r"[a-z-]+==[0-9.]+(\s+--hash=sha256:[0-9a-f]{64})+\s*", wanted)


def test_no_path_of_the_build_machine_is_in_the_engine() -> None:
    raw = read_guest("quickjs.wasm")
    for trace in (b"/home/", b"/tmp/", b"/root/", b"/Users/", str(FOLDER).encode()):
        assert trace not in raw
