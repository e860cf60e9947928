"""`doctor`: check the installation, and show how to repair it.

Rules kept here:
- every check runs, also after another has failed, and none ends with a traceback;
- the exit code is 2 when a check fails; a warning is no failure.
"""

from __future__ import annotations

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Common
from cortex_skills.doors.cli.output import style_of


@click.command(cls=Command)
@click.option("--deep", is_flag=True, help="Also read all files of the store, as `graph check`.")
@click.pass_obj
def doctor(common: Common, deep: bool) -> None:
    """Check the installation, the configuration and the store."""
    from cortex_skills.doors.cli.checks import CHECKS, store_files

    out = common.out
    with out.working("checking (the first time on a machine takes a few seconds longer)"):
        checks = (*CHECKS, store_files) if deep else CHECKS
        results = [result for check in checks for result in check(common)]
    failed = any(result.status == "fail" for result in results)

    def show() -> None:
        for result in results:
            out.line(
                (f"{result.status:<4}", style_of(result.status) or "green"), f"  {result.subject}: {result.message}"
            )
            if result.hint:
                out.line(f"        hint: {result.hint}")

    out.answer({"ok": not failed, "checks": [result.to_json() for result in results]}, show)
    if failed:
        raise click.exceptions.Exit(2)
