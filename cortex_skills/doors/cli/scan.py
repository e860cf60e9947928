"""`scan`: report findings in the files of skills, in the format of a compiler or as SARIF.

Rules kept here:
- nothing is decided here: the loader refuses a skill with a critical finding, this command shows it;
- no code of a skill runs;
- SARIF names files relative to the current folder, or to the parent of a scanned folder outside of it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.faults import excerpt_at
from cortex_skills.doors.cli.options import FOLDER, Common
from cortex_skills.doors.cli.output import Output, style_of, write_whole
from cortex_skills.doors.cli.path_types import GivenPath
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_skills.scanner import Finding

Found = list[tuple[Path, "Finding"]]


@click.command(cls=Command)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=FOLDER)
@click.option("--sarif", metavar="FILE", type=GivenPath(dir_okay=False, path_type=Path), help="Also write SARIF 2.1.0.")
@click.pass_obj
def scan(common: Common, paths: tuple[Path, ...], sarif: Path | None) -> None:
    """Scan the files of skills for code that no skill may contain.

    PATH is the folder of a skill, or a folder of skills. A skill with a critical finding does not load; a warning does
    not prevent loading.
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
    """The skills at a path; the path itself when it holds none, because any source can be scanned."""
    from cortex_skills.skill_folder.snapshot import skill_folders

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
    from cortex_skills.scanner.rules import RULES
    from cortex_skills.scanner.sarif import to_sarif
    from cortex_skills.scanner.whole_files import RULES as WHOLE_FILES
    from cortex_skills.version import __version__

    named = ((_relative(folder, finding.file), finding) for folder, finding in found)
    log = to_sarif(named, (*RULES, *WHOLE_FILES), __version__)
    write_whole(file, json.dumps(log, indent=2) + "\n")


def _relative(folder: Path, file: str) -> str:
    """The path of a file relative to the current folder, or to the parent of the scanned folder."""
    place = folder.resolve()
    current = Path.cwd().resolve()
    base = current if place.is_relative_to(current) else place.parent
    return (place.relative_to(base) / file).as_posix()
