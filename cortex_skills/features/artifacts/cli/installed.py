"""`installed …`, `audit-artifact`, `quarantine` and `enable`: what is installed, and whether it runs.

Rules kept here:
- the user of the command line is the owner of the store: no permission is asked for, and each change is recorded with
  the name of the user;
- a quarantined version is enabled only with `--override` and `--reason`;
- none of these commands creates a store: nothing can be installed in a new one;
- texts of artifacts are escaped like every other text from outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.doors.cli.commands import Command, Group
from cortex_skills.doors.cli.options import Common, user_name
from cortex_skills.doors.cli.output import counted, shown_value
from cortex_skills.doors.cli.path_types import PathOrName
from cortex_skills.features.artifacts.cli.install import (
    SOURCE,
    SUFFIX,
    install_options,
    operates,
    options_of,
    read_source,
    run_install,
    show_checks,
    trust_options,
)

if TYPE_CHECKING:
    from cortex_skills.features.artifacts.artifact_operations import InstalledVersion
    from cortex_skills.operations.operation import Operation

_ID = click.argument("skill_id", metavar="ID")
_VERSION = click.option("--version", metavar="VERSION", help="Which version [the current one].")
_ONE_VERSION = click.option("--version", metavar="VERSION", required=True, help="Which version.")


@click.command("list", cls=Command)
@click.option("--publisher", metavar="NAME", help="Only artifacts of this publisher.")
@click.option("--current-only", is_flag=True, help="Only the versions that run where none is named.")
@click.option("--quarantined-only", is_flag=True, help="Only quarantined versions.")
@click.option("--eligible-only", is_flag=True, help="Only versions that may run.")
@click.option("--all", "everything", is_flag=True, help="Quarantined versions too.")
@click.pass_obj
def list_(
    common: Common,
    publisher: str | None,
    current_only: bool,
    quarantined_only: bool,
    eligible_only: bool,
    everything: bool,
) -> None:
    """List what is installed, without what is quarantined unless it is asked for."""
    from cortex_skills.features.artifacts.artifact_operations import list_artifacts

    status = "quarantined" if quarantined_only else "active" if eligible_only else None
    given: dict[str, Any] = {"publisher": publisher, "status": status, "current_only": current_only, "all": everything}
    with common.plugin(reads=True) as plugin:
        listed = plugin.operate(list_artifacts, door="command", **given)
    found = [] if quarantined_only and eligible_only else listed["artifacts"]

    def show() -> None:
        if not found:
            common.out.line("there is no such artifact" if any(given.values()) else "nothing is installed")
            return
        rows = [
            (each["skillId"], each["version"], "current" if each["current"] else "", each["status"], each["publisher"])
            for each in found
        ]
        common.out.table(("id", "version", "current", "status", "publisher"), rows)

    common.out.answer({**listed, "artifacts": found}, show)
    if not common.out.as_json:
        if listed["quarantined"]:
            common.out.note(f"{counted(listed['quarantined'], 'quarantined version')} not listed: see --all")
        for skill_id in listed["damaged"]:
            common.out.note(f"what is stored about {skill_id} was changed in the store: it does not run")


@click.command(cls=Command)
@_ID
@_VERSION
@click.pass_obj
def info(common: Common, skill_id: str, version: str | None) -> None:
    """Show a version: its publisher, its status, its tools, and what it requests and was granted."""
    from cortex_skills.features.artifacts.artifact_operations import describe

    with common.plugin(reads=True) as plugin:
        view = plugin.operate(describe, door="command", id=skill_id, version=version, audit=True).document()

    def show() -> None:
        for name, value in view.items():
            if isinstance(value, list) and value:
                common.out.line(f"{name}:")
                for each in value:
                    parts = each.values() if isinstance(each, Mapping) else [each]
                    common.out.line(f"  {' '.join(shown_value(part) for part in parts if part != [])}")
            elif name != "verification":  # its steps are among the checks
                common.out.line(f"{name}: {shown_value(value)}")

    common.out.answer(view, show)


@click.command(cls=Command)
@click.pass_context
def check(ctx: click.Context) -> None:
    """Compare the installed files with the index."""
    from cortex_skills.features.artifacts.artifact_operations import check_artifacts

    common: Common = ctx.obj
    with common.plugin(reads=True) as plugin:
        done = plugin.operate(check_artifacts, door="command")

    def show() -> None:
        for problem in done["problems"]:
            common.out.line(problem)
        if not done["problems"]:
            common.out.line(f"{counted(done['checked'], 'version')} checked, and nothing is wrong")

    common.out.answer(done, show)
    if done["problems"]:
        ctx.exit(1)


@click.command(cls=Command)
@_ID
@click.argument("source", metavar="[FILE|URL]", type=SOURCE, required=False)
@install_options
@click.pass_context
def update(ctx: click.Context, /, skill_id: str, source: Path | str | None, **given: Any) -> None:
    """Install another version of ID, which is installed; only what it requests beyond is asked for.

    It comes from FILE, or is the newest one of the index at URL; without either, of the index that it came from.
    """
    from cortex_skills.features.artifacts.cli.index import newer_in_index
    from cortex_skills.features.artifacts.installed import installed_in

    common: Common = ctx.obj
    with common.plugin(reads=True) as plugin:
        found = plugin.part(installed_in).find(skill_id)
        if not isinstance(source, Path):
            source = newer_in_index(operates(plugin), found, source, given["index_key"])
        if source is not None:
            run_install(ctx, plugin, read_source(source), given, skill_id)
            return
    document = {**found.to_json(), "updated": False}
    common.out.answer(document, lambda: common.out.line(f"{found.key} is the newest version"))


@click.command(cls=Command)
@_ID
@click.option("--version", metavar="VERSION", help="Which version [all].")
@click.pass_obj
def remove(common: Common, skill_id: str, version: str | None) -> None:
    """Remove a version of ID, or all; calls that run end as they would have."""
    from cortex_skills.features.artifacts.artifact_operations import remove as operation

    with common.plugin(reads=True) as plugin:
        removed = plugin.operate(operation, door="command", by=user_name(), id=skill_id, version=version)

    def show() -> None:
        for each in removed:
            common.out.line(f"{each['skillId']} {each['version']} is removed")

    common.out.answer({"removed": removed}, show)


@click.command(cls=Command)
@_ID
@_ONE_VERSION
@click.option("--reason", metavar="TEXT", default="", help="Why.")
@click.pass_obj
def disable(common: Common, skill_id: str, version: str, reason: str) -> None:
    """Stop a version of ID until it is enabled."""
    _change(common, "disable", id=skill_id, version=version, reason=reason)


@click.command(cls=Command)
@_ID
@_ONE_VERSION
@click.option("--reason", metavar="TEXT", required=True, help="Why.")
@click.pass_obj
def quarantine(common: Common, skill_id: str, version: str, reason: str) -> None:
    """Stop a version of the installed artifact ID, until a person enables it with an override."""
    _change(common, "quarantine", id=skill_id, version=version, reason=reason)


@click.command(cls=Command)
@_ID
@_ONE_VERSION
@click.option("--override", is_flag=True, help="Enable a quarantined version, whose reason you have looked at.")
@click.option("--reason", metavar="TEXT", default="", help="Why; needed with --override.")
@click.pass_obj
def enable(common: Common, skill_id: str, version: str, override: bool, reason: str) -> None:
    """Let a version of the installed artifact ID run."""
    _change(common, "enable", id=skill_id, version=version, override=override, reason=reason)


@click.command("audit-artifact", cls=Command)
@click.argument("subject", metavar="FILE|ID", type=PathOrName())
@_VERSION
@trust_options
@click.pass_context
def audit_artifact(ctx: click.Context, /, subject: str, version: str | None, **given: Any) -> None:
    """Audit the security of the artifact FILE, or of the installed artifact ID, which is quarantined if it fails."""
    from cortex_skills.features.artifacts.artifact_operations import audit
    from cortex_skills.features.artifacts.installed.installed_audit import audit_file
    from cortex_skills.features.artifacts.package import read_artifact_file

    common: Common = ctx.obj
    path = Path(subject)
    if path.is_file() or path.suffix == SUFFIX or len(path.parts) > 1:
        of_file = audit_file(common.settings(), read_artifact_file(path), options_of(common, given))
        done = {**of_file.to_json(), "status": None}
    else:
        with common.plugin(reads=True) as plugin:
            done = plugin.operate(audit, door="command", by=user_name(), id=subject, version=version)

    def show() -> None:
        show_checks(common, done["checks"], everything=True)
        common.out.line("the audit passed" if done["passed"] else f"the audit failed: {', '.join(done['findings'])}")
        if done["status"] is not None:
            common.out.line(f"status: {done['status']}")

    common.out.answer(done, show)
    if not done["passed"]:
        ctx.exit(1)


def _change(common: Common, name: str, **given: Any) -> None:
    """Run an operation on a version, and write what the version is then."""
    from cortex_skills.features.artifacts import artifact_operations

    with common.plugin(reads=True) as plugin:
        operation: Operation[Any, InstalledVersion] = getattr(artifact_operations, name)
        found = plugin.operate(operation, door="command", by=user_name(), **given)
    common.out.answer(found, lambda: common.out.line(f"{found['skillId']} {found['version']} is {found['status']}"))


installed = Group(
    "installed",
    help="Look at what is installed, update and remove it.",
    sections={"See": [list_, info, check], "Change": [update, remove, disable]},
)
