"""`--types`: check the types of skills where the TypeScript compiler is installed.

Rules kept here:
- on by default: where there is TypeScript and no compiler, one note states that types are not checked; with `--types`
  that is an error;
- a type error is a fault of the skill, shown like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.doors.cli.options import Common
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_skills.skill_folder.type_check import TypeCheck

_MISSING = "no TypeScript compiler (tsc) was found on the PATH, or in a node_modules of this folder"
_INSTALL = "npm install --global typescript"

TYPES: Callable[[Any], Any] = click.option(
    "--types/--no-types",
    "types",
    default=None,
    help="Check the types with the TypeScript compiler [where it is installed].",
)


class TypeOption:
    """The check of types that an option selects, for one run of a command."""

    def __init__(self, common: Common, wanted: bool | None) -> None:
        """Find the compiler.

        Raises:
            CortexError: `invalid_arguments`: there is no compiler, and the option asks for it.
        """
        self._common = common
        self._check: TypeCheck | None = None
        self._is_noted = wanted is False
        if wanted is False:
            return
        from cortex_skills.skill_folder.type_check import TypeCheck, find_compiler

        if compiler := find_compiler(Path.cwd()):
            self._check = TypeCheck(compiler)
        elif wanted:
            raise CortexError("invalid_arguments", _MISSING, hint=_INSTALL)

    def error_of(self, folder: Path, *, tests: bool = False) -> CortexError | None:
        """The type errors of the skill in a folder, as one error; None when there are none, or nothing was checked.

        A skill whose files cannot be read has none here: its other checks report that.
        """
        if self._check is None and self._is_noted:
            return None
        from cortex_skills.skill_folder.snapshot import read_skill
        from cortex_skills.skill_folder.type_check import typed_files

        try:
            snapshot = read_skill(folder)
            if snapshot.manifest is None or snapshot.manifest.semantic is None:
                return None  # its code is not run
            if self._check is not None:
                return self._check.check(snapshot, tests=tests)
        except CortexError as error:
            return error
        if typed_files(snapshot, tests=tests):
            self._is_noted = True
            self._common.out.note(f"types are not checked: found no tsc ({_INSTALL}, or --no-types)")
        return None
