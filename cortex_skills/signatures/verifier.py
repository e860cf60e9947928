"""Verifying that a skill is signed by a trusted publisher.

Rules kept here:
- the statement is checked first (skill, version, signature), then every file, then trust; the first failure is
  reported;
- a check does not change the trust store. Seen versions, and publishers trusted on first use, are stored for a skill
  that has passed all checks and has started;
- the texts in memory that will run are compared with the signed files, not only the files on disk: none may differ or
  be missing;
- a folder in development is signed with the local developer's key when it is read, if it belongs to this user; the
  signature of the local developer is valid for one path on this machine;
- a skill without a signature is `signature_required`, an invalid signature is `signature_invalid`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError
from cortex_skills.keys import KeyFolder, public_of, verify
from cortex_skills.keys.folder import key_folder
from cortex_skills.manifest import Manifest
from cortex_skills.safe_io.private_files import NotPrivateError, read_private
from cortex_skills.scanner import is_source
from cortex_skills.signatures.differences import FileDifference, differences
from cortex_skills.signatures.encodings import is_recoded
from cortex_skills.signatures.signing import (
    DEVELOPER,
    check_own,
    own_folder,
    own_signature,
    sign_files,
    version_of,
)
from cortex_skills.signatures.skill_files import SkillFile, files_of
from cortex_skills.signatures.statement import Signature, read_signature
from cortex_skills.signatures.trust import Publisher, Trust, accepted, check_is_about
from cortex_skills.signatures.trust_file import TrustFile, trust_of
from cortex_skills.skill_folder.snapshot import MAX_SIGNATURE, SHAPES, SkillSnapshot, is_developed

_MAX_SHOWN = 20
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Verifier:
    """Verifies signatures for one host.

    Attributes:
        trust: the trust store.
        keys: the folder of the local developer's key.
        own: the folder of the local developer's signatures.
        first_use: whether unknown publishers are trusted on first use.
        developing: the folders in development, or their parent folders.
    """

    trust: TrustFile
    keys: KeyFolder
    own: Path
    first_use: bool = False
    developing: Collection[Path] = ()

    @classmethod
    def of(cls, config: Config, developing: Collection[Path] = ()) -> Verifier:
        """The verifier for a configuration."""
        first_use = config.verification.trust_on_first_use
        return cls(trust_of(config), key_folder(config), own_folder(), first_use, developing)

    def check(self, snapshot: SkillSnapshot, manifest: Manifest) -> Signature:
        """Check a skill.

        Returns:
            The valid signature.

        Raises:
            CortexError: `signature_required`, `signature_invalid`; `config_invalid`: the trust store cannot be used.
        """
        current = files_of(snapshot.folder)
        if is_developed(snapshot.folder, self.developing):
            check_own(snapshot.folder)
            key = self.keys.open_or_create(DEVELOPER)
            signature = sign_files(manifest, current, key, DEVELOPER, datetime.now(UTC))
            if _unlike(signature, snapshot):
                hint = "save all files; the skill is read again after each save"
                raise CortexError("signature_invalid", f"{manifest.name} changed while it was read", hint=hint)
            check_holds(signature, manifest.name, version_of(manifest), current, snapshot)
            return signature
        signature = self.signature_of(snapshot, current)
        check_holds(signature, manifest.name, version_of(manifest), current, snapshot)
        self._check_trusted(signature, snapshot.folder)
        return signature

    def remember(self, signature: Signature) -> Publisher | None:
        """Store the version of a skill that has started; older versions are refused from then on.

        Returns:
            Its publisher, if it is trusted since now.

        Raises:
            CortexError: `signature_invalid`: a newer version was stored meanwhile; `config_invalid`.
        """
        name, before = signature.statement.publisher, []
        if name == DEVELOPER:
            return None

        def change(trust: Trust) -> Trust:
            before.append(trust)
            return self._accepted(signature, trust)

        after = self.trust.change(change)
        return None if name in before[-1].publishers else after.publishers.get(name)

    def signature_of(self, snapshot: SkillSnapshot, current: list[SkillFile]) -> Signature:
        """The signature of a skill: the local developer's if it covers these files, else the publisher's.

        Raises:
            CortexError: `signature_required`: there is none; `signature_invalid`: it cannot be read.
        """
        own = self._own_signature(snapshot.folder)
        if own is not None and not differences(own.files, current):
            return own
        signature = own if snapshot.signature is None else read_signature(snapshot.signature)
        if signature is None:
            raise CortexError(
                "signature_required",
                f"{snapshot.name} is not signed",
                hint=f"sign your own skill: cortex-skills sign {snapshot.folder}; else ask its publisher to sign it",
            )
        return signature

    def _own_signature(self, folder: Path) -> Signature | None:
        try:
            return read_signature(read_private(own_signature(folder, self.own), MAX_SIGNATURE))
        except FileNotFoundError:
            return None
        except NotPrivateError as error:
            raise CortexError("signature_invalid", f"your signature {error.problem}", hint=error.hint) from None
        except OSError as error:
            raise CortexError("signature_invalid", f"your signature cannot be read: {error.strerror}") from None

    def _check_trusted(self, signature: Signature, folder: Path) -> None:
        statement = signature.statement
        if statement.publisher == DEVELOPER:
            check_own(folder)
            self.trust.trust().check_not_revoked(statement.key, DEVELOPER)
            if statement.key != self.keys.open_or_create(DEVELOPER).did or self._own_signature(folder) != signature:
                raise CortexError(
                    "signature_invalid",
                    f"{statement.skill} has the local signature of another folder or machine",
                    hint="ask its publisher for a publisher's signature",
                )
            return
        self._accepted(signature, self.trust.trust())

    def _accepted(self, signature: Signature, trust: Trust) -> Trust:
        return accepted(signature.statement, trust, datetime.now(UTC), first_use=self.first_use)


def check_holds(
    signature: Signature, skill: str, version: str, current: list[SkillFile], snapshot: SkillSnapshot | None = None
) -> None:
    """Check a signature and the files that it covers, without checking trust.

    Args:
        signature: the signature.
        skill: the expected name.
        version: the expected version; empty for none.
        current: the skill's files.
        snapshot: the files in memory that will run; None when there are none.
    """
    statement = signature.statement
    check_is_about(statement, skill, version)
    try:
        public = public_of(statement.key)
    except ValueError as error:
        raise CortexError("signature_invalid", f"{skill} is signed with an invalid key: {error}") from None
    if not verify(public, statement.message(), signature.signature):
        raise CortexError(
            "signature_invalid",
            f"the signature of {skill} was not made with the key that it names",
            hint="the signature file was changed or forged: get the skill from its publisher again",
        )
    found = differences(signature.files, current)
    if found and snapshot is not None:
        found[:_MAX_SHOWN] = [_in_detail(each, signature, snapshot.folder) for each in found[:_MAX_SHOWN]]
    found = found or _unlike(signature, snapshot)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise CortexError(
            "signature_invalid",
            f"{skill} is not as it was signed: {found[0]}{more}",
            hint="get the skill from its publisher again, or sign your own changes",
            details={"differences": [difference.to_json() for difference in found[:_MAX_SHOWN]]},
        )


def _in_detail(found: FileDifference, signature: Signature, folder: Path) -> FileDifference:
    """The difference, marked when only the encoding changed."""
    if found.kind != "changed" or not is_recoded(folder, found.path, signature.hashes()[found.path]):
        return found
    return replace(found, kind="recoded")


def _unlike(signature: Signature, snapshot: SkillSnapshot | None) -> list[FileDifference]:
    """The texts in memory that differ from the signed files: the disk changed between two reads."""
    if snapshot is None:
        return []
    signed, read = signature.hashes(), snapshot.texts()
    found = [
        FileDifference("changed", path)
        for path, text in sorted(read.items())
        if signed.get(path) not in (_sha256(text.encode()), _sha256(_BOM + text.encode()))
    ]
    if any(finding.severity == "critical" for finding in snapshot.findings):
        return found  # an unreadable file prevents the start, and its finding explains more than `missing`
    return found + [
        FileDifference("missing", path) for path in signed if path not in read and (path == SHAPES or is_source(path))
    ]


def _sha256(data: bytes) -> str:
    return sha256(data).hexdigest()
