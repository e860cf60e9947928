"""The direct mode: a skill in the machine's Node.js, without a sandbox, for debuggers (docs/direct-mode.md)."""

from .sandbox import IMPORT_TIMEOUT_S, DirectSandbox

__all__ = ["IMPORT_TIMEOUT_S", "DirectSandbox"]
