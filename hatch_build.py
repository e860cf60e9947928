"""Build hook: makes what the wheel contains and the repository does not.

Rules kept here:
- it makes the WebAssembly guests of the sandbox, then the assets of the explorer; each step does nothing when its
  result is current;
- it runs for wheels and editable installs, and as a program. It needs Node.js and pip; installing the finished wheel
  does not.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent))  # hatchling loads this file by its path

from build_steps.explorer import build_explorer
from build_steps.guests import build_guests


class GuestsBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Called by hatchling before it assembles a wheel, regular or editable."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Build what is not current."""
        build()


def build() -> None:
    """Build what is not current."""
    build_guests()
    build_explorer()


if __name__ == "__main__":
    build()
