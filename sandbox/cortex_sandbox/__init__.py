"""Runs untrusted JavaScript and TypeScript: QuickJS and esbuild as WebAssembly, with strict limits.

with Sandbox(Limits(timeout_s=1.0), host={"echo": lambda value: value}) as box:
    box.load_module(transpile("export default { twice: (n: number) => 2 * echo(n) }"))
    box.call("twice", 21)  # 42
"""

from typing import TYPE_CHECKING, Any

from cortex_sandbox.errors import Frame, SandboxError, SandboxMemoryError, SandboxTimeout, TranspileError
from cortex_sandbox.limits import Limits

if TYPE_CHECKING:
    from cortex_sandbox.box import Box
    from cortex_sandbox.direct import DirectSandbox
    from cortex_sandbox.esbuild.bundler import Module, bundle, transpile
    from cortex_sandbox.isolation import ProcessSandbox, Protection, protections
    from cortex_sandbox.quickjs.exports import Exports
    from cortex_sandbox.quickjs.host import LogLine, Promised, remaining_s
    from cortex_sandbox.sandbox import Sandbox
    from cortex_sandbox.warming import warm_up

__all__ = [
    "Box",
    "DirectSandbox",
    "Exports",
    "Frame",
    "Limits",
    "LogLine",
    "Module",
    "ProcessSandbox",
    "Promised",
    "Protection",
    "Sandbox",
    "SandboxError",
    "SandboxMemoryError",
    "SandboxTimeout",
    "TranspileError",
    "bundle",
    "protections",
    "remaining_s",
    "transpile",
    "warm_up",
]

# The engine is expensive to import: each name is imported at its first use.
_LAZY = {
    "Box": "box",
    "DirectSandbox": "direct",
    "Exports": "quickjs.exports",
    "LogLine": "quickjs.host",
    "Module": "esbuild.bundler",
    "ProcessSandbox": "isolation",
    "Promised": "quickjs.host",
    "Protection": "isolation",
    "Sandbox": "sandbox",
    "bundle": "esbuild.bundler",
    "protections": "isolation",
    "remaining_s": "quickjs.host",
    "transpile": "esbuild.bundler",
    "warm_up": "warming",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_LAZY[name]}", __name__), name)
