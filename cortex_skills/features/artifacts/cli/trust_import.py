"""`trust import` and `trust export`: the publishers in the trust store of Palyra, the origin of the artifact format."""

from __future__ import annotations

import json
from pathlib import Path

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Common, read_given
from cortex_skills.doors.cli.path_types import GivenPath
from cortex_skills.doors.cli.trust import change_trust, keys_of, now, trust_file


@click.command("import", cls=Command)
@click.argument("file", metavar="FILE", type=GivenPath(path_type=Path))
@click.pass_obj
def import_(common: Common, file: Path) -> None:
    """Trust the publishers in FILE, a trust store of Palyra as JSON; all of them, or none if one is refused."""
    from cortex_skills.features.artifacts.origin_store import MAX_STORE, read_origin_store, with_imported

    publishers = read_origin_store(read_given(file, MAX_STORE), now())
    names = [publisher.name for publisher in publishers]
    change_trust(
        common,
        "trust.imported",
        lambda trust: with_imported(trust, publishers),
        lambda trust: {name: keys_of(name)(trust) for name in names},
        {},
    )
    common.out.answer({"imported": names}, lambda: common.out.line(f"{len(names)} publishers are trusted"))


@click.command(cls=Command)
@click.pass_obj
def export(common: Common) -> None:
    """Write the trusted publishers as a trust store of Palyra, as JSON; without revoked keys."""
    from cortex_skills.features.artifacts.origin_store import origin_store

    document = origin_store(trust_file(common).trust()).decode()
    common.out.answer(json.loads(document), lambda: common.out.text(document))
