"""`trust import` and `trust export`: the publishers in the trust store of Palyra, the origin of the artifact format."""

from __future__ import annotations

import json
from pathlib import Path

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Common, read_given
from cortex_skills.doors.cli.path_types import GivenPath


@click.command("import", cls=Command)
@click.argument("file", metavar="FILE", type=GivenPath(path_type=Path))
@click.pass_obj
def import_(common: Common, file: Path) -> None:
    """Trust the publishers in FILE, a trust store of Palyra as JSON; all of them, or none if one is refused."""
    from cortex_skills.features.artifacts.installation_operations import import_publishers
    from cortex_skills.features.artifacts.origin_store import MAX_STORE

    names = common.operate(import_publishers, data=read_given(file, MAX_STORE))
    common.out.answer({"imported": names}, lambda: common.out.line(f"{len(names)} publishers are trusted"))


@click.command(cls=Command)
@click.pass_obj
def export(common: Common) -> None:
    """Write the trusted publishers as a trust store of Palyra, as JSON; without revoked keys."""
    from cortex_skills.features.artifacts.origin_store import origin_store
    from cortex_skills.signatures.trust_file import trust_of

    document = origin_store(trust_of(common.settings()).trust()).decode()
    common.out.answer(json.loads(document), lambda: common.out.text(document))
