"""`test`: run the tests of skills, and show failures in the format of a compiler.

Rules kept here:
- type errors are the outcome of a test named `types`, which is there only when it fails;
- each test is shown when it ends, and a summary at the end; with `--json` one document;
- the exit code is 1 when a test failed, and when there was no test to run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.faults import faults_of
from cortex_skills.doors.cli.options import FOLDER, Common
from cortex_skills.doors.cli.output import Output, style_of, write_whole
from cortex_skills.doors.cli.path_types import GivenPath
from cortex_skills.doors.cli.types_option import TYPES, TypeOption
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_skills.config.settings import Config
    from cortex_skills.features.skill_testing.report import TestOutcome, TestReport

_WORDS = {"passed": ("ok  ", "green"), "failed": ("fail", style_of("fail")), "skipped": ("skip", style_of("warn"))}


@click.command("test", cls=Command)
@click.argument("paths", metavar="FOLDER...", nargs=-1, required=True, type=FOLDER)
@click.option("--filter", "part", metavar="TEXT", default="", help="Only tests whose name or file contains this text.")
@click.option("--junit", metavar="FILE", type=GivenPath(dir_okay=False, path_type=Path), help="Also write JUnit XML.")
@TYPES
@click.pass_obj
def test(common: Common, paths: tuple[Path, ...], part: str, junit: Path | None, types: bool | None) -> None:
    """Run the tests of skills, from their files *.test.ts.

    FOLDER is the folder of a skill, or a folder of skills. Each test runs in a sandbox, with the skill loaded on a
    temporary graph in memory; its calls pass the same gate as those of an agent. The skills that a skill depends on are
    named by --skills, or are in the same folder of skills.
    """
    from cortex_skills.features.skill_testing import report as reporting

    config, check = settings_for_tests(common), TypeOption(common, types)
    reports: list[TestReport] = []
    show: Callable[[TestOutcome, Path], None] = (lambda *_: None) if common.out.as_json else OutcomePrinter(common.out)
    for path in paths:
        reports += _tested(common, config, path, part, show, check)
    if junit is not None:
        write_whole(junit, reporting.junit(reports))
    outcomes = [outcome for report in reports for outcome in report.outcomes]
    failed = sum(report.count("failed") for report in reports)
    document = {"ok": bool(outcomes) and not failed, "skills": [report.to_json() for report in reports]}
    common.out.answer(document, lambda: common.out.line(summary(reports)) if outcomes else None)
    if not outcomes:
        hint = (
            "no name of a test contains that text"
            if part
            else 'write one: skill.test.ts with test("…", async (t) => …)'
        )
        raise CortexError("invalid_arguments", "there is no test to run", hint=hint)
    if failed:
        raise click.exceptions.Exit(1)


def settings_for_tests(common: Common) -> Config:
    """The configuration, with a graph in memory and the namespace of tests."""
    from cortex_skills.features.skill_testing import NAMESPACE

    return common.settings(store="memory:", agentNamespace=NAMESPACE, hotReload=False)


def run_tests(
    common: Common,
    config: Config,
    folder: Path,
    needed: tuple[Path, ...],
    part: str,
    show: Callable[[TestOutcome], None],
    check: TypeOption,
) -> TestReport:
    """Check the types of one skill, and run its tests."""
    from cortex_skills.audit.call_records import DEFAULT_AGENT
    from cortex_skills.features.skill_testing.report import TestOutcome, TestReport
    from cortex_skills.features.skill_testing.runner import TestRun

    outcomes: tuple[TestOutcome, ...] = ()
    if (error := check.error_of(folder, tests=True)) is not None:
        outcomes = (TestOutcome("", "types", "failed", error=error),)
        show(outcomes[0])
    report = TestRun(config, folder, needed, part, common.agent or DEFAULT_AGENT).run(show)
    return TestReport(report.skill, (*outcomes, *report.outcomes))


class OutcomePrinter:
    """Shows the outcomes of tests."""

    def __init__(self, out: Output) -> None:
        self._out = out

    def __call__(self, outcome: TestOutcome, folder: Path) -> None:
        """Show one outcome; for a failure also its faults and what was logged."""
        from cortex_skills.manifest import name_of

        word, style = _WORDS[outcome.status]
        name = f": {outcome.name}" if outcome.name else ""
        took = "" if outcome.status == "skipped" else f" ({outcome.seconds * 1000:.0f} ms)"
        self._out.line((word, style), f"  {name_of(folder)}/{outcome.file}{name}{took}")
        if outcome.error is None:
            return
        for fault in faults_of(outcome.error, folder):
            fault.show(self._out, folder)
        for line in outcome.logs:
            self._out.line(f"  {line}")


def summary(reports: list[TestReport]) -> str:
    """The numbers of passed, failed and skipped tests."""
    counts = {status: sum(report.count(status) for report in reports) for status in ("passed", "failed", "skipped")}
    text = ", ".join(f"{count} {status}" for status, count in counts.items() if count or status == "passed")
    return f"{text} ({sum(report.seconds for report in reports):.1f} s)"


def _tested(
    common: Common,
    config: Config,
    path: Path,
    part: str,
    show: Callable[[TestOutcome, Path], None],
    check: TypeOption,
) -> list[TestReport]:
    from cortex_skills.skill_folder.snapshot import is_skill, skill_folders

    needed = tuple(common.skills) if is_skill(path) else (*common.skills, path)
    return [
        run_tests(common, config, folder, needed, part, lambda outcome, folder=folder: show(outcome, folder), check)  # type: ignore[misc]
        for folder in skill_folders(path)
    ]
