"""What a skill's code runs in: a sandbox in this process, one in a process that the kernel confines, or Node.js.

Rules kept here:
- one way to use all of them (`Box`); which one it is, the configuration decides;
- the last is no sandbox at all: it is the direct mode, for debugging, and refuses by itself where it was not asked for
  in the environment too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cortex_sandbox import Box, DirectSandbox, Exports, Limits, ProcessSandbox, Promised, Sandbox, SandboxError
from cortex_skills.config import SkillSandbox
from cortex_skills.errors import CortexError

# What contract.md gives the native import of the direct mode.
_DIRECT_IMPORT_S = 5.0
_NOT_HERE = frozenset({"DirectModeRefused", "DirectModeUnavailable", "Unsupported"})


@dataclass(frozen=True)
class Program:
    """A skill's code, and how it is run.

    Attributes:
        source: the bundled module.
        folder: where the skill lies.
        entry: the file of the folder that is the module.
        settings: the host's, for skills' code.

    """

    source: str
    folder: Path
    entry: str
    settings: SkillSandbox

    @property
    def limits(self) -> Limits:
        """What the code may use."""
        return Limits(
            memory_bytes=self.settings.memory_limit_bytes,
            stack_bytes=self.settings.max_stack_size_bytes,
            timeout_s=self.settings.execution_timeout_ms / 1000,
        )

    def open(self, functions: Mapping[str, Promised]) -> Box:
        """A fresh box that offers these functions, with nothing loaded yet.

        Raises:
            CortexError: `config_invalid`, when there can be none of the kind that the settings ask for.
            SandboxError: it could not be made.

        """
        settings = self.settings
        try:
            if not settings.sandbox_enabled:
                return DirectSandbox(self.folder, self.entry, self.limits, functions, inspect=settings.inspect or None)
            kind = ProcessSandbox if settings.isolation == "process" else Sandbox
            return kind(self.limits, functions)
        except ValueError as error:
            raise CortexError("config_invalid", f"skillSandbox: {error}") from error
        except SandboxError as error:
            if error.name in _NOT_HERE:
                raise CortexError("config_invalid", f"skillSandbox: {error.message}") from error
            raise

    def load(self, box: Box, timeout_s: float) -> Exports:
        """Load the code into a box of `open`.

        Raises:
            SandboxError: it does not load.

        """
        if isinstance(box, DirectSandbox):
            return box.load(timeout_s=min(timeout_s, _DIRECT_IMPORT_S))
        if isinstance(box, Sandbox | ProcessSandbox):
            return box.load_module(self.source, timeout_s=timeout_s)
        raise TypeError(f"{type(box).__name__} is no box of ours")
