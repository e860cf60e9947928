"""The scripts of the explorer, checked by the TypeScript compiler with the packages that they are bundled with."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from cortex_skills.doors.explorer import rendering

CHECK = Path(__file__).parents[1] / "typecheck"
COMPILER = CHECK / "node_modules" / "typescript" / "bin" / "tsc"
SOURCES = Path(rendering.__file__).parent / "src"


def packages(folder: Path) -> dict[str, str]:
    """The packages of a lock file, with their integrity."""
    lock = json.loads((folder / "package-lock.json").read_text())["packages"]
    return {name: package["integrity"] for name, package in lock.items() if name}


def test_the_packages_are_those_of_the_build() -> None:
    built, checked = packages(SOURCES), packages(CHECK)
    assert {name: checked.get(name) for name in built} == built
    assert set(checked) - set(built) == {"node_modules/typescript"}


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
def test_the_compiler_accepts_the_scripts() -> None:
    if not COMPILER.is_file():
        pytest.skip("TypeScript is not installed: npm ci --prefix tests/explorer/typecheck")
    command = ["node", str(COMPILER), "--project", str(CHECK)]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (checked.stdout, checked.returncode) == ("", 0)
