"""`key create`, `key list`, `key export` and `key rotate`: signing keys.

Rules kept here:
- commands write only the public part of a key; to move the secret, a person copies its file;
- the export formats are standard ones: `did:key`, Multikey, JWK (RFC 8037), PEM (RFC 8410).
"""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import click

from cortex_skills.doors.cli.commands import Command, Group
from cortex_skills.doors.cli.options import Choice, Common
from cortex_skills.doors.cli.path_types import GivenPath

# RFC 8410, §4: SubjectPublicKeyInfo of an Ed25519 key, less the key.
_SPKI = bytes.fromhex("302a300506032b6570032100")


@click.command(cls=Command)
@click.argument("name", metavar="NAME")
@click.pass_obj
def create(common: Common, name: str) -> None:
    """Create a key called NAME, and print its public part.

    The secret is a file in your data folder that only you can read. Keep a copy in a safe place.
    """
    from cortex_skills.keys.folder import key_folder
    from cortex_skills.operations.key_operations import create_key

    did = common.operate(create_key, key=name)
    common.out.answer({"name": name, "did": did}, lambda: common.out.line(did))
    if not common.out.as_json:
        place = key_folder(common.settings()).path
        common.out.note(f"its secret is in {place}: any holder of that file can sign as you")


@click.command("list", cls=Command)
@click.pass_obj
def list_(common: Common) -> None:
    """List the keys: names and public parts."""
    from cortex_skills.operations.key_operations import list_keys

    keys = common.operate(list_keys)
    rows = [(key["name"], key["did"] or f"cannot be used: {key['problem']}") for key in keys]
    common.out.answer(keys, lambda: common.out.table(("name", "did"), rows))


@click.command(cls=Command)
@click.argument("name", metavar="NAME")
@click.option(
    "--as", "form", type=Choice(["did", "multikey", "jwk", "pem"]), default="did", show_default=True, help="The format."
)
@click.pass_obj
def export(common: Common, name: str, form: str) -> None:
    """Print the public part of the key called NAME, for verifiers of its signatures."""
    import json

    from cortex_skills.keys.folder import key_folder

    key = key_folder(common.settings()).open(name)
    jwk = {"kty": "OKP", "crv": "Ed25519", "x": urlsafe_b64encode(key.public).decode().rstrip("=")}
    pem = b64encode(_SPKI + key.public).decode()
    forms: dict[str, Callable[[], None]] = {
        "did": lambda: common.out.line(key.did),
        "multikey": lambda: common.out.line(key.did.removeprefix("did:key:")),
        "jwk": lambda: common.out.line(json.dumps(jwk)),
        "pem": lambda: common.out.text(f"-----BEGIN PUBLIC KEY-----\n{pem}\n-----END PUBLIC KEY-----"),
    }
    document = {"name": key.name, "did": key.did, "multikey": key.did.removeprefix("did:key:"), "jwk": jwk}
    common.out.answer(document, forms[form])


@click.command(cls=Command)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--publisher", metavar="NAME", required=True, help="Your name as a publisher, such as example.org.")
@click.option("-o", "--output", metavar="FILE", type=GivenPath(path_type=Path), required=True, help="The statement.")
@click.pass_obj
def rotate(common: Common, old: str, new: str, publisher: str, output: Path) -> None:
    """Write a statement, signed with the key OLD, that the key NEW replaces it.

    Publish the statement with your skills. Those who trust you apply it: `trust rotate PUBLISHER --statement FILE`.
    """
    from cortex_skills.keys.folder import key_folder
    from cortex_skills.safe_io.private_files import write_whole
    from cortex_skills.signatures.key_rotation import rotate as signed

    folder = key_folder(common.settings())
    rotation = signed(publisher, folder.open(old), folder.open(new), datetime.now(UTC))
    write_whole(output, rotation.to_file(), 0o644)
    document = {"publisher": publisher, "from": rotation.old, "to": rotation.new, "file": str(output)}
    common.out.answer(document, lambda: common.out.line(("wrote", "green"), f" {output}"))


key = Group(
    "key",
    help="Create, list and export the keys that sign proofs, credentials and skills.",
    sections={"Commands": [create, list_, export, rotate]},
)
