"""Runs untrusted JavaScript and TypeScript: QuickJS and esbuild as WebAssembly, with limits that hold.

with Sandbox(Limits(timeout_s=1.0), host={"echo": lambda value: value}) as box:
    box.load_module(transpile("export default { twice: (n: number) => 2 * echo(n) }"))
    box.call("twice", 21)  # 42
"""

from typing import TYPE_CHECKING, Any

from .errors import Frame, ModuleStopped, SandboxError, SandboxMemoryError, SandboxTimeout, TranspileError
from .limits import Limits

if TYPE_CHECKING:
    from .box import Box
    from .bundler import Module, bundle, transpile
    from .direct import DirectSandbox
    from .exports import Exports
    from .host import LogLine, Promised, remaining_s
    from .isolation import ProcessSandbox, Protection, protections
    from .pure import PureInstance, PureModule
    from .sandbox import Sandbox

__all__ = [
    "Box",
    "DirectSandbox",
    "Exports",
    "Frame",
    "Limits",
    "LogLine",
    "Module",
    "ModuleStopped",
    "ProcessSandbox",
    "Promised",
    "Protection",
    "PureInstance",
    "PureModule",
    "Sandbox",
    "SandboxError",
    "SandboxMemoryError",
    "SandboxTimeout",
    "TranspileError",
    "bundle",
    "protections",
    "remaining_s",
    "transpile",
]

# The engine is large: it is imported when something of it is first used.
_LAZY = {
    "Box": "box",
    "DirectSandbox": "direct",
    "Exports": "exports",
    "LogLine": "host",
    "Module": "bundler",
    "ProcessSandbox": "isolation",
    "Promised": "host",
    "Protection": "isolation",
    "PureInstance": "pure",
    "PureModule": "pure",
    "Sandbox": "sandbox",
    "bundle": "bundler",
    "protections": "isolation",
    "remaining_s": "host",
    "transpile": "bundler",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_LAZY[name]}", __name__), name)
