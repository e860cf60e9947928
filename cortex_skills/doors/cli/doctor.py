"""`doctor`: check the installation, and show how to repair it.

Rules kept here:
- every check runs, also after another has failed, and none ends with a traceback;
- the exit code is 2 when a check fails; a warning is no failure;
- `--adopt` shows what differs before it changes anything, and asks, or needs `--yes` where nobody can answer.
"""

from __future__ import annotations

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Common
from cortex_skills.doors.cli.output import style_of


@click.command(cls=Command)
@click.option("--deep", is_flag=True, help="Also read all files of the store, as `graph check`.")
@click.option("--adopt", "adopts", is_flag=True, help="Use folders that were copied, moved or restored as they are.")
@click.option("--yes", is_flag=True, help="With --adopt: do not ask.")
@click.pass_obj
def doctor(common: Common, deep: bool, adopts: bool, yes: bool) -> None:
    """Check the installation, the configuration and the store.

    --adopt shows how the identity of this host and its trust store differ from those that were made here, and uses them
    as they are: a copy gets an id of its own, and no publisher and no revoked key is discarded.
    """
    if adopts:
        _adopt(common, yes)
        return
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


def _adopt(common: Common, yes: bool) -> None:
    from cortex_skills.operations import host_operations

    out, found = common.out, common.operate(host_operations.differences)
    differences = [f"{text}: {found[name]}" for name, text in host_operations.SUBJECTS.items() if found[name]]
    if not differences:
        out.answer({"adopted": False, **found}, lambda: out.line("nothing differs: there is nothing to adopt"))
        return
    for line in differences:
        out.note(line)
    if not yes and not click.confirm("use it as it is?", default=False, err=True):
        raise click.exceptions.Exit(1)
    adopted = common.operate(host_operations.adopt, host=found["host"])
    out.answer({"adopted": True, **adopted}, lambda: out.line(f"adopted; the id of this host is {adopted['host']}"))
