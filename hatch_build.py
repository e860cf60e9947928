"""Build hook: brings the WebAssembly guests into `cortex_sandbox/guests`.

Rules kept here:
- the guests are exactly those that `package-lock.json` pins; `npm ci` checks their integrity hashes;
- no install script of any package runs (`--ignore-scripts`);
- the work happens once: a stamp over every input says whether the guests are current;
- QuickJS is optimised for speed by binaryen before it is compiled: small functions are inlined, so that fewer of them
  pay for a stack check and an epoch check (a fifth less time for JavaScript, with the same stack);
- nothing is half-written: the folder is put in place in one rename, after all of it exists.

Runs for a wheel and for an editable install alike. Needs Node.js here; whoever installs the wheel does not.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
GUESTS = ROOT / "sandbox" / "cortex_sandbox" / "guests"
BOOTSTRAP = ROOT / "sandbox" / "guest" / "bootstrap.ts"
BUILDER = ROOT / "sandbox" / "guest" / "build.mjs"
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
    for path in [*NPM_FILES, BOOTSTRAP, BUILDER, Path(__file__).resolve()]:
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
        digests = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(out.iterdir())}
        (out / "guests.json").write_text(json.dumps({"stamp": stamp, "sha256": digests}, indent=2) + "\n")
        for path in out.iterdir():
            path.chmod(0o644)
        shutil.rmtree(GUESTS, ignore_errors=True)
        out.rename(GUESTS)


class GuestsBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Called by hatchling before a wheel, real or editable, is assembled."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Make sure that the guests are in place."""
        build_guests()


if __name__ == "__main__":
    build_guests()
