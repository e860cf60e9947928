"""`sign` and `verify`: sign skills, and verify their signatures.

Rules kept here:
- nothing is decided here: signing is an operation, and `verify` shows the check that the loader uses;
- every skill of a folder is verified, also after one that fails;
- after signing, the sandbox is compiled for this machine, so that the first load need not wait;
- no code of a skill runs, and `verify` changes nothing: a version is recorded as seen only when it is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import FOLDER, Common
from cortex_skills.doors.cli.path_types import GivenPath
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_skills.signatures import Verifier

PATHS = click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=FOLDER)


@dataclass(frozen=True, slots=True)
class _Verdict:
    """The result for one skill: its publisher and the time of the signature, or an error."""

    folder: Path
    name: str
    publisher: str = ""
    signed: str = ""
    error: CortexError | None = None
    model_signature: str = "none"

    def to_json(self) -> dict[str, Any]:
        """The result as JSON."""
        document = {"folder": str(self.folder), "name": self.name, "verified": self.error is None}
        if self.error is not None:
            return document | {"error": self.error.to_json()}
        signed = {"publisher": self.publisher, "signed": self.signed}
        return document | signed | {"modelSignature": self.model_signature}


@click.command(cls=Command)
@PATHS
@click.option("--key", metavar="NAME", help="The key to sign with (`key list`) [the local developer's].")
@click.option("--publisher", metavar="NAME", help="The publisher's name, such as example.org; with --key.")
@click.pass_obj
def sign(common: Common, paths: tuple[Path, ...], key: str | None, publisher: str | None) -> None:
    """Sign skills, so that they load.

    PATH is the folder of a skill, or a folder of skills. With --key and --publisher the signature is written to
    SKILL.sig in the folder of the skill, and is valid wherever that publisher is trusted. Without them the signature is
    stored in your data folder, made with a key called local-developer, and is valid only on this machine.
    """
    if (key is None) != (publisher is None):
        raise click.UsageError("--key and --publisher belong together: a publisher signs with its own key")
    from cortex_skills.keys.folder import key_folder
    from cortex_skills.operations.key_operations import sign_skill
    from cortex_skills.skill_folder.snapshot import skill_folders

    if key is not None:
        key_folder(common.settings()).open(key)
    signed = []
    for folder in (each for path in paths for each in skill_folders(path)):
        signature = common.operate(sign_skill, folder=str(folder), key=key, publisher=publisher)
        statement = signature.statement
        signed.append(
            {
                "folder": str(folder),
                "name": statement.skill,
                "version": statement.version,
                "publisher": statement.publisher,
                "key": statement.key,
                "files": len(signature.files),
            }
        )
    common.out.answer({"signed": signed}, lambda: _show_signed(common, signed))
    common.warm_up()


@click.command(cls=Command)
@PATHS
@click.option(
    "--model-key",
    metavar="FILE",
    type=GivenPath(path_type=Path),
    help="The public key (PEM) that verifies a skill.oms.sig of OpenSSF model signing.",
)
@click.pass_obj
def verify(common: Common, paths: tuple[Path, ...], model_key: Path | None) -> None:
    """Verify the signatures of skills.

    PATH is the folder of a skill, or a folder of skills. The result is that of the loader when signatures are required;
    a skill.oms.sig beside it is verified with --model-key, else with verification.modelKeys, and must be valid then.
    """
    from cortex_skills.signatures import Verifier
    from cortex_skills.skill_folder.snapshot import skill_folders

    settings = common.settings()
    verifier = Verifier.of(settings)
    keys = settings.verification.model_keys if model_key is None else (model_key,)
    verdicts = [_verdict(verifier, folder, keys) for path in paths for folder in skill_folders(path)]
    bad = [verdict for verdict in verdicts if verdict.error is not None]
    document = {"verified": not bad, "skills": [verdict.to_json() for verdict in verdicts]}
    common.out.answer(document, lambda: _show_verdicts(common, verdicts))
    if bad and bad[0].error is not None:
        raise CortexError(
            bad[0].error.code,
            f"{len(bad)} of {len(verdicts)} skills {'is' if len(bad) == 1 else 'are'} not verified",
            hint=bad[0].error.hint,
        )


def _verdict(verifier: Verifier, folder: Path, keys: Sequence[str | Path]) -> _Verdict:
    from cortex_skills.signatures.model_signing import check_model_signature
    from cortex_skills.skill_folder.snapshot import read_skill

    snapshot = read_skill(folder)
    try:
        if snapshot.manifest is None:
            raise snapshot.error or CortexError("manifest_invalid", f"{folder} cannot be read")
        statement = verifier.check(snapshot, snapshot.manifest).statement
        model_signature = check_model_signature(folder, keys)
    except CortexError as error:
        return _Verdict(folder, snapshot.name, error=error)
    return _Verdict(folder, snapshot.name, statement.publisher, statement.signed, model_signature=model_signature)


def _show_signed(common: Common, signed: list[dict[str, Any]]) -> None:
    for each in signed:
        version = f" {each['version']}" if each["version"] else ""
        common.out.line(("signed", "green"), f" {each['folder']}: {each['name']}{version} by {each['publisher']}")


def _show_verdicts(common: Common, verdicts: list[_Verdict]) -> None:
    for verdict in verdicts:
        if verdict.error is None:
            by = f"signed by {verdict.publisher} at {verdict.signed}"
            common.out.line(("ok", "green"), f" {verdict.folder}: {verdict.name}, {by}")
            if verdict.model_signature == "not_evaluated":
                common.out.line("    skill.oms.sig is not checked: give the key with --model-key")
            elif verdict.model_signature == "verified":
                common.out.line("    skill.oms.sig is verified")
        else:
            common.out.line(("bad", "red"), f" {verdict.folder}: {verdict.error.message} [{verdict.error.code}]")
            if verdict.error.hint:
                common.out.line(f"    hint: {verdict.error.hint}")
