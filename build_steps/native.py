"""Compiles the guests for every processor of this architecture, for a wheel of this platform.

Rules kept here:
- the code has the names under which `cortex_sandbox.engine.code_cache` looks for it: the version of wasmtime, the
  guests and the settings of the engines determine them;
- it is made by the package itself, in a process with an empty cache, and compiled again when an input has changed.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from pathlib import Path

from build_steps.guests import GUESTS, pack
from build_steps.tools import ROOT, digest_of

NATIVE = ROOT / "build" / "native"
_SANDBOX = ROOT / "sandbox"
_ENGINE = _SANDBOX / "cortex_sandbox" / "engine"
# The image of QuickJS without the bootstrap is needed to make the others only.
_NOT_SHIPPED = "quickjs-core-"
_PROGRAM = """\
from cortex_sandbox import Limits, warm_up
from cortex_sandbox.engine.engine import compile_for_all
from cortex_sandbox.limits import MAX_MEMORY_BYTES, MIN_MEMORY_BYTES
compile_for_all()
for memory_bytes in (MIN_MEMORY_BYTES, MAX_MEMORY_BYTES):
    warm_up(Limits(memory_bytes=memory_bytes))
"""
_LINUX = "manylinux_2_17"  # as old as that of the packages that the wheel depends on
_MACOS = "macosx_11_0"


def needed_packages() -> list[str]:
    """The packages that compile, in the versions that the wheel depends on."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [name for name in project["dependencies"] if name.startswith("wasmtime==")]


def platform_tag() -> str:
    """The platform in the name of a wheel with code for this machine.

    Raises:
        RuntimeError: no wheel is made for it.

    """
    machine = platform.machine().lower()
    if sys.platform == "linux" and "musl" not in str(sysconfig.get_config_var("SOABI")):
        return f"{_LINUX}_{machine}"
    if sys.platform == "darwin":
        return f"{_MACOS}_{machine}"
    if sys.platform == "win32":
        return f"win_{machine}"
    raise RuntimeError("no wheel is made for this platform: make the one for every platform (make wheel-pure)")


def build_native() -> list[Path]:
    """Compile the guests, unless the existing code is current; the files."""
    inputs = [GUESTS / "guests.json", Path(__file__), ROOT / "pyproject.toml", *sorted(_ENGINE.glob("*.py"))]
    stamp = NATIVE / f"{digest_of(inputs)}.stamp"
    if not stamp.is_file():
        shutil.rmtree(NATIVE, ignore_errors=True)
        NATIVE.mkdir(parents=True)
        with tempfile.TemporaryDirectory(dir=NATIVE) as scratch:
            environment = {**os.environ, "CORTEX_SANDBOX_CACHE": scratch, "PYTHONPATH": str(_SANDBOX)}
            subprocess.run([sys.executable, "-c", _PROGRAM], env=environment, check=True)
            for path in sorted(Path(scratch).glob("*.cwasm")):
                if path.name.startswith(_NOT_SHIPPED):
                    continue
                name = path.stem.rpartition("-")[0]  # without the processor of this machine
                pack(path.rename(NATIVE / f"{name}.cwasm"))
        stamp.touch()
    return sorted(NATIVE.glob("*.xz"))
