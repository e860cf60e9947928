"""`list` and `status`: the loaded skills and the state of the plugin.

Rules kept here:
- `list` changes nothing: it loads the skills on an empty graph in memory;
- `status` reports whether the store answers, and creates none.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import click

from cortex_graph import GraphError
from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Common
from cortex_skills.doors.cli.output import Output, counted, style_of

if TYPE_CHECKING:
    from cortex_skills.lifecycle.reload.report import Rejected
    from cortex_skills.plugin import Plugin
    from cortex_skills.runtime.skill import Skill

log = logging.getLogger(__name__)

_COLUMNS = ("name", "version", "hooks", "permissions", "description")


@click.command("list", cls=Command)
@click.pass_obj
def list_skills(common: Common) -> None:
    """List skills with their versions, hooks and permissions.

    --skills names the skills. They are loaded on an empty graph in memory; your graph is opened for --installed only.
    """
    settings = common.settings() if common.installed else common.settings(store="memory:")
    with common.loaded(settings, strict=False, reads=True) as plugin:
        rows = [_row(skill) for skill in plugin.skills.values()]
        refused = [_refused_row(rejected) for rejected in plugin.rejected]
    common.out.answer([*rows, *refused], lambda: _show_list(common.out, rows, refused))


@click.command(cls=Command)
@click.pass_obj
def status(common: Common) -> None:
    """Show the store, the namespace, and the skills of --skills."""
    settings = common.settings()
    opening = (
        common.loaded(settings, strict=False, reads=True)
        if common.names_skills
        else common.plugin(settings, reads=True)
    )
    with opening as plugin:
        report = {**plugin.status(), "store": settings.store_name, "triples": _count(plugin)}
    common.out.answer(report, lambda: _show(common.out, report))


def _count(plugin: Plugin) -> int | None:
    """The number of triples of the namespace; None when the store does not answer."""
    try:
        return plugin.graph.count()
    except GraphError as error:
        log.warning("the store does not answer: [%s] %s", error.code, error.message)
        return None


def _row(skill: Skill) -> dict[str, Any]:
    return {
        "name": skill.name,
        "version": skill.semantic.skill_version,
        "hooks": sorted(skill.runtime.hooks) if skill.runtime else [],
        "permissions": sorted(skill.semantic.permissions.names()),
        "description": skill.manifest.description,
        "folder": str(skill.folder),
        "error": None,
    }


def _refused_row(rejected: Rejected) -> dict[str, Any]:
    nothing: dict[str, Any] = {"version": None, "hooks": [], "permissions": [], "description": None}
    return {"name": rejected.name, **nothing, "folder": str(rejected.folder), "error": rejected.error.to_json()}


def _show_list(out: Output, rows: list[dict[str, Any]], refused: list[dict[str, Any]]) -> None:
    out.table(_COLUMNS, [[_cell(row[key]) for key in _COLUMNS] for row in rows])
    for row in refused:
        _show_refused(out, row)


def _show_refused(out: Output, row: dict[str, Any]) -> None:
    error = row["error"]
    kept = f"version {row['answering']} answers" if row.get("answering") else "not loaded"
    first, *more = error["message"].split("\n")
    out.line((f"{kept}: ", style_of("fail")), f"{row['name']} in {row['folder']}: [{error['code']}] {first}")
    for line in more:
        out.line(f"    {line.strip()}")
    if error["hint"]:
        out.line(f"    hint: {error['hint']}")


def _count_shown(count: int | None) -> tuple[str | tuple[str, str], ...]:
    return (("the store does not answer", style_of("fail")),) if count is None else (counted(count, "triple"),)


def _cell(value: Any) -> str:
    return ", ".join(value) or "-" if isinstance(value, list) else str(value)


def _show(out: Output, report: dict[str, Any]) -> None:
    verification = report["verification"]
    out.line(f"store       {report['store']}")
    count = report["triples"]
    out.line(f"namespace   {report['namespace']}, ", *_count_shown(count))
    out.line(f"agent       {report['agent']}")
    out.line("sandbox     ", (report["sandbox"], style_of("warn" if report["sandbox"] == "off" else "")))
    out.line(f"scan        {'on' if verification['autoScan'] else 'off'}")
    first_use = ", a new publisher is trusted on first use" if verification["trustOnFirstUse"] else ""
    required = verification["requireSignature"]
    out.line("signatures  ", (f"required{first_use}", "") if required else ("not required", style_of("warn")))
    if not verification["polValidation"]:
        out.line("proofs      ", ("off: an assertion that requires a proof is refused", style_of("warn")))
    if not report["skills"]:
        out.line("skills      none loaded")
    for skill in report["skills"]:
        out.line(f"skill       {skill['name']} {skill['version']} in {skill['folder']}")
        out.line(f"            hooks {_cell(skill['hooks'])}")
        used = f"{skill['queriesUsed']} queries, {skill['assertionsUsed']} assertions, {skill['writesUsed']} writes"
        out.line(f"            used {used}")
        for failed in skill["refused"]:
            out.line(
                f"            {failed['function']} failed {failed['count']} times with {failed['code']}: ",
                failed["message"],
            )
        for kind in ("fault", "degraded"):
            if skill[kind]:
                out.line("            ", (kind, style_of("fail")), f" {skill[kind]['message']}")
    for row in report["hotReload"]["rejected"]:
        _show_refused(out, row)
