"""Code for every processor of this architecture, and the code that came with the package.

Rules kept here:
- code in a wheel uses the features of x86-64-v2 (2009), or of ARMv8.0;
- it is read from the folder of this package only, which is trusted as its modules are; a file has a digest, checked
  when it is read, and its name has the digest of everything that the code depends on but the processor. The engine
  refuses code that needs a feature which the processor lacks, and it is compiled then.
"""

from __future__ import annotations

import ctypes
import logging
import platform
import sys

import wasmtime
from wasmtime import _ffi as ffi

from cortex_sandbox.engine.guests import FOLDER, unpacked

log = logging.getLogger(__name__)

SUFFIX = ".cwasm.xz"
NATIVE = FOLDER / "native"
_SYSTEMS = {"linux": "unknown-linux-gnu", "darwin": "apple-darwin", "win32": "pc-windows-msvc"}
_ARCHITECTURES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
_X86_64_V2 = ("has_cmpxchg16b", "has_popcnt", "has_sse3", "has_ssse3", "has_sse41", "has_sse42")


def compile_portably(config: wasmtime.Config) -> None:
    """Make an engine compile for every processor of this architecture.

    Raises:
        ValueError: this architecture or system is not known here.
    """
    architecture = _ARCHITECTURES.get(platform.machine().lower())
    if architecture is None or sys.platform not in _SYSTEMS:
        raise ValueError(f"no portable code is made for {platform.machine()} on {sys.platform}")
    target = f"{architecture}-{_SYSTEMS[sys.platform]}"
    error = ffi.wasmtime_config_target_set(config.ptr(), ctypes.create_string_buffer(target.encode()))
    if error:
        raise ValueError(str(wasmtime.WasmtimeError._from_ptr(error)))
    for feature in _X86_64_V2 if architecture == "x86_64" else ():
        ffi.wasmtime_config_cranelift_flag_enable(config.ptr(), ctypes.create_string_buffer(feature.encode()))


def code_of_package(name: str) -> bytes | None:
    """The code with this name that came with the package; None when there is none, or it is damaged."""
    path = NATIVE / f"{name}{SUFFIX}"
    if not path.is_file():
        return None
    try:
        return unpacked(path)
    except OSError as error:
        log.warning("%s cannot be read (%s): it is compiled again", path.name, error)
        return None
