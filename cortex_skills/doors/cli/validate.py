"""`validate`: check skills, and report every problem.

Rules kept here:
- every problem of every skill is reported, with file, line, field and remedy, also after a skill that is invalid;
- it is stated of each finding whether this product loads the skill: an error stops it (the types of the code do not),
  a warning does not, also when other readers of the format refuse the skill;
- the exit code is 1 with an error, and with `--strict` 3 with a warning;
- code of a skill runs only with `--load`, on an empty graph in memory; the scanner and the compiler only read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.faults import Fault, faults_of
from cortex_skills.doors.cli.options import FOLDER, Common
from cortex_skills.doors.cli.output import Output
from cortex_skills.doors.cli.types_option import TYPES, TypeOption
from cortex_skills.errors import CortexError
from cortex_skills.feature import functions
from cortex_skills.safe_io.display import one_line
from cortex_skills.safe_io.schemas import Problem

if TYPE_CHECKING:
    from cortex_skills.plugin import Plugin
    from cortex_skills.skill_folder.skipped import SkippedSkill

_WARNED = 3


@dataclass(frozen=True, slots=True)
class Report:
    """The result for one folder.

    Attributes:
        folder: of the skill, or the folder of skills when the fault concerns all of them.
        name, version: from the manifest; None when it is not valid, or has no semantic block.
        hooks: exported by the code; None when it was not loaded.
        faults: every problem found.
        warnings: what is ignored or read differently in a valid manifest, and what other readers refuse.
        skipped: skills near this one that are not read; with the first report of a path.
        loads: whether this product loads the skill.
    """

    folder: Path
    name: str | None = None
    version: str | None = None
    hooks: tuple[str, ...] | None = None
    faults: tuple[Fault, ...] = ()
    warnings: tuple[Problem, ...] = ()
    skipped: tuple[SkippedSkill, ...] = ()
    loads: bool = True

    def to_json(self) -> dict[str, Any]:
        """The report as JSON."""
        return {
            "folder": str(self.folder),
            "name": self.name,
            "version": self.version,
            "valid": not self.faults,
            "loads": self.loads,
            "hooks": None if self.hooks is None else list(self.hooks),
            "errors": [fault.to_json() for fault in self.faults],
            "warnings": [warning.to_json() for warning in self.warnings],
            "skipped": [skipped.to_json() for skipped in self.skipped],
        }


@click.command(cls=Command)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=FOLDER)
@click.option("--load", is_flag=True, help="Also bundle and load each skill, on an empty graph in memory.")
@click.option("--strict", is_flag=True, help="Exit with 3 when there is a warning and no error.")
@TYPES
@click.pass_context
def validate(ctx: click.Context, paths: tuple[Path, ...], load: bool, strict: bool, types: bool | None) -> None:
    """Check skills, and report every problem.

    PATH is the folder of a skill, or a folder of skills. Checks each SKILL.md by all rules of the manifest, shapes.ttl
    if there is one, scans the code, and checks its types if the TypeScript compiler is installed; with --load also
    whether the skill loads: dependencies, bundle, and the exports of its code.

    An error stops the load of a skill. A warning does not: something is ignored or read differently, or other readers
    of the format refuse it.
    """
    common: Common = ctx.obj
    check, scans = TypeOption(common, types), not load and common.settings().verification.auto_scan
    by_path = {path: [_with_types(report, check) for report in _check_all(path, scans=scans)] for path in paths}
    valid = [path for path, found in by_path.items() if not any(report.faults for report in found)]
    if load and valid:
        with common.plugin(common.settings(store="memory:"), valid) as plugin:
            by_path |= {path: _load(common, plugin, path) for path in valid}
    reports = [report for found in by_path.values() for report in found]
    bad = [report for report in reports if report.faults]
    document = {"valid": not bad, "skills": [report.to_json() for report in reports]}
    common.out.answer(document, lambda: _show(common.out, reports, warned=load))
    if bad:
        verb = "is" if len(bad) == 1 else "are"
        problems = _count(sum(len(report.faults) for report in bad), "problem")
        raise CortexError(
            bad[0].faults[0].code,
            f"{len(bad)} of {len(reports)} skills {verb} not valid ({problems})",
            hint="correct the problems listed above",
        )
    if strict and any(report.warnings or report.skipped for report in reports):
        ctx.exit(_WARNED)


def _with_types(report: Report, check: TypeOption) -> Report:
    error = None if report.name is None else check.error_of(report.folder)  # type errors do not stop the load
    return report if error is None else replace(report, faults=(*report.faults, *faults_of(error, report.folder)))


def _check_all(path: Path, *, scans: bool) -> Iterator[Report]:
    from cortex_skills.skill_folder.skipped import skipped_skills
    from cortex_skills.skill_folder.snapshot import skill_folders

    try:
        folders = skill_folders(path)
    except CortexError as error:
        yield _refused(path, error)
        return
    first, *others = (_check(folder, scans=scans) for folder in folders)
    yield replace(first, skipped=tuple(skipped_skills(path, folders)))
    yield from others


def _check(folder: Path, *, scans: bool) -> Report:
    from cortex_skills.lifecycle.loader import found_in, refuse_critical
    from cortex_skills.manifest import load_manifest
    from cortex_skills.skill_folder.snapshot import SHAPES, read_skill

    try:
        manifest = load_manifest(folder, portable=True)
        if manifest.semantic is not None and (folder / SHAPES).exists():
            from cortex_skills.skill_folder.rule_set import read_rules_file

            read_rules_file(folder / SHAPES, f"skill:{manifest.name}")
        if manifest.semantic is not None and scans:
            refuse_critical(manifest.name, found_in(read_skill(folder)))
    except CortexError as error:
        return _refused(folder, error)
    version = manifest.semantic.skill_version if manifest.semantic else None
    return Report(folder, manifest.name, version, warnings=(*manifest.warnings, *_changes(folder)))


def _changes(folder: Path) -> Iterator[Problem]:
    """That a skill was changed after its export, so that it is neither registered nor signed as it is."""
    for check in functions("folder_checks"):
        try:
            check(folder)
        except CortexError as error:
            yield Problem((error.details.get("file", folder.name),), error.message, error.hint)


def _refused(folder: Path, error: CortexError) -> Report:
    return Report(folder, faults=tuple(faults_of(error, folder)), loads=False)


def _load(common: Common, plugin: Plugin, path: Path) -> list[Report]:
    """The reports of the skills of a path, after loading them into the plugin."""
    reports = list(_check_all(path, scans=False))  # loading scans
    try:
        common.load(plugin, path)
    except CortexError as error:
        if len(reports) == 1:
            return [_refused(reports[0].folder, error)]
        return [*reports, _refused(path, error)]
    loaded = []
    for report in reports:
        runtime = plugin.skills[report.name or ""].runtime
        if runtime is not None and runtime.degraded is not None:
            report = replace(report, faults=tuple(faults_of(runtime.degraded, report.folder)))
        loaded.append(replace(report, hooks=tuple(sorted(runtime.hooks)) if runtime else ()))
    return loaded


def _show(out: Output, reports: list[Report], *, warned: bool) -> None:
    """Show the reports; `warned` is whether loading has logged the warnings."""
    for report in reports:
        for fault in report.faults:
            fault.show(out, report.folder)
        for warning in () if warned else report.warnings:
            out.line(("warning", "yellow"), f": {report.folder}/{warning}")
        for skipped in () if warned else report.skipped:
            out.line(("warning", "yellow"), f": {skipped}")
        if report.faults:
            verdict = "loads here all the same" if report.loads else "does not load here"
            out.line(("not valid", "red"), f" {one_line(str(report.folder))}: {verdict}")
        else:
            version = f" {report.version}" if report.version else ", without a semantic block"
            hooks = "" if report.hooks is None else f", exports {', '.join(report.hooks) or 'no hooks'}"
            loads = f"; loads here, with {_count(len(report.warnings), 'warning')}" if report.warnings else ""
            out.line(("ok", "green"), f" {report.folder}: {report.name}{version}{hooks}{loads}")


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
