"""What the build steps share: digests of inputs, npm, esbuild, and a folder that is replaced as a whole.

Rules kept here:
- packages are those of `package-lock.json`, whose integrity hashes `npm ci` checks;
- no install script of a package runs (`--ignore-scripts`).
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_ESBUILD = Path(__file__).with_name("esbuild.mjs")
TOOLS = (Path(__file__), _ESBUILD)


def digest_of(paths: Iterable[Path]) -> str:
    """SHA-256 of the names and contents of some files, in hexadecimal."""
    digest = hashlib.sha256()
    for path in paths:
        content = path.read_bytes()
        digest.update(f"{path.name}:{len(content)}:".encode() + content)
    return digest.hexdigest()


def npm_ci(folder: Path) -> Path:
    """Install the packages of the lock file in a folder; the folder `node_modules`.

    Raises:
        RuntimeError: Node.js or npm is missing.

    """
    for tool in ("npm", "node"):
        if shutil.which(tool) is None:
            raise RuntimeError(f"building cortex-skills needs Node.js 20 or newer: `{tool}` was not found")
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, check=True)
    return folder / "node_modules"


def esbuild(wasm: Path, folder: Path, *arguments: str) -> None:
    """Run esbuild; it sees the files of one folder, which is `/` for it."""
    command = ["node", "--no-warnings", str(_ESBUILD), str(wasm), str(folder), *arguments]
    subprocess.run(command, check=True)


def put_in_place(built: Path, target: Path) -> None:
    """Replace a folder by another one on the same file system, in one rename."""
    for path in built.iterdir():
        path.chmod(0o644)
    shutil.rmtree(target, ignore_errors=True)
    built.rename(target)
