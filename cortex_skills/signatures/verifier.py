"""Whether a skill is as somebody who is trusted signed it.

Rules kept here:
- the statement first (is it about this skill and version, does the signature hold), then every file, then trust; the
  first thing that is wrong is the answer;
- checking changes nothing. What was seen, and whom to trust from the first use on, is remembered of a skill that has
  passed every other check too, and has started;
- what was read into memory to be run is compared with what was signed, and not only what lies on the disk: none of it
  is another, and none is missing;
- a folder that this user is developing is signed with the local developer's key as it is read, when it is their own; a
  folder that the local developer signed counts at its place on this machine, and nowhere else;
- no signature at all is `signature_required`, one that does not hold `signature_invalid`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from cortex_skills.config import Config
from cortex_skills.errors import CortexError
from cortex_skills.manifest import Manifest
from cortex_skills.private_files import NotPrivateError, read_private
from cortex_skills.proofs.keys import KeyFolder, public_of, verify
from cortex_skills.proofs.keys.local import key_folder
from cortex_skills.reading import MAX_SIGNATURE, SHAPES, Reading
from cortex_skills.scanner import is_source
from cortex_skills.signatures.differences import Difference, differences
from cortex_skills.signatures.encodings import is_recoded
from cortex_skills.signatures.files import SkillFile, files_of
from cortex_skills.signatures.signing import (
    DEVELOPER,
    check_own,
    own_folder,
    own_signature,
    sign_files,
    version_of,
)
from cortex_skills.signatures.statement import Signature, read_signature
from cortex_skills.signatures.trust import Trust, accepted, check_is_about
from cortex_skills.signatures.trust_file import TrustFile, trust_of

_MAX_SHOWN = 20
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Verifier:
    """Checks signatures for one host.

    Attributes:
        trust: the trust store.
        keys: where the local developer's key is.
        own: the folder of the signatures that the local developer made.
        first_use: whether a publisher that nobody knows is trusted from then on.
        developing: the folders that this user is developing, or folders of them.

    """

    trust: TrustFile
    keys: KeyFolder
    own: Path
    first_use: bool = False
    developing: Collection[Path] = ()

    @classmethod
    def of(cls, config: Config, developing: Collection[Path] = ()) -> Verifier:
        """The verifier of a host with this configuration."""
        first_use = config.verification.trust_on_first_use
        return cls(trust_of(config), key_folder(config), own_folder(), first_use, developing)

    def check(self, reading: Reading, manifest: Manifest) -> Signature:
        """Check a skill as it was read.

        Returns:
            The signature that was found good.

        Raises:
            CortexError: `signature_required`, `signature_invalid`; `config_invalid`: the trust store cannot be used.

        """
        there = files_of(reading.folder)
        if self._is_developed(reading.folder):
            check_own(reading.folder)
            key = self.keys.open_or_create(DEVELOPER)
            signature = sign_files(manifest, there, key, DEVELOPER, datetime.now(UTC))
            if _unlike(signature, reading):
                hint = "save it whole: it is looked at again after each save"
                raise CortexError("signature_invalid", f"{manifest.name} changed while it was read", hint=hint)
            check_holds(signature, manifest.name, version_of(manifest), there, reading)
            return signature
        signature = self.signature_of(reading, there)
        check_holds(signature, manifest.name, version_of(manifest), there, reading)
        self._check_trusted(signature, reading.folder)
        return signature

    def remember(self, signature: Signature) -> None:
        """Keep what is known of a skill that has started: older versions of it are refused from then on.

        Raises:
            CortexError: `signature_invalid`: a newer version was seen meanwhile; `config_invalid`.

        """
        if signature.statement.publisher != DEVELOPER:
            self.trust.change(lambda trust: self._accepted(signature, trust))

    def signature_of(self, reading: Reading, there: list[SkillFile]) -> Signature:
        """The signature that speaks for a skill: the local developer's if it fits, else its publisher's.

        Raises:
            CortexError: `signature_required`: there is none; `signature_invalid`: it cannot be read.

        """
        own = self._own_signature(reading.folder)
        if own is not None and not differences(own.files, there):
            return own
        signature = own if reading.signature is None else read_signature(reading.signature)
        if signature is None:
            raise CortexError(
                "signature_required",
                f"{reading.name} is not signed",
                hint=f"if it is your own: cortex-skills sign {reading.folder}; else ask its publisher for a signed one",
            )
        return signature

    def _is_developed(self, folder: Path) -> bool:
        place = folder.resolve()
        return any(place == each or place.parent == each for each in (root.resolve() for root in self.developing))

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
        said = signature.statement
        if said.publisher == DEVELOPER:
            check_own(folder)
            if said.key != self.keys.open_or_create(DEVELOPER).did or self._own_signature(folder) != signature:
                raise CortexError(
                    "signature_invalid",
                    f"{said.skill} is signed by a developer at home, and that is another place",
                    hint="ask its publisher for a signature that others can trust",
                )
            return
        self._accepted(signature, self.trust.trust())

    def _accepted(self, signature: Signature, trust: Trust) -> Trust:
        return accepted(signature.statement, trust, datetime.now(UTC), first_use=self.first_use)


def check_holds(
    signature: Signature, skill: str, version: str, there: list[SkillFile], reading: Reading | None = None
) -> None:
    """Refuse what is not as a signature says, whoever made it.

    Args:
        signature: of the skill.
        skill: the name that it has to be about.
        version: the version that it has to be about; empty for none.
        there: the skill's files.
        reading: what was read of them into memory, to be run; None when nothing was.

    Raises:
        CortexError: `signature_invalid`.

    """
    said = signature.statement
    check_is_about(said, skill, version)
    try:
        public = public_of(said.key)
    except ValueError as error:
        raise CortexError("signature_invalid", f"{skill} is signed with a key that is none: {error}") from None
    if not verify(public, said.message(), signature.signature):
        raise CortexError(
            "signature_invalid",
            f"the signature of {skill} was not made with the key that it names",
            hint="the file was changed, or made up: get the skill from its publisher again",
        )
    found = differences(signature.files, there)
    if found and reading is not None:
        found[:_MAX_SHOWN] = [_in_detail(each, signature, reading.folder) for each in found[:_MAX_SHOWN]]
    found = found or _unlike(signature, reading)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise CortexError(
            "signature_invalid",
            f"{skill} is not as it was signed: {found[0]}{more}",
            hint="get the skill from its publisher again; if the change is yours, sign it again",
            details={"differences": [difference.to_json() for difference in found[:_MAX_SHOWN]]},
        )


def _in_detail(found: Difference, signature: Signature, folder: Path) -> Difference:
    """The same, told from a text that was only written in another way."""
    if found.kind != "changed" or not is_recoded(folder, found.path, signature.hashes()[found.path]):
        return found
    return replace(found, kind="recoded")


def _unlike(signature: Signature, reading: Reading | None) -> list[Difference]:
    """What was read into memory and is not what was signed: it changed on the disk between two looks."""
    if reading is None:
        return []
    signed, read = signature.hashes(), reading.texts()
    found = [
        Difference("changed", path)
        for path, text in sorted(read.items())
        if signed.get(path) not in (_sha256(text.encode()), _sha256(_BOM + text.encode()))
    ]
    if any(finding.severity == "critical" for finding in reading.findings):
        return found  # what could not be read keeps it from starting, and says more than that it is not there
    return found + [
        Difference("missing", path) for path in signed if path not in read and (path == SHAPES or is_source(path))
    ]


def _sha256(data: bytes) -> str:
    return sha256(data).hexdigest()
