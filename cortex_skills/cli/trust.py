"""`trust list`, `trust add`, `trust remove` and `trust forget`: the publishers whose skills load.

Rules kept here:
- a publisher is added with its key, which the user has from a source that they trust;
- no command replaces a key in one step: the old key is removed first.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from cortex_skills.cli.commands import Command, Group
from cortex_skills.cli.options import Common
from cortex_skills.errors import CortexError
from cortex_skills.safe_io.schemas import shown

if TYPE_CHECKING:
    from cortex_skills.signatures import TrustFile


def _file(common: Common) -> TrustFile:
    from cortex_skills.signatures.trust_file import trust_of

    return trust_of(common.settings())


@click.command("list", cls=Command)
@click.pass_obj
def list_(common: Common) -> None:
    """List the trusted publishers, and the newest version seen of each skill."""
    trust = _file(common).trust()
    publishers = sorted(trust.publishers.values(), key=lambda publisher: publisher.name)
    seen = sorted(trust.seen.values(), key=lambda skill: skill.skill)
    document = {
        "publishers": [{"name": p.name, "key": p.key, "how": p.how, "since": p.since} for p in publishers],
        "seen": [{"skill": s.skill, "publisher": s.publisher, "version": s.version, "signed": s.signed} for s in seen],
    }

    def show() -> None:
        rows = [(p.name, p.key, p.how, p.since) for p in publishers]
        common.out.table(("publisher", "key", "how", "since"), rows)
        if seen:
            common.out.table(
                ("skill", "publisher", "version", "signed"), [(s.skill, s.publisher, s.version, s.signed) for s in seen]
            )

    common.out.answer(document, show)


@click.command(cls=Command)
@click.argument("publisher", metavar="PUBLISHER")
@click.argument("key", metavar="DID")
@click.pass_obj
def add(common: Common, publisher: str, key: str) -> None:
    """Trust PUBLISHER, whose key is DID (did:key:z6Mk…).

    Compare the key with the one that the publisher states elsewhere, on their site or in person.
    """
    from cortex_graph.datetimes import date_time
    from cortex_skills.keys import public_of
    from cortex_skills.signatures import DEVELOPER, Publisher
    from cortex_skills.signatures.statement import PUBLISHER

    if not PUBLISHER.fullmatch(publisher) or publisher == DEVELOPER:
        hint = "1 to 64 lower-case letters, digits, . and -, such as example.org"
        raise CortexError("invalid_arguments", f"{shown(publisher)} is not a valid name of a publisher", hint=hint)
    try:
        public_of(key)
    except ValueError as error:
        hint = "the publisher's `cortex-skills key export NAME` prints it"
        raise CortexError("invalid_arguments", f"{shown(key)} is not a key: {error}", hint=hint) from None
    listed = Publisher(publisher, key, "listed", date_time(datetime.now(UTC)))
    _file(common).change(lambda trust: trust.with_publisher(listed))
    common.out.answer({"trusted": publisher, "key": key}, lambda: common.out.line(f"{publisher} is trusted"))


@click.command(cls=Command)
@click.argument("publisher", metavar="PUBLISHER")
@click.pass_obj
def remove(common: Common, publisher: str) -> None:
    """Stop trusting PUBLISHER, and forget the versions seen of its skills."""
    file = _file(common)
    if publisher not in file.trust().publishers:
        hint = "`cortex-skills trust list` lists the trusted publishers"
        raise CortexError("invalid_arguments", f"{shown(publisher)} is not a trusted publisher", hint=hint)
    file.change(lambda trust: trust.without_publisher(publisher))
    common.out.answer({"removed": publisher}, lambda: common.out.line(f"{publisher} is trusted no longer"))


@click.command(cls=Command)
@click.argument("skill", metavar="SKILL")
@click.pass_obj
def forget(common: Common, skill: str) -> None:
    """Forget the versions seen of SKILL, so that an older version or another publisher is accepted."""
    file = _file(common)
    if skill not in file.trust().seen:
        hint = "`cortex-skills trust list` lists the skills that were seen"
        raise CortexError("invalid_arguments", f"{shown(skill)} was never seen here", hint=hint)
    file.change(lambda trust: trust.without_skill(skill))
    common.out.answer({"forgotten": skill}, lambda: common.out.line(f"{skill} is forgotten"))


trust = Group(
    "trust",
    help="Manage the publishers whose skills load.",
    sections={"Commands": [list_, add, remove, forget]},
)
