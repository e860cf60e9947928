"""Build hook: brings the WebAssembly guests into `cortex_sandbox/guests`.

Rules kept here:
- the guests are exactly those that `package-lock.json` pins; `npm ci` checks their integrity hashes;
- no install script of any package runs (`--ignore-scripts`);
- the work happens once: a stamp over every input says whether the guests are current;
- QuickJS is optimised for speed by binaryen before it is compiled: small functions are inlined, so that fewer of them
  pay for a stack check and an epoch check (a fifth less time for JavaScript, with the same stack);
- esbuild is started, made to bundle a sample, and frozen as it waits for more, so that nobody who bundles pays for that
  again; what comes out depends on the inputs alone;
- nothing is half-written: the folder is put in place in one rename, after all of it exists.

Runs for a wheel and for an editable install alike. Needs Node.js here; whoever installs the wheel does not.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
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
    ROOT / "sandbox" / "cortex_sandbox" / name for name in ("wasm_image.py", "wasm_freeze.py", "esbuild_protocol.py")
]
# How often the sample may be bundled until the memory has the shape that it shall keep.
WARM_RUNS = 60
NPM_FILES = [ROOT / name for name in ("package.json", "package-lock.json", ".npmrc")]
WASM = {
    "quickjs.wasm": "quickjs-wasi/quickjs.wasm",
    "quickjs.LICENSE": "quickjs-wasi/LICENSE",
    "esbuild.wasm": "@esbuild/wasi-preview1/esbuild.wasm",
}
# Larger bounds win another few per cent and double the code; QuickJS's interpreter loop must not grow its frame.
OPTIMISE = (
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
    "-O3",
    "--inline-functions-with-loops",
    "--always-inline-max-function-size=40",
    "--flexible-inline-max-function-size=100",
)


def stamp_of_inputs() -> str:
    """SHA-256 over every file that decides what the guests are."""
    digest = hashlib.sha256()
    for path in [
        *NPM_FILES,
        BOOTSTRAP,
        BUILDER,
        SNAPSHOT,
        *sorted(WARM.iterdir()),
        *FREEZING,
        Path(__file__).resolve(),
    ]:
        content = path.read_bytes()
        digest.update(f"{path.name}:{len(content)}:".encode() + content)
    return digest.hexdigest()


def build_guests() -> None:
    """Fetch the guests and transpile the bootstrap, unless what is there is current."""
    stamp = stamp_of_inputs()
    marker = GUESTS / "guests.json"
    if marker.is_file() and json.loads(marker.read_text())["stamp"] == stamp:
        return
    for tool in ("npm", "node"):
        if shutil.which(tool) is None:
            raise RuntimeError(f"building cortex-skills needs Node.js 20 or newer: `{tool}` was not found")
    with tempfile.TemporaryDirectory(dir=GUESTS.parent, prefix=".guests-") as scratch:
        work = Path(scratch)
        for path in NPM_FILES:
            shutil.copy(path, work)
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=work, check=True)
        out = work / "guests"
        out.mkdir()
        packages = work / "node_modules"
        for name, source in WASM.items():
            shutil.copy(packages / source, out / name)
        quickjs = str(out / "quickjs.wasm")
        subprocess.run(["node", str(packages / "binaryen/bin/wasm-opt"), *OPTIMISE, quickjs, "-o", quickjs], check=True)
        subprocess.run(
            [
                "node",
                "--no-warnings",
                str(BUILDER),
                str(out / "esbuild.wasm"),
                str(BOOTSTRAP),
                str(out / "bootstrap.js"),
            ],
            check=True,
        )
        version = json.loads((packages / "@esbuild/wasi-preview1/package.json").read_text())["version"]
        _freeze_esbuild(out / "esbuild.wasm", version, work)
        digests = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(out.iterdir())}
        (out / "guests.json").write_text(json.dumps({"stamp": stamp, "sha256": digests}, indent=2) + "\n")
        for path in out.iterdir():
            path.chmod(0o644)
        shutil.rmtree(GUESTS, ignore_errors=True)
        out.rename(GUESTS)


def _freeze_esbuild(wasm: Path, version: str, work: Path) -> None:
    """Replace esbuild by itself as it stands when it has bundled the sample and waits for its next request."""
    sys.path.insert(0, str(ROOT / "sandbox"))
    try:
        from cortex_sandbox.esbuild_protocol import PREPARED_ENTRY, PREPARED_KEY, build_request
        from cortex_sandbox.wasm_freeze import freeze, with_state_exported
    finally:
        sys.path.remove(str(ROOT / "sandbox"))
    module = wasm.read_bytes()
    observed, requests, state = work / "observed.wasm", work / "requests", work / "state"
    observed.write_bytes(with_state_exported(module))
    samples = [build_request(PREPARED_KEY + number, PREPARED_ENTRY) for number in range(1, WARM_RUNS + 1)]
    requests.write_bytes(b"".join([*samples, build_request(PREPARED_KEY, PREPARED_ENTRY, prepare=True)]))
    subprocess.run(
        ["node", "--no-warnings", str(SNAPSHOT), str(observed), version, str(requests), str(WARM), str(state)],
        check=True,
    )
    found = json.loads(state.with_suffix(".json").read_text())
    memory = state.with_suffix(".memory").read_bytes()
    wasm.write_bytes(freeze(module, memory, [int(value) for value in found["state"]], found["frames"]))


class GuestsBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Called by hatchling before a wheel, real or editable, is assembled."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Make sure that the guests are in place."""
        build_guests()


if __name__ == "__main__":
    build_guests()
