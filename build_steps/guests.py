"""Makes the WebAssembly guests in `cortex_sandbox/guests`.

Rules kept here:
- the inputs are pinned: esbuild in `package-lock.json`, where `npm ci` checks the integrity hash, and QuickJS's source
  and the C compiler in `sandbox/guest/engine`, where pip does;
- `esbuild.wasm` is the file of the npm package, unchanged, and compressed: `guests.json` has the digest of the file;
- the guests are built once: digests of all inputs, kept beside the guests, show whether they are current;
- QuickJS is compiled (`sandbox/guest/engine/build.py`) while npm runs;
- the folder of the guests appears complete, in one rename.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from build_steps.tools import ROOT, TOOLS, digest_of, esbuild, npm_ci, put_in_place

GUESTS = ROOT / "sandbox" / "cortex_sandbox" / "guests"
BOOTSTRAP = ROOT / "sandbox" / "guest" / "bootstrap.ts"
NPM_FILES = [ROOT / name for name in ("package.json", "package-lock.json", ".npmrc")]
ESBUILD = "@esbuild/wasi-preview1"
ENGINE = ROOT / "sandbox" / "guest" / "engine"
ENGINE_FILES = ("quickjs.wasm", "quickjs.LICENSE")


def build_guests() -> None:
    """Build the guests, unless the existing ones are current."""
    engine_inputs = sorted(path for path in ENGINE.iterdir() if path.is_file())
    inputs = {
        "stamp": digest_of([*NPM_FILES, BOOTSTRAP, *TOOLS, Path(__file__), *engine_inputs]),
        "engine": digest_of(engine_inputs),
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
        pack(out / "esbuild.wasm")
        (out / "guests.json").write_text(json.dumps(facts, indent=2) + "\n")
        put_in_place(out, GUESTS)


def pack(path: Path) -> None:
    """Replace a file by a compressed one, `NAME.xz`, which has a digest of its content."""
    content = lzma.compress(path.read_bytes(), lzma.FORMAT_XZ, lzma.CHECK_SHA256)
    path.with_name(f"{path.name}.xz").write_bytes(content)
    path.unlink()


def _digests(folder: Path) -> dict[str, str]:
    """SHA-256 of the files in a folder, by name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def _fetch_esbuild(work: Path, out: Path) -> str:
    """Fetch esbuild and transpile the bootstrap with it; esbuild's version."""
    for path in [*NPM_FILES, BOOTSTRAP]:
        shutil.copy(path, work)
    package = npm_ci(work) / ESBUILD
    shutil.copy(package / "esbuild.wasm", out)
    esbuild(out / "esbuild.wasm", work, BOOTSTRAP.name, "--target=es2023", f"--outfile={out.name}/bootstrap.js")
    return str(json.loads((package / "package.json").read_text())["version"])
