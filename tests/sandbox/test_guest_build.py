"""The compiled guests: made of what is pinned, the one that was measured, with no more of the world than they need."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
import wasmtime

from cortex_sandbox.engine import engine_for, pure_engine
from cortex_sandbox.guests import FOLDER, read_built, read_guest

ROOT = Path(__file__).parents[2]
GUEST = ROOT / "sandbox" / "guest"
READER = ROOT / "cortex_skills" / "enrichment" / "detecting" / "reader"

# How much native stack its frames need was measured with these bytes (docs/decisions/0004-stacks-and-threads.md):
# whoever changes them measures again, then writes the new digest here.
MEASURED = "79f4936ae7ce7c4dcf2cdb43ba6eac9beb35fe79e1a10d84d5ab46e430053d86"


def test_the_compiled_engine_is_the_one_whose_stack_was_measured() -> None:
    assert hashlib.sha256(read_guest("quickjs.wasm")).hexdigest() == MEASURED


def test_every_guest_is_what_the_build_told_of_it() -> None:
    told = json.loads((FOLDER / "guests.json").read_text())["sha256"]
    assert set(told) == {"quickjs.wasm", "quickjs.LICENSE", "esbuild.wasm", "bootstrap.js"}
    for name, digest in told.items():
        assert hashlib.sha256(read_guest(name)).hexdigest() == digest


def test_the_reader_is_what_the_build_told_of_it() -> None:
    told = json.loads((READER / "reader.json").read_text())["sha256"]
    assert told == {"reader.wasm": hashlib.sha256(read_built(READER / "reader.wasm")).hexdigest()}


def test_the_reader_imports_nothing_and_takes_and_gives_numbers_alone() -> None:
    module = wasmtime.Module(pure_engine().wasm, read_built(READER / "reader.wasm"))
    assert list(module.imports) == []
    functions = {e.name: e.type for e in module.exports if isinstance(e.type, wasmtime.FuncType)}
    assert {e.name for e in module.exports} == {"memory", *functions}
    assert "room" in functions
    assert {str(kind) for one in functions.values() for kind in (*one.params, *one.results)} == {"i32"}


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


@pytest.mark.parametrize("name", ["compiler.txt", "engine/requirements.txt"])
def test_everything_that_they_are_made_of_is_pinned_by_version_and_hash(name: str) -> None:
    text = (GUEST / name).read_text().replace("\\\n", " ")
    (wanted,) = [line for line in text.splitlines() if line and not line.startswith(("#", "-"))]
    assert re.fullmatch(r"[a-z-]+==[0-9.]+(\s+--hash=sha256:[0-9a-f]{64})+\s*", wanted)


@pytest.mark.parametrize("path", [FOLDER / "quickjs.wasm", READER / "reader.wasm"], ids=lambda path: path.name)
def test_no_path_of_the_machine_that_built_it_is_in_it(path: Path) -> None:
    raw = read_built(path)
    for trace in (b"/home/", b"/tmp/", b"/root/", b"/Users/", str(FOLDER).encode()):
        assert trace not in raw
