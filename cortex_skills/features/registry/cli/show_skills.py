"""`registry list|show|find|history|diff|export|events`.

Rules kept here:
- a skill is named NAME, or NAMESPACE/NAME when it belongs to another namespace than that of the graph;
- texts of a skill are escaped like every other text from outside.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.doors.cli.commands import Command, Group
from cortex_skills.doors.cli.options import Choice, Common
from cortex_skills.doors.cli.path_types import GivenPath
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_skills.features.registry.records.lifecycle import Origin
    from cortex_skills.features.registry.records.registry import SkillRegistry
    from cortex_skills.features.registry.records.skill_record import SkillKey, SkillVersion
    from cortex_skills.features.registry.skill_finder import Among

_STATES = ("candidate", "verified", "released", "degraded", "deprecated", "archived")
_FORMS = ("agentskills", "ai-memory")
_ORIGINS = ("builtin", "human", "learned")
_INDEX_S = 600.0  # a command waits for the index
_WIDE = 80
_EVENTS = {
    "Commands": {
        "list": "cortex_skills.features.registry.cli.skill_versions:LIST_EVENTS",
        "verify": f"{__name__}:verify_events",
    }
}
SKILL = click.argument("name", metavar="NAME")


def key(registry: SkillRegistry, name: str) -> SkillKey:
    """The skill that an argument names."""
    from cortex_skills.features.registry.views import key_of

    return key_of(name, registry.terms.names.namespace)


@click.command("list", cls=Command)
@click.option("--state", type=Choice(_STATES), help="Only skills in this state [those in use].")
@click.option("--origin", type=Choice(_ORIGINS), help="Only skills that these made.")
@click.pass_obj
def list_(common: Common, state: str | None, origin: Origin | None) -> None:
    """List the registered skills: those in use, or those in a state, such as `--state deprecated`."""
    from cortex_skills.features.registry.parts import registry_in
    from cortex_skills.features.registry.skill_reads import listed
    from cortex_skills.features.registry.views import record_view

    now = datetime.now(UTC)
    with common.plugin(reads=True) as plugin:
        registry = plugin.part(registry_in)
        level = registry.levels()
        records = list(listed(partial(plugin.operate, door="command"), lifecycle=state, origins=(origin,)))
        with registry.reading_current(records):
            found: list[dict[str, Any]] = [{**record_view(registry, record, now, level=level)} for record in records]
    found.sort(key=lambda view: (view["namespace"], view["name"]))
    _show(common, found)


@click.command(cls=Command)
@click.argument("words", nargs=-1, required=True, metavar="WORD…")
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="How many at most.")
@click.option("--all", "everything", is_flag=True, help="Also skills that agents are not shown.")
@click.pass_obj
def find(common: Common, words: tuple[str, ...], limit: int, everything: bool) -> None:
    """Find skills by words of their names and descriptions, and by meaning if `finder.embedder` is set."""
    from cortex_skills.features.registry.parts import registry_in
    from cortex_skills.features.registry.skill_reads import find_skills
    from cortex_skills.features.registry.views import record_view

    now = datetime.now(UTC)
    with common.plugin(reads=True) as plugin:
        registry = plugin.part(registry_in)
        level = registry.levels()
        among: Among = "all" if everything else "reliable"
        find = partial(plugin.operate, find_skills, door="command", timeout_s=_INDEX_S)
        found = find(query=" ".join(words), limit=limit, among=among)
        views = [
            {**record_view(registry, each.record, now, level=level, version=each.version), **each.to_json()}
            for each in found.skills
        ]
    _show(common, views)
    if found.problem:
        common.out.note(str(found.problem))


def _show(common: Common, found: list[dict[str, Any]]) -> None:
    def show() -> None:
        rows = [_row(view) for view in found]
        common.out.table(("skill", "version", "state", "origin", "tier", "successes", "description"), rows)

    common.out.answer(found, show)
    if not found and not common.out.as_json:
        common.out.note("no skill matches")


def _row(view: dict[str, Any]) -> tuple[str, ...]:
    quality = view["quality"]
    return (
        f"{view['namespace']}/{view['name']}",
        str(view["current"]["version"]),
        view["lifecycle"],
        view["origin"],
        str(view["trustTier"]),
        f"{quality['successes']} of {quality['invocations']}",
        view["description"].partition("\n")[0][:_WIDE],
    )


@click.command(cls=Command)
@SKILL
@click.option("--version", "number", type=click.IntRange(1), metavar="N", help="An earlier version.")
@click.pass_obj
def show(common: Common, name: str, number: int | None) -> None:
    """Show a skill: its standing, its counters, its document; all of it is verified."""
    from cortex_skills.features.registry.parts import finder_in, registry_in
    from cortex_skills.features.registry.records.standing import gain_of
    from cortex_skills.features.registry.skill_reads import show_skill
    from cortex_skills.features.registry.views import ATTEST_WORDS, document_view, record_view, version_view

    with common.plugin(reads=True) as plugin:
        registry = plugin.part(registry_in)
        level = registry.levels()
        found = plugin.operate(show_skill, door="command", skill=name, number=number)
        record = found.record
        similar = len(plugin.part(finder_in).similar(record, timeout_s=_INDEX_S))
        view = record_view(registry, record, datetime.now(UTC), similar=similar, level=level)
        gain = gain_of(registry, record) if record.standing.origin == "learned" else None
        answer: dict[str, Any] = {
            **view,
            "gain": None if gain is None else gain.to_json(),
            "shown": version_view(found.version, level),
            "document": document_view(found.document),
        }

    def lines() -> None:
        standing = f"{view['lifecycle']}, {view['origin']}, tier {view['trustTier']}"
        out, quality, signed = common.out, view["quality"], answer["shown"]
        out.line(f"{view['namespace']}/{view['name']} version {signed['version']}: {standing}")
        out.line(view["description"])
        if view["reason"]:
            out.line(f"reason: {view['reason']}")
        (low, high), health = quality["successInterval"], answer["health"]
        out.line(
            f"measured outcomes: {quality['successes']} of {quality['invocations']} succeeded"
            f" (95 %: {low:.2f} to {high:.2f}), loaded {quality['loads']} times, health {health['overall']:.2f}"
        )
        current = quality["current"]
        out.line(
            f"of this version count: {current['successes']} of {current['invocations']} succeeded"
            f" ({current['agents']} are of agents, one of each)"
        )
        if reports := quality["reports"]["agents"]:
            out.line(f"reports: {quality['reports']['working']} of {reports} agents say that it works")
        if gain is not None:
            out.line(f"measured gain: {gain}")
        out.line(f"digest {signed['digest']}, {ATTEST_WORDS[signed['attest']]}")
        if learned := signed["learnedIn"]:
            out.line(f"learned in the session {learned['session']} of {learned['agent']}, {learned['time']}")
        for title, names in (("depends on", view["dependsOn"]), ("conflicts with", view["conflictsWith"])):
            if names:
                out.line(f"{title}: {', '.join(names)}")
        for place, step in enumerate(answer["document"]["steps"], 1):
            out.line(f"{place}. {step['action']}" + (f" (tool {step['tool']})" if step["tool"] else ""))
        for file in answer["document"]["resources"]:
            out.line(f"file {file['path']}, {file['size']:,} bytes{', executable' if file['executable'] else ''}")
        if answer["document"]["body"]:
            out.line("")
            out.text(answer["document"]["body"].rstrip("\n"))

    common.out.answer(answer, lines)


@click.command(cls=Command)
@SKILL
@click.argument("target", type=GivenPath(file_okay=False, path_type=Path), metavar="FOLDER")
@click.option("--version", "number", type=click.IntRange(1), metavar="N", help="An earlier version.")
@click.option("--form", type=Choice(_FORMS), default=_FORMS[0], show_default=True, help="Who reads the folder.")
@click.pass_obj
def export(common: Common, name: str, target: Path, number: int | None, form: str) -> None:
    """Write a skill to a new folder in FOLDER: its files, and its digests and signature beside them.

    `cortex-skills registry add` of another installation registers it with the same digests and signature.
    """
    from cortex_skills.features.registry import skill_changes
    from cortex_skills.features.registry.parts import registry_in

    with common.plugin() as plugin:
        registry = plugin.part(registry_in)
        skill = registry.record(key(registry, name)).key
        version = registry.current(skill) if number is None else _numbered(registry, skill, number)
        given = {"skill": str(skill), "folder": str(target), "version": version.id, "form": form}
        folder = plugin.operate(skill_changes.export, door="command", **given).folder
    answer = {"folder": folder, "version": version.number, "digest": version.digest}
    common.out.answer(answer, lambda: common.out.line(f"{skill} version {version.number} is in {folder}"))


@click.command("verify", cls=Command)
@click.option("--since", type=click.IntRange(1), default=1, metavar="N", help="From the event with this number on.")
@click.pass_context
def verify_events(ctx: click.Context, since: int) -> None:
    """Verify the chain of events; the exit status is 1 when one was changed, removed, inserted or forged."""
    from cortex_skills.features.registry import skill_reads

    common: Common = ctx.obj
    with common.plugin(reads=True) as plugin:
        chain = plugin.operate(skill_reads.verify_events, door="command", since=since)
    count, fault = chain.events, chain.fault
    if fault is None:
        answer: dict[str, Any] = {"whole": True, "events": count}
        text = f"the chain of {count} events is whole" + (f" from {since} on" if since > 1 else "")
    else:
        answer = {"whole": False, "sequence": fault.sequence, "problem": fault.problem}
        text = f"event {fault.sequence} {fault.problem}"
    common.out.answer(answer, lambda: common.out.line(text))
    if fault is not None:
        ctx.exit(1)


events = Group(
    "events",
    help="List and verify the events of the registry.",
    sections=_EVENTS,
)


def _numbered(registry: SkillRegistry, skill: SkillKey, number: int) -> SkillVersion:
    for version in registry.versions(skill):
        if version.number == number:
            return version
    raise CortexError("skill_not_found", f"{skill} has no version {number}", hint="`registry history` lists them")
