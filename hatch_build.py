"""Build hook: makes the WebAssembly guests in `cortex_sandbox/guests`.

Rules kept here:
- the inputs are pinned: esbuild in `package-lock.json`, where `npm ci` checks the integrity hash, and QuickJS's source
  and the C compiler in `sandbox/guest/engine`, where pip does;
- `esbuild.wasm` is the file of the npm package, unchanged;
- no install script of an npm package runs (`--ignore-scripts`);
- the guests are built once: digests of all inputs, kept beside the guests, show whether they are current;
- QuickJS is compiled (`sandbox/guest/engine/build.py`) while npm runs;
- the folder of the guests appears complete, in one rename.

Runs for wheels and editable installs. Needs Node.js and pip; installing the finished wheel does not.
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
TRANSPILER = ROOT / "sandbox" / "guest" / "build.mjs"
NPM_FILES = [ROOT / name for name in ("package.json", "package-lock.json", ".npmrc")]
ESBUILD = "@esbuild/wasi-preview1"
ENGINE = ROOT / "sandbox" / "guest" / "engine"
ENGINE_FILES = ("quickjs.wasm", "quickjs.LICENSE")


def _digest_of(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        content = path.read_bytes()
        digest.update(f"{path.name}:{len(content)}:".encode() + content)
    return digest.hexdigest()


def build_guests() -> None:
    """Build the guests, unless the existing ones are current."""
    engine_inputs = sorted(path for path in ENGINE.iterdir() if path.is_file())
    inputs = {
        "stamp": _digest_of([*NPM_FILES, BOOTSTRAP, TRANSPILER, Path(__file__).resolve(), *engine_inputs]),
        "engine": _digest_of(engine_inputs),
    }
    manifest = GUESTS / "guests.json"
    found = json.loads(manifest.read_text()) if manifest.is_file() else {}
    if found.get("stamp") == inputs["stamp"]:
        return
    keeps_engine = found.get("engine") == inputs["engine"] and _digests(GUESTS).items() >= {
        (name, found["sha256"].get(name)) for name in ENGINE_FILES
    }
    with tempfile.TemporaryDirectory(dir=GUESTS.parent, prefix=".guests-") as scratch:
        work = Path(scratch)
        out = work / "guests"
        out.mkdir()
        command = [sys.executable, str(ENGINE / "build.py"), str(out)]
        compiling = None if keeps_engine else subprocess.Popen(command)
        try:
            version = _fetch_esbuild(work, out)
        finally:
            failed = compiling is not None and compiling.wait()
        if failed:
            raise RuntimeError("QuickJS could not be compiled: see the messages above")
        for name in ENGINE_FILES if keeps_engine else ():
            shutil.copy(GUESTS / name, out / name)
        facts = {**inputs, "esbuild": version, "sha256": _digests(out)}
        (out / "guests.json").write_text(json.dumps(facts, indent=2) + "\n")
        for path in out.iterdir():
            path.chmod(0o644)
        shutil.rmtree(GUESTS, ignore_errors=True)
        out.rename(GUESTS)


def _digests(folder: Path) -> dict[str, str]:
    """SHA-256 of the files in a folder, by name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def _fetch_esbuild(work: Path, out: Path) -> str:
    """Fetch esbuild and transpile the bootstrap with it; esbuild's version."""
    for tool in ("npm", "node"):
        if shutil.which(tool) is None:
            raise RuntimeError(f"building cortex-skills needs Node.js 20 or newer: `{tool}` was not found")
    for path in NPM_FILES:
        shutil.copy(path, work)
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=work, check=True)
    package, wasm = work / "node_modules" / ESBUILD, out / "esbuild.wasm"
    shutil.copy(package / "esbuild.wasm", wasm)
    transpile = ["node", "--no-warnings", str(TRANSPILER), str(wasm), str(BOOTSTRAP), str(out / "bootstrap.js")]
    subprocess.run(transpile, check=True)
    return str(json.loads((package / "package.json").read_text())["version"])


class GuestsBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Called by hatchling before it assembles a wheel, regular or editable."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Build the guests, unless they are current."""
        build_guests()


if __name__ == "__main__":
    build_guests()
