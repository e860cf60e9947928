"""The command that runs a function of this package in a new interpreter.

Rules kept here:
- the interpreter is isolated (`-I`): no settings from the environment, no user site, nothing from the working folder;
- it imports from where this process imports, so that both have the same version of the package;
- the function is named in the command: the script of the host is not run again, with or without a `__main__` guard.
"""

from __future__ import annotations

import sys
from pathlib import Path

_PROGRAM = "import sys; sys.path[:] = sys.argv[2:]; from {module} import main; main(*map(int, sys.argv[1].split()))"


def command(module: str, *numbers: int) -> list[str]:
    """The command line.

    Args:
        module: a module of this package with a function `main`.
        numbers: the arguments of `main`.
    """
    own = str(Path(__file__).parents[2])
    paths = [*(path for path in sys.path if Path(path).is_absolute()), own]
    return [sys.executable, "-I", "-c", _PROGRAM.format(module=module), " ".join(map(str, numbers)), *paths]
