"""`card`: the machine-readable card of a skill.

Rules kept here:
- the skill is that of a folder, of a file, or of an installed artifact, in this order;
- a card is shown for a skill that is not trusted too: it says so, and grants nothing.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Common
from cortex_skills.doors.cli.path_types import PathOrName


def _write_schema(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from cortex_skills.features.artifacts.cards.card_form import card_schema

        context.ensure_object(Common).out.text(json.dumps(card_schema(), indent=2, ensure_ascii=False))
        context.exit()


@click.command(cls=Command)
@click.argument("skill", metavar="FOLDER|FILE|ID", type=PathOrName())
@click.option(
    "--schema", is_flag=True, is_eager=True, expose_value=False, callback=_write_schema, help="Write its JSON Schema."
)
@click.pass_obj
def card(common: Common, skill: str) -> None:
    """Write the card of a skill, as JSON: version, publisher, digests, permissions, findings, proofs, trust.

    The skill is in a folder, in an artifact (.palyra-skill), or installed, by its id. The form of a card is
    in docs/artifacts.md.
    """
    document = _card(common, Path(skill))
    common.out.answer(document, lambda: common.out.text(json.dumps(document, indent=2, ensure_ascii=False)))


def _card(common: Common, path: Path) -> dict[str, Any]:
    from cortex_skills.features.artifacts.cards import card_of_artifact, card_of_folder, card_of_installed
    from cortex_skills.features.artifacts.installed import installed_in
    from cortex_skills.features.artifacts.package import read_artifact_file

    settings, now = common.settings(), datetime.now(UTC)
    if path.is_dir():
        return card_of_folder(path, settings)
    if path.exists() or path.is_symlink() or "/" in str(path) or path.suffix == ".palyra-skill":
        return card_of_artifact(read_artifact_file(path), settings, now)
    with common.plugin(reads=True) as plugin:
        installed = plugin.part(installed_in)
        found = installed.find(str(path))
        return card_of_installed(found, installed.read(found), settings, now)
