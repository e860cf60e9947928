"""Build hook: makes the WebAssembly guests in `cortex_sandbox/guests`, and the one that reads in `cortex_skills`.

Rules kept here:
- what they are made from is exactly what is pinned: esbuild in `package-lock.json`, where `npm ci` checks integrity
  hashes, QuickJS's source and the compiler of C in `sandbox/guest`, where pip does;
- no install script of any npm package runs (`--ignore-scripts`);
- the work happens once: a stamp over every input says whether the guests are current, one over those of QuickJS
  whether that may stay while the rest is made anew, and one over those of the reader whether that is;
- C is compiled (`sandbox/guest/compile.py`) while esbuild is being frozen, on another core;
- esbuild is started, made to bundle a sample, and frozen as it waits for more, so that nobody who bundles pays for that
  again; what comes out depends on the inputs alone;
- nothing is half-written: folder and file are put in place in one rename, after all of it exists.

Runs for a wheel and for an editable install alike. Needs Node.js and pip here; whoever installs the wheel does not.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
GUESTS = ROOT / "sandbox" / "cortex_sandbox" / "guests"
BOOTSTRAP = ROOT / "sandbox" / "guest" / "bootstrap.ts"
BUILDER = ROOT / "sandbox" / "guest" / "build.mjs"
SNAPSHOT = ROOT / "sandbox" / "guest" / "snapshot.mjs"
WARM = ROOT / "sandbox" / "guest" / "warm"
FREEZING = [
    ROOT / "sandbox" / "cortex_sandbox" / f"{name}.py"
    for name in ("wasm_format", "wasm_image", "wasm_freeze", "wasm_inside", "esbuild_protocol", "pages")
]
# What esbuild may use while it runs, in pages of 64 KiB: 1 GiB.
ESBUILD_PAGES = 1 << 14
# The pages that a run writes to are told in ranges: over so many others, whose pages are those of nearly every system,
# so that the same is built everywhere.
ESBUILD_JOINED, SYSTEM_PAGE = 2, 4096
# With which stack its goroutines begin, in bytes: what the one that parses comes to need for a skill of usual size.
FIRST_STACK = 64 << 10
# How often the sample may be bundled until the memory has the shape that it shall keep.
WARM_RUNS = 60
NPM_FILES = [ROOT / name for name in ("package.json", "package-lock.json", ".npmrc")]
ESBUILD = "@esbuild/wasi-preview1"
ENGINE = ROOT / "sandbox" / "guest" / "engine"
ENGINE_FILES = ("quickjs.wasm", "quickjs.LICENSE")
COMPILER = [ROOT / "sandbox" / "guest" / name for name in ("compile.py", "compiler.py", "compiler.txt")]
READER = ROOT / "cortex_skills" / "enrichment" / "detecting" / "reader"
PURE = ROOT / "sandbox" / "guest" / "pure.py"


def stamp_of_inputs() -> str:
    """SHA-256 over every file that decides what the guests are."""
    own = [*NPM_FILES, BOOTSTRAP, BUILDER, SNAPSHOT, *sorted(WARM.iterdir()), *FREEZING, Path(__file__).resolve()]
    return _stamp([*own, *_engine_inputs()])


def _engine_inputs() -> list[Path]:
    return [*COMPILER, *sorted(path for path in ENGINE.iterdir() if path.is_file())]


def _reader_inputs() -> list[Path]:
    return [*COMPILER, PURE, *sorted(READER.glob("*.[ch]"))]


def _stamp(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        content = path.read_bytes()
        digest.update(f"{path.name}:{len(content)}:".encode() + content)
    return digest.hexdigest()


def build_guests() -> None:
    """Make the guests and the reader, unless what is there is current."""
    stamp, engine_stamp, reader_stamp = stamp_of_inputs(), _stamp(_engine_inputs()), _stamp(_reader_inputs())
    found, found_reader = _told(GUESTS / "guests.json"), _told(READER / "reader.json")
    makes_guests = found.get("stamp") != stamp
    keeps_engine = found.get("engine") == engine_stamp and _is_whole(found, GUESTS, ENGINE_FILES)
    makes_reader = found_reader.get("stamp") != reader_stamp or not _is_whole(found_reader, READER, ["reader.wasm"])
    with tempfile.TemporaryDirectory(dir=GUESTS.parent, prefix=".guests-") as scratch:
        work = Path(scratch)
        out, read = work / "guests", work / "reader"
        out.mkdir()
        read.mkdir()
        engine = ["--engine", str(out)] if makes_guests and not keeps_engine else []
        reader = ["--pure", str(READER), str(read / "reader.wasm")] if makes_reader else []
        with _compiling(engine + reader):
            if makes_guests:
                _make_esbuild(work, out)
        if makes_reader:
            _tell(read, "reader.json", {"stamp": reader_stamp})
            for path in read.iterdir():
                path.replace(READER / path.name)
        if makes_guests:
            for name in ENGINE_FILES if keeps_engine else ():
                shutil.copy(GUESTS / name, out / name)
            _tell(out, "guests.json", {"stamp": stamp, "engine": engine_stamp})
            shutil.rmtree(GUESTS, ignore_errors=True)
            out.rename(GUESTS)


@contextmanager
def _compiling(wanted: list[str]) -> Iterator[None]:
    """Meanwhile C is compiled; the block ends when both are done."""
    compiling = subprocess.Popen([sys.executable, str(COMPILER[0]), *wanted]) if wanted else None
    try:
        yield
    finally:
        failed = compiling is not None and compiling.wait()
    if failed:
        raise RuntimeError("the guests in C could not be compiled: what their build said stands above")


def _told(marker: Path) -> dict[str, Any]:
    """What the last build told of what it made; nothing, when there is none."""
    return dict(json.loads(marker.read_text())) if marker.is_file() else {}


def _is_whole(told: dict[str, Any], folder: Path, names: Sequence[str]) -> bool:
    """Whether compiled files are what the last build made."""
    there = [folder / name for name in names if (folder / name).is_file()]
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in there}
    return len(there) == len(names) and digests.items() <= told["sha256"].items()


def _tell(folder: Path, marker: str, stamps: dict[str, str]) -> None:
    """Write down beside files that were made what they are, and from what."""
    digests = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir())}
    (folder / marker).write_text(json.dumps({**stamps, "sha256": digests}, indent=2) + "\n")
    for path in folder.iterdir():
        path.chmod(0o644)


def _make_esbuild(work: Path, out: Path) -> None:
    """Fetch esbuild, transpile the bootstrap with it, and freeze it."""
    for tool in ("npm", "node"):
        if shutil.which(tool) is None:
            raise RuntimeError(f"building cortex-skills needs Node.js 20 or newer: `{tool}` was not found")
    for path in NPM_FILES:
        shutil.copy(path, work)
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=work, check=True)
    package, wasm = work / "node_modules" / ESBUILD, out / "esbuild.wasm"
    shutil.copy(package / "esbuild.wasm", wasm)
    transpile = ["node", "--no-warnings", str(BUILDER), str(wasm), str(BOOTSTRAP), str(out / "bootstrap.js")]
    subprocess.run(transpile, check=True)
    _freeze_esbuild(wasm, json.loads((package / "package.json").read_text())["version"], work)


def _freeze_esbuild(wasm: Path, version: str, work: Path) -> None:
    """Replace esbuild by itself as it stands when it has bundled the sample and waits for its next request."""
    sys.path.insert(0, str(ROOT / "sandbox"))
    try:
        from cortex_sandbox.esbuild_protocol import PREPARED_ENTRY, PREPARED_KEY, build_request, prepared_request
        from cortex_sandbox.pages import as_constants, differing
        from cortex_sandbox.wasm_freeze import freeze, with_state_exported
        from cortex_sandbox.wasm_inside import with_first_stacks, with_memory_and_clock
    finally:
        sys.path.remove(str(ROOT / "sandbox"))
    module = with_first_stacks(wasm.read_bytes(), FIRST_STACK)
    observed, requests, state = work / "observed.wasm", work / "requests", work / "state"
    observed.write_bytes(with_state_exported(module))
    samples = [build_request(PREPARED_KEY + number, PREPARED_ENTRY) for number in range(1, WARM_RUNS + 1)]
    prepare, rehearse = build_request(PREPARED_KEY, PREPARED_ENTRY, prepare=True), prepared_request(PREPARED_KEY)
    requests.write_bytes(b"".join([*samples, prepare, rehearse]))
    subprocess.run(
        ["node", "--no-warnings", str(SNAPSHOT), str(observed), version, str(requests), str(WARM), str(state)],
        check=True,
    )
    found = json.loads(state.with_suffix(".json").read_text())
    memory = state.with_suffix(".memory").read_bytes()
    written = differing(memory, state.with_suffix(".after").read_bytes(), joined=ESBUILD_JOINED, page=SYSTEM_PAGE)
    state_then = [int(value) for value in found["state"]]
    frozen = freeze(module, memory, state_then, found["frames"], as_constants(written))
    wasm.write_bytes(with_memory_and_clock(frozen, ESBUILD_PAGES))


class GuestsBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Called by hatchling before a wheel, real or editable, is assembled."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Make sure that the guests are in place."""
        build_guests()


if __name__ == "__main__":
    build_guests()
