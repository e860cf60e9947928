"""`registry add|promote|deprecate|merge|retire|unretire|trust|rollback|purge|maintain`.

Rules kept here:
- the user of the command line is the owner of the store, in whose name operations run; the agent of the command is
  recorded as the actor;
- one unreadable folder does not stop the others: it is reported, and the exit status is 1.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import FOLDER, Common
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.cli.show_skills import SKILL, key
from cortex_skills.features.registry.registry_settings import RegistrySettings

if TYPE_CHECKING:
    from cortex_skills.features.registry.records.skill_record import SkillRecord
    from cortex_skills.operations.operation import Operation


@click.command(cls=Command)
@click.argument("folder", type=FOLDER, required=False, metavar="[FOLDER]")
@click.option("--sign", is_flag=True, help="They are your own: sign those without a signature with your key.")
@click.option(
    "--accept-changed",
    is_flag=True,
    help="Register a folder that was changed after its export, as another document without a signature.",
)
@click.pass_context
def add(ctx: click.Context, folder: Path | None, sign: bool, accept_changed: bool) -> None:
    """Register the skill in FOLDER, or each skill of a folder of skills; nothing of them runs.

    Without FOLDER, the skills in the folders of the configuration, `registry.folders`: by default `.cortex/skills` in
    the working folder, and `skills` in your data folder.

    A skill that is registered already gets a new version, unless it is the same. An exported folder keeps its
    signature; one that was changed after its export is refused. Any other folder is registered without a signature.
    """
    from cortex_skills.features.registry.folders import skill_folders_in
    from cortex_skills.features.registry.parts import registry_in
    from cortex_skills.features.registry.records.reading import attest_level
    from cortex_skills.features.registry.skill_changes import register
    from cortex_skills.features.registry.sources import synchronise
    from cortex_skills.skill_folder.skipped import skipped_skills

    common: Common = ctx.obj
    if folder is not None and not skill_folders_in(folder):
        hint = "; ".join(map(str, skipped_skills(folder))) or "a skill is a folder with a SKILL.md"
        raise CortexError("invalid_arguments", f"{folder} contains no skill", hint=hint)
    with common.plugin() as plugin:
        places = list(map(Path, plugin.config.section(RegistrySettings).folders)) if folder is None else [folder]
        report = synchronise(
            plugin.part(registry_in),
            places,
            actor=plugin.agent,
            accept_changed=accept_changed,
            sign=sign,
            register=partial(plugin.operate, register, door="command"),
        )
        levels = plugin.part(registry_in).levels()
    for place, warning in report.warnings:
        common.out.note(f"{place}: {warning}")
    answers: list[dict[str, Any]] = [
        {
            "skill": str(done.version.key),
            "version": done.version.number,
            "created": done.created,
            "id": done.version.id,
            "digest": done.version.digest,
            "attest": attest_level(done.version, levels),
        }
        for done in report.found.values()
    ]

    def show() -> None:
        for answer in answers:
            state = "registered" if answer["created"] else "registered already"
            common.out.line(f"{answer['skill']} version {answer['version']} {state}")
        if not answers and not report.refused:
            common.out.line("there is no skill in the configured folders")

    common.out.answer(answers, show)
    unsigned = [answer for answer in answers if answer["created"] and answer["attest"] == "unsigned"]
    if unsigned:
        common.out.note(f"not signed: {len(unsigned)} of {len(answers)}; --sign signs those that are your own")
    for place, problem in report.refused.items():
        message, details = f"{place}: {problem.message}", {**problem.details, "folder": str(place)}
        common.out.error(CortexError(problem.code, message, hint=problem.hint, details=details))
    if report.refused:
        ctx.exit(1)


def _stand(common: Common, operation: Operation[Any, SkillRecord], name: str, **given: Any) -> None:
    """Change the standing of a skill, and print the new one."""
    with common.plugin() as plugin:
        record = plugin.operate(operation, door="command", skill=name, **given)
    standing = record.standing
    answer = {
        "skill": str(record.key),
        "lifecycle": standing.lifecycle,
        "trustTier": standing.trust_tier,
        "reason": standing.reason or None,
    }
    reason = f": {standing.reason}" if standing.reason else ""
    text = f"{record.key} is {standing.lifecycle}, tier {standing.trust_tier}{reason}"
    common.out.answer(answer, lambda: common.out.line(text))


@click.command(cls=Command)
@SKILL
@click.option(
    "--unmeasured", is_flag=True, help="Verify a learned skill that you have checked, without a measured gain."
)
@click.pass_obj
def promote(common: Common, name: str, unmeasured: bool) -> None:
    """Raise the state of a skill: candidate → verified → released, degraded → verified, deprecated → degraded.

    A learned skill is verified when its measured uses do not do worse than the agents did without it.
    """
    from cortex_skills.features.registry import skill_changes

    _stand(common, skill_changes.promote, name, unmeasured=unmeasured)


@click.command(cls=Command)
@SKILL
@click.argument("words", required=False, metavar="[REASON]")
@click.option("--reason", help="Why; the same as REASON.")
@click.pass_obj
def deprecate(common: Common, name: str, words: str | None, reason: str | None) -> None:
    """Take a skill out of use, because of REASON."""
    if (words is None) == (reason is None):
        problem = "give one reason, and not two" if words is not None else "a reason is needed"
        raise CortexError("invalid_arguments", problem, hint="cortex-skills registry deprecate NAME --reason TEXT")
    from cortex_skills.features.registry import skill_changes

    _stand(common, skill_changes.deprecate, name, reason=words or reason or "")


@click.command(cls=Command)
@SKILL
@click.option("--reason", default="", help="Why.")
@click.pass_obj
def retire(common: Common, name: str, reason: str) -> None:
    """Archive a skill that no other one depends on."""
    from cortex_skills.features.registry import skill_changes

    _stand(common, skill_changes.retire, name, reason=reason)


@click.command(cls=Command)
@SKILL
@click.pass_obj
def unretire(common: Common, name: str) -> None:
    """Bring an archived skill back, as degraded."""
    from cortex_skills.features.registry import skill_changes

    _stand(common, skill_changes.unretire, name)


@click.command(cls=Command)
@SKILL
@click.argument("tier", type=click.IntRange(1, 4), metavar="TIER")
@click.pass_obj
def trust(common: Common, name: str, tier: int) -> None:
    """Give a skill a trust tier, from 1 to 4."""
    from cortex_skills.features.registry import skill_changes

    _stand(common, skill_changes.trust, name, tier=tier)


@click.command(cls=Command)
@click.argument("target", metavar="TARGET")
@click.argument("source", metavar="SOURCE")
@click.pass_obj
def merge(common: Common, target: str, source: str) -> None:
    """Merge SOURCE into TARGET: steps, body, counters and dependents; SOURCE is archived."""
    from cortex_skills.features.registry import skill_changes
    from cortex_skills.features.registry.parts import registry_in

    with common.plugin() as plugin:
        version = plugin.operate(skill_changes.merge, door="command", skill=target, source=source).version
        into, gone = version.key, key(plugin.part(registry_in), source)
    answer = {"skill": str(into), "version": version.number, "digest": version.digest, "merged": str(gone)}
    common.out.answer(answer, lambda: common.out.line(f"{gone} is merged into {into}, version {version.number}"))


@click.command(cls=Command)
@SKILL
@click.argument("number", type=click.IntRange(1), metavar="N")
@click.pass_obj
def rollback(common: Common, name: str, number: int) -> None:
    """Make a new version of a skill from its version N."""
    from cortex_skills.features.registry import skill_changes

    with common.plugin() as plugin:
        version = plugin.operate(skill_changes.roll_back, door="command", skill=name, number=number).version
        skill = version.key
    answer = {"skill": str(skill), "version": version.number, "digest": version.digest}
    common.out.answer(answer, lambda: common.out.line(f"{skill} version {version.number} is version {number} again"))


@click.command(cls=Command)
@SKILL
@click.pass_obj
def purge(common: Common, name: str) -> None:
    """Delete a skill with all versions, which no other one depends on; its events stay."""
    from cortex_skills.features.registry import skill_changes

    with common.plugin() as plugin:
        skill = plugin.operate(skill_changes.delete, door="command", skill=name)
    common.out.answer({"purged": str(skill)}, lambda: common.out.line(f"{skill} is deleted"))


@click.command(cls=Command)
@click.pass_obj
def maintain(common: Common) -> None:
    """Deprecate learned skills that nothing uses, and degrade those that fail or whose memories have changed."""
    from cortex_skills.features.registry import skill_changes

    with common.plugin() as plugin:
        changed = plugin.operate(skill_changes.maintain, door="command", namespace=plugin.graph.namespace)
    answer = [{"skill": str(r.key), "lifecycle": r.standing.lifecycle, "reason": r.standing.reason} for r in changed]

    def show() -> None:
        for entry in answer:
            common.out.line(f"{entry['skill']} is {entry['lifecycle']}: {entry['reason']}")
        if not answer:
            common.out.line("nothing to change")

    common.out.answer(answer, show)
