"""`trust`: the publishers whose skills and artifacts load, and the keys that verify nothing.

Rules kept here:
- a publisher is added with its key, which the user has from a source that they trust;
- no command replaces a key in one step, but by a statement of the old key: else the old key is removed first;
- each change is an event of the audit, if a journal is kept; what it was before and after.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cortex_skills.doors.cli.commands import Command, Group
from cortex_skills.doors.cli.options import Common, read_given
from cortex_skills.doors.cli.path_types import GivenPath
from cortex_skills.errors import CortexError
from cortex_skills.safe_io.schemas import shown

if TYPE_CHECKING:
    from cortex_skills.audit.bounded import Fact, Facts
    from cortex_skills.signatures import Trust, TrustFile

_MAX_REASON = 500
_FILE = GivenPath(path_type=Path)


def trust_file(common: Common) -> TrustFile:
    """The trust store of the configuration."""
    from cortex_skills.signatures.trust_file import trust_of

    return trust_of(common.settings())


def change_trust(
    common: Common,
    event: str,
    change: Callable[[Trust], Trust],
    about: Callable[[Trust], Fact],
    facts: Facts,
    **given: str,
) -> None:
    """Change the trust store, and record `about` of before and after, other facts, and what was given with it."""
    before: list[Trust] = []

    def noted(trust: Trust) -> Trust:
        before.append(trust)
        return change(trust)

    after = trust_file(common).change(noted)
    if after != before[-1]:
        common.record(event, {**facts, "from": about(before[-1]), "to": about(after)}, given)


def keys_of(name: str) -> Callable[[Trust], list[str]]:
    """The ids of a publisher's keys."""
    from cortex_skills.signatures.named_keys import id_of

    return lambda trust: [id_of(key) for key in trust.publishers[name].keys] if name in trust.publishers else []


def now() -> str:
    """The time, as `xsd:dateTime`."""
    from cortex_graph.datetimes import date_time

    return date_time(datetime.now(UTC))


@click.command("list", cls=Command)
@click.pass_obj
def list_(common: Common) -> None:
    """List the trusted publishers, the revoked keys, and the newest version seen of each skill and artifact."""
    trust = trust_file(common).trust()
    publishers = sorted(trust.publishers.values(), key=lambda publisher: publisher.name)
    seen = sorted(trust.seen.values(), key=lambda skill: skill.skill)
    revoked = sorted(trust.revoked.values(), key=lambda key: key.key)
    document = {
        "publishers": [asdict(publisher) for publisher in publishers],
        "seen": [{"skill": s.skill, "publisher": s.publisher, "version": s.version, "signed": s.signed} for s in seen],
        "revoked": [asdict(key) for key in revoked],
    }

    def show() -> None:
        rows = [
            (p.name, f"{key} (revoked)" if key in trust.revoked else key, p.how, p.since)
            for p in publishers
            for key in p.keys
        ]
        common.out.table(("publisher", "key", "how", "since"), rows)
        if revoked:
            common.out.table(("revoked key", "reason", "since"), [(r.key, r.reason, r.since) for r in revoked])
        if seen:
            common.out.table(
                ("skill", "publisher", "version", "signed"), [(s.skill, s.publisher, s.version, s.signed) for s in seen]
            )

    common.out.answer(document, show)


@click.command(cls=Command)
@click.argument("publisher", metavar="PUBLISHER")
@click.argument("key", metavar="KEY")
@click.pass_obj
def add(common: Common, publisher: str, key: str) -> None:
    """Trust PUBLISHER, whose key is KEY: did:key:z6Mk…, or 64 hexadecimal digits.

    Compare the key with the one that the publisher states elsewhere, on their site or in person.
    """
    from cortex_skills.signatures import DEVELOPER, Publisher
    from cortex_skills.signatures.named_keys import read_key
    from cortex_skills.signatures.trust import PUBLISHER_NAME

    if not PUBLISHER_NAME.fullmatch(publisher) or publisher == DEVELOPER:
        hint = "1 to 256 lower-case letters, digits, . _ - and :, such as example.org"
        raise CortexError("invalid_arguments", f"{shown(publisher)} is not a valid name of a publisher", hint=hint)
    listed = Publisher(publisher, read_key(key), "listed", now())
    change_trust(
        common, "trust.added", lambda trust: trust.with_publisher(listed), keys_of(publisher), {"publisher": publisher}
    )
    common.out.answer({"trusted": publisher, "key": listed.key}, lambda: common.out.line(f"{publisher} is trusted"))


