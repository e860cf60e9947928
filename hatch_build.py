"""Build hook: makes what the wheel contains and the repository does not.

Rules kept here:
- it makes the WebAssembly guests of the sandbox, then the assets of the explorer; each step does nothing when its
  result is current;
- it runs for wheels and editable installs, and as a program. It needs Node.js and pip; installing the finished wheel
  does not;
- a wheel is for every platform, and its guests are compiled where they run first, unless the variable
  `CORTEX_PLATFORM_WHEEL` is set to 1: then it is for this system and architecture, and contains compiled guests.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent))  # hatchling loads this file by its path

from build_steps.explorer import build_explorer
from build_steps.guests import build_guests
from build_steps.native import build_native, needed_packages, platform_tag

_FOR_PLATFORM = os.environ.get("CORTEX_PLATFORM_WHEEL") == "1"


class GuestsBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Called by hatchling before it assembles a wheel, regular or editable."""

    def dependencies(self) -> list[str]:
        """The packages that the build needs."""
        return needed_packages() if _FOR_PLATFORM else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build what is not current."""
        build()
        if _FOR_PLATFORM and version == "standard":
            files = {str(path): f"cortex_sandbox/guests/native/{path.name}" for path in build_native()}
            build_data["force_include"].update(files)
            build_data["pure_python"], build_data["tag"] = False, f"py3-none-{platform_tag()}"


def build() -> None:
    """Build what is not current."""
    build_guests()
    build_explorer()


if __name__ == "__main__":
    build()
