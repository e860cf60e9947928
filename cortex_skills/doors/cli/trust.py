"""`trust`: the publishers whose skills and artifacts load, and the keys that verify nothing.

Rules kept here:
- a publisher is added with its key, which the user has from a source that they trust;
- no command replaces a key in one step, but by a statement of the old key: else the old key is removed first;
- what is trusted is read and changed by operations only (`operations/trust_operations.py`).
"""

from __future__ import annotations

from pathlib import Path

import click

from cortex_skills.doors.cli.commands import Command, Group
from cortex_skills.doors.cli.options import Common, read_given
from cortex_skills.doors.cli.path_types import GivenPath

_FILE = GivenPath(path_type=Path)


@click.command("list", cls=Command)
@click.pass_obj
def list_(common: Common) -> None:
    """List the trusted publishers, the revoked keys, and the newest version seen of each skill and artifact."""
    from cortex_skills.operations.trust_operations import list_trust

    document = common.operate(list_trust)
    revoked = {each["key"]: each for each in document["revoked"]}

    def show() -> None:
        rows = [
            (each["name"], f"{key} (revoked)" if key in revoked else key, each["how"], each["since"])
            for each in document["publishers"]
            for key in (each["key"], *each["more"])
        ]
        common.out.table(("publisher", "key", "how", "since"), rows)
        if revoked:
            columns = ("revoked key", "reason", "since")
            common.out.table(columns, [(each["key"], each["reason"], each["since"]) for each in revoked.values()])
        if document["seen"]:
            names = ("skill", "publisher", "version", "signed")
            common.out.table(names, [[each[name] for name in names] for each in document["seen"]])

    common.out.answer(document, show)


@click.command(cls=Command)
@click.argument("publisher", metavar="PUBLISHER")
@click.argument("key", metavar="KEY")
@click.pass_obj
def add(common: Common, publisher: str, key: str) -> None:
    """Trust PUBLISHER, whose key is KEY: did:key:z6Mk…, or 64 hexadecimal digits.

    Compare the key with the one that the publisher states elsewhere, on their site or in person.
    """
    from cortex_skills.operations import trust_operations

    listed = common.operate(trust_operations.add, publisher=publisher, key=key)
    common.out.answer({"trusted": publisher, "key": listed.key}, lambda: common.out.line(f"{publisher} is trusted"))


@click.command(cls=Command)
@click.argument("publisher", metavar="PUBLISHER")
@click.pass_obj
def remove(common: Common, publisher: str) -> None:
    """Stop trusting PUBLISHER, and forget the versions seen of its skills."""
    from cortex_skills.operations import trust_operations

    common.operate(trust_operations.remove, publisher=publisher)
    common.out.answer({"removed": publisher}, lambda: common.out.line(f"{publisher} is trusted no longer"))


@click.command(cls=Command)
@click.argument("skill", metavar="SKILL")
@click.pass_obj
def forget(common: Common, skill: str) -> None:
    """Forget the versions seen of SKILL (or of an artifact), so that an older one or another publisher is accepted."""
    from cortex_skills.operations import trust_operations

    common.operate(trust_operations.forget, skill=skill)
    common.out.answer({"forgotten": skill}, lambda: common.out.line(f"{skill} is forgotten"))


@click.command(cls=Command)
@click.argument("key", metavar="KEY")
@click.option("--reason", default="", metavar="TEXT", help="Why, for those who read the list.")
@click.pass_obj
def revoke(common: Common, key: str, reason: str) -> None:
    """Revoke KEY: nothing that it signed is accepted any more, not even what is installed or loaded.

    KEY is did:key:z6Mk…, 64 hexadecimal digits, or the id ed25519:… of a key that is known here. A revocation is final.
    """
    from cortex_skills.operations import trust_operations

    revoked = common.operate(trust_operations.revoke, key=key, reason=reason).key
    common.out.answer({"revoked": revoked, "reason": reason}, lambda: common.out.line(f"{revoked} is revoked"))


@click.command(cls=Command)
@click.argument("publisher", metavar="PUBLISHER")
@click.option(
    "--statement", metavar="FILE", type=_FILE, required=True, help="What `key rotate` of the publisher wrote."
)
@click.pass_obj
def rotate(common: Common, publisher: str, statement: Path) -> None:
    """Replace the key of PUBLISHER by a new one, with a statement that is signed with the old key.

    The old key is not accepted from then on.
    """
    from cortex_skills.operations import trust_operations
    from cortex_skills.signatures.key_rotation import MAX_STATEMENT, read_rotation

    rotation = read_rotation(read_given(statement, MAX_STATEMENT))
    common.operate(trust_operations.rotate, publisher=publisher, statement=rotation)
    document = {"rotated": publisher, "from": rotation.old, "to": rotation.new}
    common.out.answer(document, lambda: common.out.line(f"{publisher} is trusted with {rotation.new}"))


@click.command(cls=Command)
@click.option("--key", required=True, metavar="NAME", help="The key of the owner, whose did:key is verification.owner.")
@click.pass_obj
def share(common: Common, key: str) -> None:
    """Share the listed publishers and the revoked keys of this host with all hosts of the store.

    They are written to the store as one list, signed with the key of the owner. The other hosts accept it at their
    next call, if their verification.owner is that key. It replaces the list before; a revocation stays for ever.
    """
    from cortex_skills.operations import trust_operations

    with common.plugin() as plugin:
        shared = plugin.operate(trust_operations.share, door="command", key=key)
    counts = f"{len(shared['publishers'])} publishers, {len(shared['revoked'])} revoked keys"
    common.out.answer(dict(shared), lambda: common.out.line(f"list {shared['number']}: {counts}"))


trust = Group(
    "trust",
    help="Manage the publishers whose skills and artifacts load.",
    sections={"Commands": [list_, add, remove, forget, revoke, rotate, share]},
)
