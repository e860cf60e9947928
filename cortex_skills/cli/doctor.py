"""`doctor`: checks the installation, and says how to mend it.

Rules kept here:
- every check is made, whatever the others say, and none ends with a traceback;
- it ends with 2 when a check fails; a warning does not fail.
"""

from __future__ import annotations

import click

from cortex_skills.cli.commands import Command
from cortex_skills.cli.options import Common
from cortex_skills.cli.output import style_of


@click.command(cls=Command)
@click.pass_obj
def doctor(common: Common) -> None:
    """Check the installation, the configuration and the store."""
    from cortex_skills.cli.checks import CHECKS

    out = common.out
    with out.working("checking (the first time on a machine takes some seconds more)"):
        verdicts = [verdict for check in CHECKS for verdict in check(common)]
    failed = any(verdict.status == "fail" for verdict in verdicts)

    def show() -> None:
        for verdict in verdicts:
            out.line(
                (f"{verdict.status:<4}", style_of(verdict.status) or "green"), f"  {verdict.subject}: {verdict.message}"
            )
            if verdict.hint:
                out.line(f"        hint: {verdict.hint}")

    out.answer({"ok": not failed, "checks": [verdict.to_json() for verdict in verdicts]}, show)
    if failed:
        raise click.exceptions.Exit(2)