@click.command(cls=Command)
@click.argument("publisher", metavar="PUBLISHER")
@click.pass_obj
def remove(common: Common, publisher: str) -> None:
    """Stop trusting PUBLISHER, and forget the versions seen of its skills."""
    file = trust_file(common)
    if publisher not in file.trust().publishers:
        hint = "`cortex-skills trust list` lists the trusted publishers"
        raise CortexError("invalid_arguments", f"{shown(publisher)} is not a trusted publisher", hint=hint)
    change_trust(
        common,
        "trust.removed",
        lambda trust: trust.without_publisher(publisher),
        keys_of(publisher),
        {"publisher": publisher},
    )
    common.out.answer({"removed": publisher}, lambda: common.out.line(f"{publisher} is trusted no longer"))


@click.command(cls=Command)
@click.argument("skill", metavar="SKILL")
@click.pass_obj
def forget(common: Common, skill: str) -> None:
    """Forget the versions seen of SKILL (or of an artifact), so that an older one or another publisher is accepted."""
    file = trust_file(common)
    if skill not in file.trust().seen:
        hint = "`cortex-skills trust list` lists the skills that were seen"
        raise CortexError("invalid_arguments", f"{shown(skill)} was never seen here", hint=hint)
    change_trust(
        common,
        "trust.forgotten",
        lambda trust: trust.without_skill(skill),
        lambda trust: trust.seen[skill].version if skill in trust.seen else None,
        {"skill": skill},
    )
    common.out.answer({"forgotten": skill}, lambda: common.out.line(f"{skill} is forgotten"))


@click.command(cls=Command)
@click.argument("key", metavar="KEY")
@click.option("--reason", default="", metavar="TEXT", help="Why, for those who read the list.")
@click.pass_obj
def revoke(common: Common, key: str, reason: str) -> None:
    """Revoke KEY: nothing that it signed is accepted any more, not even what is installed or loaded.

    KEY is did:key:z6Mk…, 64 hexadecimal digits, or the id ed25519:… of a key that is known here. A revocation is final.
    """
    from cortex_skills.signatures import RevokedKey
    from cortex_skills.signatures.named_keys import id_of, read_key

    if len(reason) > _MAX_REASON or not reason.isprintable():
        raise CortexError("invalid_arguments", f"the reason is not one line of at most {_MAX_REASON} characters")
    publishers = trust_file(common).trust().publishers.values()
    did = read_key(key, (each for publisher in publishers for each in (*publisher.keys, *publisher.former)))
    revoked = RevokedKey(did, reason, now())
    change_trust(
        common,
        "trust.revoked",
        lambda trust: trust.with_revoked(revoked),
        lambda trust: "revoked" if did in trust.revoked else "not revoked",
        {"id": id_of(did)},
        reason=reason,
    )
    common.out.answer({"revoked": did, "reason": reason}, lambda: common.out.line(f"{did} is revoked"))


@click.command(cls=Command)
@click.argument("publisher", metavar="PUBLISHER")
@click.option(
    "--statement", metavar="FILE", type=_FILE, required=True, help="What `key rotate` of the publisher wrote."
)
@click.pass_obj
def rotate(common: Common, publisher: str, statement: Path) -> None:
    """Replace the key of PUBLISHER by a new one, as a statement says that is signed with the old key.

    The old key is not accepted from then on.
    """
    from cortex_skills.signatures.key_rotation import MAX_STATEMENT, read_rotation, rotated

    rotation = read_rotation(read_given(statement, MAX_STATEMENT))
    if rotation.publisher != publisher:
        hint = f"name {rotation.publisher}, if it is whom you mean"
        raise CortexError(
            "invalid_arguments", f"the statement is about {rotation.publisher}, not {shown(publisher)}", hint=hint
        )
    now = datetime.now(UTC)
    change_trust(
        common,
        "trust.rotated",
        lambda trust: rotated(trust, rotation, now),
        keys_of(publisher),
        {"publisher": publisher},
    )
    document = {"rotated": publisher, "from": rotation.old, "to": rotation.new}
    common.out.answer(document, lambda: common.out.line(f"{publisher} is trusted with {rotation.new}"))


trust = Group(
    "trust",
    help="Manage the publishers whose skills and artifacts load.",
    sections={"Commands": [list_, add, remove, forget, revoke, rotate]},
)
