"""A skill's code and what runs it: a sandbox in this process, one in a process that the kernel confines, or Node.js.

Rules kept here:
- all of them have one interface (`Box`); the configuration selects which one is used;
- Node.js is not a sandbox: it is the direct mode, for debugging, and refuses unless an environment variable permits it
  as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cortex_sandbox import Limits, SandboxError
from cortex_skills.config.core_settings import SkillSandbox
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_sandbox import Box, Exports, Promised

_DIRECT_IMPORT_S = 5.0  # for the native import of the direct mode
_UNAVAILABLE = frozenset({"DirectModeRefused", "DirectModeUnavailable", "Unsupported"})


@dataclass(frozen=True)
class SkillProgram:
    """A skill's code, and how it is run.

    Attributes:
        source: the bundled module.
        folder: the skill's.
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
        """A new box with these host functions, with nothing loaded yet.

        Raises:
            CortexError: `config_invalid`, when the kind that the settings select is not available.
            SandboxError: it could not be created.
        """
        from cortex_sandbox import DirectSandbox, ProcessSandbox, Sandbox  # the engine, which is large

        settings = self.settings
        try:
            if not settings.sandbox_enabled:
                return DirectSandbox(self.folder, self.entry, self.limits, functions, inspect=settings.inspect or None)
            kind = ProcessSandbox if settings.isolation == "process" else Sandbox
            return kind(self.limits, functions)
        except ValueError as error:
            raise CortexError("config_invalid", f"skillSandbox: {error}") from error
        except SandboxError as error:
            if error.name in _UNAVAILABLE:
                raise CortexError("config_invalid", f"skillSandbox: {error.message}") from error
            raise

    def load(self, box: Box, timeout_s: float) -> Exports:
        """Load the code into a box of `open`.

        Raises:
            SandboxError: it does not load.
        """
        from cortex_sandbox import DirectSandbox, ProcessSandbox, Sandbox

        if isinstance(box, DirectSandbox):
            return box.load(timeout_s=min(timeout_s, _DIRECT_IMPORT_S))
        if isinstance(box, Sandbox | ProcessSandbox):
            return box.load_module(self.source, timeout_s=timeout_s)
        raise TypeError(f"{type(box).__name__} is not a box of `open`")
