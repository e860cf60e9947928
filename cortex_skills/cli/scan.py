"""`scan`: what in the files of skills breaks a rule, told as a compiler tells it, or as SARIF.

Rules kept here:
- nothing is decided here: the loader refuses what has a critical finding, and this shows it;
- nothing of a skill runs;
- in SARIF a file is named relative to the current folder, or to the folder that was scanned where it lies elsewhere.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cortex_skills.cli.commands import Command
from cortex_skills.cli.faults import excerpt_at
from cortex_skills.cli.files import write_whole
from cortex_skills.cli.options import FOLDER, Common
from cortex_skills.cli.output import Output, style_of
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_skills.scanner import Finding

Found = list[tuple[Path, "Finding"]]


@click.command(cls=Command)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=FOLDER)
@click.option(
    "--sarif", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Write SARIF 2.1.0, too."
)
@click.pass_obj
def scan(common: Common, paths: tuple[Path, ...], sarif: Path | None) -> None:
    """Look in the files of skills for what no skill may do.

    PATH is a skill's folder, or a folder of skills. A critical finding keeps a skill from being loaded; a warning
    does not.
    """
    from cortex_skills.scanner import scan_folder

    found = [(folder, finding) for path in paths for folder in _folders(path) for finding in scan_folder(folder)]
    if sarif is not None:
        _write_sarif(sarif, found)
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


def _show(out: Output, found: Found) -> None:
    for folder, finding in found:
        place = f"{folder / finding.file}:{finding.line}:{finding.column}: "
        label = (f"{finding.severity}[{finding.rule}]", style_of(finding.severity))
        out.line(place, label, f": {finding.message}")
        shown = excerpt_at(folder, finding.file, finding.line, finding.column) if finding.evidence else ""
        for line in shown.splitlines() or ([f"    {finding.evidence}"] if finding.evidence else []):
            out.line(line)
        if finding.hint:
            out.line(f"    hint: {finding.hint}")
    if not found:
        out.line("no findings")


def _write_sarif(file: Path, found: Found) -> None:
    from cortex_skills import __version__
    from cortex_skills.scanner.rules import RULES
    from cortex_skills.scanner.sarif import to_sarif
    from cortex_skills.scanner.whole_files import RULES as WHOLE_FILES

    named = ((_relative(folder, finding.file), finding) for folder, finding in found)
    log = to_sarif(named, (*RULES, *WHOLE_FILES), __version__)
    write_whole(file, json.dumps(log, indent=2) + "\n")


def _relative(folder: Path, file: str) -> str:
    """A file of a scanned folder by its path below the current folder, or below the folder's own parent."""
    place = folder.resolve()
    current = Path.cwd().resolve()
    base = current if place.is_relative_to(current) else place.parent
    return (place.relative_to(base) / file).as_posix()
