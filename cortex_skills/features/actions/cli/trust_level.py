"""`trust-level show` and `trust-level set`: how far the agents of a namespace are trusted.

Rules kept here:
- the level is that of the namespace, in the store, for all processes; each change is in the audit.
"""

from __future__ import annotations

import click

from cortex_skills.doors.cli.commands import Command, Group
from cortex_skills.doors.cli.options import Choice, Common


@click.command(cls=Command)
@click.pass_obj
def show(common: Common) -> None:
    """Show the trust level of the namespace."""
    with common.plugin(reads=True) as plugin:
        level, configured = plugin.trust.level(), plugin.trust.configured
    common.out.answer({"level": level, "configured": configured}, lambda: common.out.line(level))


@click.command("set", cls=Command)
@click.argument("level", type=Choice(["observe", "suggest", "supervised_auto", "bounded_auto"]))
@click.pass_obj
def set_(common: Common, level: str) -> None:
    """Set the trust level of the namespace, from the next call on.

    LEVEL is observe, suggest, supervised_auto or bounded_auto.
    """
    with common.plugin() as plugin:
        change = plugin.trust.set(level, actor="owner")
    text = f"the trust level was {change.before}, and is {change.after}"
    common.out.answer({"from": change.before, "to": change.after}, lambda: common.out.line(text))


trust_level = Group(
    "trust-level",
    help="Show and set how far the agents of a namespace are trusted.",
    sections={"Commands": [show, set_]},
)
