"""`scan`: what in the source of skills breaks a rule, told as a compiler tells it.

Rules kept here:
- nothing is decided here: the loader refuses what has a critical finding, and this shows it;
- nothing of a skill runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cortex_skills.cli.commands import Command
from cortex_skills.cli.options import FOLDER, Common
from cortex_skills.cli.output import Output, style_of
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_skills.scanner import Finding


@click.command(cls=Command)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=FOLDER)
@click.pass_obj
def scan(common: Common, paths: tuple[Path, ...]) -> None:
    """Look in the source of skills for what no skill may do.

    PATH is a skill's folder, or a folder of skills. A critical finding keeps a skill from being loaded; a warning
    does not.
    """
    from cortex_skills.scanner import scan_folder

    found = [(folder, finding) for path in paths for folder in _folders(path) for finding in scan_folder(folder)]
    critical = sum(finding.severity == "critical" for _, finding in found)
    document = {
        "critical": critical,
        "warnings": len(found) - critical,
        "findings": [{"folder": str(folder), **finding.to_json()} for folder, finding in found],
    }
    common.out.answer(document, lambda: _show(common.out, found))
    if critical:
        message = f"{critical} critical finding{'' if critical == 1 else 's'}"
        raise CortexError("scan_rejected", message, hint="a skill with a critical finding is not loaded")


def _folders(path: Path) -> list[Path]:
    """The skills at a path; the path itself where there is none, since any source can be scanned."""
    from cortex_skills.reading import skill_folders

    try:
        return skill_folders(path)
    except CortexError:
        return [path]


def _show(out: Output, found: list[tuple[Path, Finding]]) -> None:
    for folder, finding in found:
        place = f"{folder / finding.file}:{finding.line}:{finding.column}: "
        label = (f"{finding.severity}[{finding.rule}]", style_of(finding.severity))
        out.line(place, label, f": {finding.message}")
        if finding.evidence:
            out.line(f"    {finding.evidence}")
        if finding.hint:
            out.line(f"    hint: {finding.hint}")
    if not found:
        out.line("no findings")
