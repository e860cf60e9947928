"""Which journals the commands of `audit` are about."""

from __future__ import annotations

from pathlib import Path

import click

from cortex_skills.doors.cli.options import Common
from cortex_skills.doors.cli.path_types import GivenPath
from cortex_skills.errors import CortexError

FOLDER = click.option(
    "--folder",
    type=GivenPath(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="The folder of the journal [that of the store].",
)


def folder_of(common: Common, given: Path | None) -> Path:
    """The folder of the journal.

    Raises:
        CortexError: `invalid_arguments`: it has none.
    """
    from cortex_skills.audit.merging import is_journal
    from cortex_skills.audit.opening import journal_folder

    folder = given or journal_folder(common.settings())
    if not is_journal(folder):
        hint = "`serve` and `mcp` keep a journal for their store; name another --store or --folder"
        raise CortexError("invalid_arguments", f"there is no journal in {folder}", hint=hint)
    return folder


def all_folders(common: Common, given: Path | None) -> list[Path]:
    """The folders of the journals below a folder; without one, of all stores of this host that are known here.

    Raises:
        CortexError: `invalid_arguments`: there is none.
    """
    from cortex_skills.audit.merging import is_journal
    from cortex_skills.audit.opening import journal_folder, journals_folder

    around = given or journals_folder()
    others = [] if given else [journal_folder(common.settings())]
    below = sorted(around.iterdir()) if around.is_dir() else []
    found = [folder for folder in dict.fromkeys((*others, around, *below)) if is_journal(folder)]
    if not found:
        raise CortexError("invalid_arguments", f"there is no journal in {around}", hint="name another --folder")
    return found
