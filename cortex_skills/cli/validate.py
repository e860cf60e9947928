"""`validate`: check skills, and report every problem.

Rules kept here:
- every problem of every skill is reported, with file, line, field and remedy, also after a skill that is invalid;
- code of a skill runs only with `--load`, on an empty graph in memory; the compiler only reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.cli.commands import Command
from cortex_skills.cli.faults import Fault, faults_of
from cortex_skills.cli.options import FOLDER, Common
from cortex_skills.cli.output import Output
from cortex_skills.cli.types import TYPES, TypeOption
from cortex_skills.errors import CortexError
from cortex_skills.safe_io.schemas import Problem

if TYPE_CHECKING:
    from cortex_skills.plugin import Plugin


@dataclass(frozen=True, slots=True)
class Report:
    """The result for one folder.

    Attributes:
        folder: of the skill, or the folder of skills when the fault concerns all of them.
        name, version: from the manifest; None when it is not valid, or has no semantic block.
        hooks: exported by the code; None when it was not loaded.
        faults: every problem found.
        warnings: what is ignored in a valid manifest.

    """

    folder: Path
    name: str | None = None
    version: str | None = None
    hooks: tuple[str, ...] | None = None
    faults: tuple[Fault, ...] = ()
    warnings: tuple[Problem, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The report as JSON."""
        return {
            "folder": str(self.folder),
            "name": self.name,
            "version": self.version,
            "valid": not self.faults,
            "hooks": None if self.hooks is None else list(self.hooks),
            "errors": [fault.to_json() for fault in self.faults],
            "warnings": [warning.to_json() for warning in self.warnings],
        }


@click.command(cls=Command)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=FOLDER)
@click.option("--load", is_flag=True, help="Also scan, bundle and load each skill, on an empty graph in memory.")
@TYPES
@click.pass_obj
def validate(common: Common, paths: tuple[Path, ...], load: bool, types: bool | None) -> None:
    """Check skills, and report every problem.

    PATH is the folder of a skill, or a folder of skills. Checks each SKILL.md by all rules of the manifest, shapes.ttl
    if there is one, and the types of the code if the TypeScript compiler is installed; with --load also whether the
    skill loads: dependencies, scan, bundle, and the exports of its code.
    """
    check = TypeOption(common, types)
    reports = [_with_types(report, check) for path in paths for report in _check_all(path)]
    if load and not any(report.faults for report in reports):
        with common.plugin(common.settings(store="memory:"), paths) as plugin:
            reports = [report for path in paths for report in _load(common, plugin, path)]
    bad = [report for report in reports if report.faults]
    document = {"valid": not bad, "skills": [report.to_json() for report in reports]}
    common.out.answer(document, lambda: _show(common.out, reports, warned=load))
    if bad:
        count = sum(len(report.faults) for report in bad)
        raise CortexError(
            bad[0].faults[0].code,
            f"{len(bad)} of {len(reports)} skills {'is' if len(bad) == 1 else 'are'} not valid ({_problems(count)})",
            hint="correct the problems listed above",
        )


def _with_types(report: Report, check: TypeOption) -> Report:
    error = None if report.name is None else check.error_of(report.folder)
    return report if error is None else replace(report, faults=(*report.faults, *faults_of(error, report.folder)))


def _check_all(path: Path) -> Iterator[Report]:
    from cortex_skills.skill_folder.snapshot import skill_folders

    try:
        folders = skill_folders(path)
    except CortexError as error:
        yield Report(path, faults=tuple(faults_of(error, path)))
        return
    yield from map(_check, folders)


def _check(folder: Path) -> Report:
    from cortex_skills.manifest import load_manifest
    from cortex_skills.skill_folder.snapshot import SHAPES

    try:
        manifest = load_manifest(folder, portable=True)
        if (folder / SHAPES).exists():
            from cortex_skills.proofs.logic.rule_set import read_rules_file

            read_rules_file(folder / SHAPES, f"skill:{manifest.name}")
    except CortexError as error:
        return Report(folder, faults=tuple(faults_of(error, folder)))
    version = manifest.semantic.skill_version if manifest.semantic else None
    return Report(folder, manifest.name, version, warnings=manifest.warnings)


def _load(common: Common, plugin: Plugin, path: Path) -> list[Report]:
    """The reports of the skills of a path, after loading them into the plugin."""
    reports = list(_check_all(path))
    try:
        common.load(plugin, path)
    except CortexError as error:
        if len(reports) == 1:
            return [Report(reports[0].folder, faults=tuple(faults_of(error, reports[0].folder)))]
        return [*reports, Report(path, faults=tuple(faults_of(error, path)))]
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
        if not report.faults:
            version = f" {report.version}" if report.version else ", without a semantic block"
            hooks = "" if report.hooks is None else f", exports {', '.join(report.hooks) or 'no hooks'}"
            out.line(("ok", "green"), f" {report.folder}: {report.name}{version}{hooks}")


def _problems(count: int) -> str:
    return f"{count} problem{'' if count == 1 else 's'}"
