"""`installed …`, `audit-artifact`, `quarantine` and `enable`: what is installed, and whether it runs.

Rules kept here:
- the user of the command line is the owner of the store: no permission is asked for, and each change is recorded with
  the name of the user;
- a quarantined version is enabled only with `--override` and `--reason`;
- none of these commands creates a store: nothing can be installed in a new one;
- texts of artifacts are escaped like every other text from outside.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.doors.cli.commands import Command, Group
from cortex_skills.doors.cli.options import Common, user_name
from cortex_skills.doors.cli.output import counted
from cortex_skills.doors.cli.path_types import PathOrName
from cortex_skills.features.artifacts.cli.install import (
    SOURCE,
    SUFFIX,
    install_options,
    options_of,
    read_source,
    run_install,
    show_audit,
    trust_options,
)

if TYPE_CHECKING:
    from cortex_skills.features.artifacts.installed import InstalledArtifact

_ID = click.argument("skill_id", metavar="ID")
_VERSION = click.option("--version", metavar="VERSION", help="Which version [the current one].")
_ONE_VERSION = click.option("--version", metavar="VERSION", required=True, help="Which version.")


@click.command("list", cls=Command)
@click.option("--publisher", metavar="NAME", help="Only artifacts of this publisher.")
@click.option("--current-only", is_flag=True, help="Only the versions that run where none is named.")
@click.option("--quarantined-only", is_flag=True, help="Only quarantined versions.")
@click.option("--eligible-only", is_flag=True, help="Only versions that may run.")
@click.pass_obj
def list_(
    common: Common, publisher: str | None, current_only: bool, quarantined_only: bool, eligible_only: bool
) -> None:
    """List what is installed."""
    with common.plugin(reads=True) as plugin:
        listed = plugin.installed.index.everything()
    found = [
        each
        for artifact in listed.artifacts
        for each in artifact.versions
        if publisher in (None, each.publisher)
        and (each.current or not current_only)
        and (each.status == "quarantined" or not quarantined_only)
        and (each.status == "active" or not eligible_only)
    ]

    def show() -> None:
        if not found:
            common.out.line("nothing is installed" if not listed.artifacts else "there is no such artifact")
            return
        rows = [
            (each.key.skill_id, each.key.version, "current" if each.current else "", each.status, each.publisher)
            for each in found
        ]
        common.out.table(("id", "version", "current", "status", "publisher"), rows)

    common.out.answer({"artifacts": [each.to_json() for each in found], "damaged": list(listed.damaged)}, show)
    if not common.out.as_json:
        for skill_id in listed.damaged:
            common.out.note(f"what is stored about {skill_id} was changed in the store: it does not run")


@click.command(cls=Command)
@_ID
@_VERSION
@click.pass_obj
def info(common: Common, skill_id: str, version: str | None) -> None:
    """Show a version: its publisher, its status, its tools, and what it requests and was granted."""
    from cortex_skills.features.artifacts.installed.installed_audit import describe

    with common.plugin(reads=True) as plugin:
        view = describe(plugin.installed, plugin.installed.find(skill_id, version))

    def show() -> None:
        for name, value in view.items():
            if isinstance(value, list):
                common.out.line(f"{name}:")
                for each in value:
                    common.out.line(f"  {each if isinstance(each, str) else ' '.join(map(str, each.values()))}")
            else:
                common.out.line(f"{name}: {value}")

    common.out.answer(view, show)


@click.command(cls=Command)
@click.pass_context
def check(ctx: click.Context) -> None:
    """Compare the installed files with the index."""
    from cortex_skills.features.artifacts.installed.installed_audit import check_files

    common: Common = ctx.obj
    with common.plugin(reads=True) as plugin:
        problems, count = check_files(plugin.installed), len(plugin.installed.list())

    def show() -> None:
        for problem in problems:
            common.out.line(problem)
        if not problems:
            common.out.line(f"{counted(count, 'version')} checked, and nothing is wrong")

    common.out.answer({"checked": count, "problems": problems}, show)
    if problems:
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

    common: Common = ctx.obj
    with common.plugin(reads=True) as plugin:
        found = plugin.installed.find(skill_id)
        if not isinstance(source, Path):
            source = newer_in_index(common, found, source, given["index_key"])
        if source is not None:
            run_install(ctx, common, plugin.installed, read_source(source), given, skill_id)
            return
    document = {**found.to_json(), "updated": False}
    common.out.answer(document, lambda: common.out.line(f"{found.key} is the newest version"))


@click.command(cls=Command)
@_ID
@click.option("--version", metavar="VERSION", help="Which version [all].")
@click.pass_obj
def remove(common: Common, skill_id: str, version: str | None) -> None:
    """Remove a version of ID, or all; calls that run end as they would have."""
    with common.plugin(reads=True) as plugin:
        removed = plugin.installed.remove(skill_id, version, actor=user_name())

    def show() -> None:
        for each in removed:
            common.out.line(f"{each.key} is removed")

    common.out.answer({"removed": [each.to_json() for each in removed]}, show)


@click.command(cls=Command)
@_ID
@_ONE_VERSION
@click.option("--reason", metavar="TEXT", default="", help="Why.")
@click.pass_obj
def disable(common: Common, skill_id: str, version: str, reason: str) -> None:
    """Stop a version of ID until it is enabled."""
    with common.plugin(reads=True) as plugin:
        _answer(common, plugin.installed.disable(skill_id, version, actor=user_name(), reason=reason))


@click.command(cls=Command)
@_ID
@_ONE_VERSION
@click.option("--reason", metavar="TEXT", required=True, help="Why.")
@click.pass_obj
def quarantine(common: Common, skill_id: str, version: str, reason: str) -> None:
    """Stop a version of the installed artifact ID, until a person enables it with an override."""
    with common.plugin(reads=True) as plugin:
        _answer(common, plugin.installed.quarantine(skill_id, version, actor=user_name(), reason=reason))


@click.command(cls=Command)
@_ID
@_ONE_VERSION
@click.option("--override", is_flag=True, help="Enable a quarantined version, whose reason you have looked at.")
@click.option("--reason", metavar="TEXT", default="", help="Why; needed with --override.")
@click.pass_obj
def enable(common: Common, skill_id: str, version: str, override: bool, reason: str) -> None:
    """Let a version of the installed artifact ID run."""
    with common.plugin(reads=True) as plugin:
        found = plugin.installed.enable(skill_id, version, actor=user_name(), override=override, reason=reason)
        _answer(common, found)


@click.command("audit-artifact", cls=Command)
@click.argument("subject", metavar="FILE|ID", type=PathOrName())
@_VERSION
@trust_options
@click.pass_context
def audit_artifact(ctx: click.Context, /, subject: str, version: str | None, **given: Any) -> None:
    """Audit the security of the artifact FILE, or of the installed artifact ID, which is quarantined if it fails."""
    from cortex_skills.features.artifacts.installed.installed_audit import audit_file, audit_installed
    from cortex_skills.features.artifacts.package import read_artifact_file

    common: Common = ctx.obj
    path = Path(subject)
    if path.is_file() or path.suffix == SUFFIX or len(path.parts) > 1:
        audit = audit_file(common.settings(), read_artifact_file(path), options_of(common, given))
        status = None
    else:
        with common.plugin(reads=True) as plugin:
            audited = audit_installed(plugin.installed, subject, version, actor=user_name())
        audit, status = audited.audit, audited.installed.status

    def show() -> None:
        show_audit(common, audit, everything=True)
        common.out.line("the audit passed" if audit.passed else f"the audit failed: {', '.join(audit.findings)}")
        if status is not None:
            common.out.line(f"status: {status}")

    common.out.answer({**audit.to_json(), "status": status}, show)
    if not audit.passed:
        ctx.exit(1)


def _answer(common: Common, found: InstalledArtifact) -> None:
    common.out.answer(found.to_json(), lambda: common.out.line(f"{found.key} is {found.status}"))


installed = Group(
    "installed",
    help="Look at what is installed, update and remove it.",
    sections={"See": [list_, info, check], "Change": [update, remove, disable]},
)
