"""`actions list|show`: what agents may ask for. `trust-level show|set`: how far they are trusted, for all processes."""

from __future__ import annotations

import json

import click

from cortex_skills.doors.cli.commands import Command, Group
from cortex_skills.doors.cli.options import Choice, Common, user_name

_COLUMNS = ("id", "category", "risk", "cost", "minTrustLevel", "description")


@click.command("list", cls=Command)
@click.pass_obj
def list_(common: Common) -> None:
    """List the actions that agents may ask for, with these settings."""
    from cortex_skills.features.actions.action_operations import list_actions

    with common.plugin(reads=True) as plugin:
        found = plugin.operate(list_actions, door="command")
    rows = [[str(each[name]).strip() for name in _COLUMNS] for each in map(dict, found["actions"])]

    def show() -> None:
        if rows:
            common.out.table(_COLUMNS, rows)
        else:
            common.out.line("there is no action: actions.workspace and actions.allowedHosts offer some")

    common.out.answer(found, show)


@click.command("show", cls=Command)
@click.argument("action", metavar="ID")
@click.pass_obj
def show_action(common: Common, action: str) -> None:
    """Show the manifest of an action: what it takes, answers and may do."""
    from cortex_skills.features.actions.action_operations import describe_action

    with common.plugin(reads=True) as plugin:
        found = plugin.operate(describe_action, door="command", action=action)

    def show() -> None:
        for line in json.dumps(found, indent=2, ensure_ascii=False).split("\n"):
            common.out.line(line)

    common.out.answer(found, show)


@click.command("show", cls=Command)
@click.pass_obj
def show_level(common: Common) -> None:
    """Show the trust level of the namespace."""
    from cortex_skills.features.actions.action_operations import show_trust_level

    with common.plugin(reads=True) as plugin:
        found = plugin.operate(show_trust_level, door="command")
    level = found["level"]
    common.out.answer({"level": level, "configured": found["configured"]}, lambda: common.out.line(level))


@click.command("set", cls=Command)
@click.argument("level", type=Choice(["observe", "suggest", "supervised_auto", "bounded_auto"]))
@click.pass_obj
def set_level(common: Common, level: str) -> None:
    """Set the trust level of the namespace, from the next call on.

    LEVEL is observe, suggest, supervised_auto or bounded_auto.
    """
    from cortex_skills.features.actions.action_operations import set_trust_level

    with common.plugin() as plugin:
        change = plugin.operate(set_trust_level, door="command", by=user_name(), level=level)
    text = f"the trust level was {change['before']}, and is {change['after']}"
    common.out.answer({"from": change["before"], "to": change["after"]}, lambda: common.out.line(text))


actions = Group(
    "actions",
    help="Show what agents may do outside the graph.",
    sections={"Commands": [list_, show_action]},
)
trust_level = Group(
    "trust-level",
    help="Show and set how far the agents of a namespace are trusted.",
    sections={"Commands": [show_level, set_level]},
)
