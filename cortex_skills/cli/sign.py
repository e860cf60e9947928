"""`sign` and `verify`: who published a skill, and whether it is what they published.

Rules kept here:
- nothing is decided here: the loader refuses by the same check that `verify` shows;
- every skill of a folder is signed or looked at; one that is bad hides no other;
- nothing of a skill runs, and `verify` changes nothing: what it accepts counts as seen once it is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.cli.commands import Command
from cortex_skills.cli.options import FOLDER, Common
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_skills.signatures import Verifier

PATHS = click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=FOLDER)


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What there is to say about one skill: by whom it is signed and when, or what is wrong."""

    folder: Path
    name: str
    publisher: str = ""
    signed: str = ""
    error: CortexError | None = None

    def to_json(self) -> dict[str, Any]:
        """The verdict as JSON."""
        told = {"folder": str(self.folder), "name": self.name, "verified": self.error is None}
        if self.error is not None:
            return told | {"error": self.error.to_json()}
        return told | {"publisher": self.publisher, "signed": self.signed}


@click.command(cls=Command)
@PATHS
@click.option("--key", metavar="NAME", help="The key to sign with (`key list`) [the local developer's].")
@click.option("--publisher", metavar="NAME", help="The publisher's name, such as example.org; with --key.")
@click.pass_obj
def sign(common: Common, paths: tuple[Path, ...], key: str | None, publisher: str | None) -> None:
    """Sign skills, so that they load.

    PATH is a skill's folder, or a folder of skills. With --key and --publisher the signature lies in the skill's
    folder as SKILL.sig, and holds wherever that publisher is trusted. Without them you vouch for your own files on
    this machine: the signature is kept in your data folder, made with a key called local-developer, and holds here
    alone.
    """
    if (key is None) != (publisher is None):
        raise click.UsageError("--key and --publisher go together: a publisher signs with a key of its own")
    from cortex_skills.manifest import load_manifest
    from cortex_skills.proofs.keys.local import key_folder
    from cortex_skills.reading import skill_folders
    from cortex_skills.signatures import sign_for_oneself, sign_for_others
    from cortex_skills.signatures.signing import own_folder

    keys = key_folder(common.settings())
    opened = None if key is None else keys.open(key)
    told = []
    for folder in (each for path in paths for each in skill_folders(path)):
        manifest = load_manifest(folder)
        now = datetime.now(UTC)
        if opened is not None and publisher is not None:
            signature = sign_for_others(folder, manifest, opened, publisher, now)
        else:
            signature = sign_for_oneself(folder, manifest, keys, own_folder(), now)
        said = signature.statement
        told.append(
            {
                "folder": str(folder),
                "name": said.skill,
                "version": said.version,
                "publisher": said.publisher,
                "key": said.key,
                "files": len(signature.files),
            }
        )
    common.out.answer({"signed": told}, lambda: _show_signed(common, told))


@click.command(cls=Command)
@PATHS
@click.pass_obj
def verify(common: Common, paths: tuple[Path, ...]) -> None:
    """Check who signed skills, and that nothing was changed since.

    PATH is a skill's folder, or a folder of skills. Says what the loader would say where signatures are required.
    """
    from cortex_skills.reading import skill_folders
    from cortex_skills.signatures import Verifier

    verifier = Verifier.of(common.settings())
    verdicts = [_verdict(verifier, folder) for path in paths for folder in skill_folders(path)]
    bad = [verdict for verdict in verdicts if verdict.error is not None]
    document = {"verified": not bad, "skills": [verdict.to_json() for verdict in verdicts]}
    common.out.answer(document, lambda: _show_verdicts(common, verdicts))
    if bad and bad[0].error is not None:
        raise CortexError(
            bad[0].error.code,
            f"{len(bad)} of {len(verdicts)} skills {'is' if len(bad) == 1 else 'are'} not verified",
            hint=bad[0].error.hint,
        )


def _verdict(verifier: Verifier, folder: Path) -> _Verdict:
    from cortex_skills.reading import read_skill

    reading = read_skill(folder)
    try:
        if reading.manifest is None:
            raise reading.error or CortexError("manifest_invalid", f"{folder} cannot be read")
        said = verifier.check(reading, reading.manifest).statement
    except CortexError as error:
        return _Verdict(folder, reading.name, error=error)
    return _Verdict(folder, reading.name, said.publisher, said.signed)


def _show_signed(common: Common, told: list[dict[str, Any]]) -> None:
    for each in told:
        version = f" {each['version']}" if each["version"] else ""
        common.out.line(("signed", "green"), f" {each['folder']}: {each['name']}{version} by {each['publisher']}")


def _show_verdicts(common: Common, verdicts: list[_Verdict]) -> None:
    for verdict in verdicts:
        if verdict.error is None:
            by = f"signed by {verdict.publisher} at {verdict.signed}"
            common.out.line(("ok", "green"), f" {verdict.folder}: {verdict.name}, {by}")
        else:
            common.out.line(("bad", "red"), f" {verdict.folder}: {verdict.error.message} [{verdict.error.code}]")
            if verdict.error.hint:
                common.out.line(f"    hint: {verdict.error.hint}")
