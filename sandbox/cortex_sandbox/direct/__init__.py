"""The direct mode: a skill in Node.js, without a sandbox, for debugging (docs/direct-mode.md)."""

from cortex_sandbox.direct.sandbox import IMPORT_TIMEOUT_S, DirectSandbox

__all__ = ["IMPORT_TIMEOUT_S", "DirectSandbox"]
