"""Makes the scripts and the style sheet of the explorer, in `cortex_skills/doors/explorer/static`.

Rules kept here:
- the packages are pinned in `src/package-lock.json`; esbuild is that of the sandbox (`guests/esbuild.wasm.xz`);
- the same inputs give the same bytes; a digest of all inputs in `assets.json` shows whether the files are current;
- the name of a file contains a part of its SHA-256, so that a browser keeps it for ever; `assets.json` has the names;
- `licences.txt` holds the licence text of each package in a script; a package without one fails the build;
- the folder appears complete, in one rename.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import re
import shutil
import tempfile
from pathlib import Path

from build_steps.guests import GUESTS
from build_steps.tools import ROOT, TOOLS, digest_of, esbuild, npm_ci, put_in_place

EXPLORER = ROOT / "cortex_skills" / "doors" / "explorer"
SOURCES = EXPLORER / "src"
STATIC = EXPLORER / "static"
ENTRIES = (
    *("app.ts", "live.ts", "map.ts", "picture.ts", "sparql.ts", "suggest.ts", "write.ts", "zone.ts"),
    *sorted(path.name for path in SOURCES.glob("*.css")),
)
_WASM = GUESTS / "esbuild.wasm.xz"
_OPTIONS = ("--bundle", "--minify", "--format=esm", "--target=es2022", "--legal-comments=none")
_PACKAGE = re.compile(r"(.*node_modules/(?:@[^/]+/)?[^/]+)/")
_HASH_DIGITS = 16


def build_explorer() -> None:
    """Build the assets, unless the existing ones are current."""
    stamp = digest_of([*sources(), _WASM, *TOOLS, Path(__file__)])
    manifest = STATIC / "assets.json"
    if manifest.is_file() and json.loads(manifest.read_text()).get("stamp") == stamp:
        return
    with tempfile.TemporaryDirectory(dir=EXPLORER, prefix=".static-") as scratch:
        work = Path(scratch)
        fetch(work)
        put_in_place(bundle(work, stamp), STATIC)


def sources() -> list[Path]:
    """The files that the assets are made of."""
    return sorted(path for path in SOURCES.iterdir() if path.is_file())


def fetch(work: Path) -> None:
    """Copy the sources to a folder, and install their packages there."""
    for path in sources():
        shutil.copy(path, work)
    npm_ci(work)


def bundle(work: Path, stamp: str) -> Path:
    """Make the assets of a folder with sources and packages; the folder `out` in it."""
    bundled, out = work / "bundled", work / "out"
    wasm = work / "esbuild.wasm"
    wasm.write_bytes(lzma.decompress(_WASM.read_bytes()))
    esbuild(wasm, work, *ENTRIES, *_OPTIONS, "--outdir=bundled", "--metafile=metafile.json")
    inputs = json.loads((work / "metafile.json").read_text())["inputs"]
    packages = sorted({found[1] for name in inputs if (found := _PACKAGE.match(name))})
    (bundled / "licences.txt").write_text("\n".join(_licence(work / name) for name in packages))
    out.mkdir()
    files = {path.name: _hashed(path) for path in sorted(bundled.iterdir())}
    for name, hashed in files.items():
        (bundled / name).rename(out / hashed)
    (out / "assets.json").write_text(json.dumps({"stamp": stamp, "files": files}, indent=2) + "\n")
    return out


def _hashed(path: Path) -> str:
    return f"{path.stem}.{hashlib.sha256(path.read_bytes()).hexdigest()[:_HASH_DIGITS]}{path.suffix}"


def _licence(package: Path) -> str:
    """The name, version and licence text of a package.

    Raises:
        RuntimeError: it has no licence text.

    """
    facts = json.loads((package / "package.json").read_text())
    texts = sorted(path for path in package.iterdir() if re.fullmatch(r"(?i)licen[cs]e(\.\w+)?", path.name))
    if not texts:
        raise RuntimeError(f"the npm package {facts['name']} has no licence text: leave it out, or add one")
    title = f"{facts['name']} {facts['version']} ({facts['license']})"
    return f"{title}\n{'=' * len(title)}\n\n{texts[0].read_text().strip()}\n"
