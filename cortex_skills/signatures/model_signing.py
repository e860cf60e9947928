"""Detached signatures of OpenSSF model signing, `skill.oms.sig` in a skill's folder, verified with a public key.

Rules kept here:
- the library does it (the extra `model-signing`), offline, with an elliptic-curve key that the user gives, never with
  an identity provider;
- all files are covered but `skill.oms.sig`, `SKILL.sig` and what is never loaded (`NOT_SHIPPED`, the settings of git).
  The library accepts a signature that states other files to ignore, so the signed names are compared with the folder;
- a signature that is there is verified or is an error; without a key it is not evaluated;
- it says nothing of versions, and a valid one makes no publisher trusted: `SKILL.sig` does.
"""

from __future__ import annotations

import base64
import importlib
import importlib.util
from pathlib import Path
from typing import Literal

from cortex_skills.errors import CortexError
from cortex_skills.safe_io.outside_file import NOT_SHIPPED, OutsideFileError, read_outside
from cortex_skills.safe_io.schemas import shown
from cortex_skills.safe_io.strict_json import read_json
from cortex_skills.signatures.skill_files import files_of
from cortex_skills.skill_folder.snapshot import SIGNATURE

MODEL_SIGNATURE = "skill.oms.sig"

_NOT_LOADED = frozenset({MODEL_SIGNATURE, ".gitattributes", ".github", ".gitignore"})
_MAX_BYTES = 4 << 20
_MAX_SHOWN = 500


def check_model_signature(folder: Path, key: Path | None) -> Literal["none", "not_evaluated", "verified"]:
    """Verify the `skill.oms.sig` of a skill's folder, if it has one.

    Args:
        folder: of the skill.
        key: a file with the public key, PEM; P-256, P-384 or P-521.

    Raises:
        CortexError: `signature_invalid`: it is not a signature of these files by this key; `config_invalid`: the extra
            `model-signing` is not installed.

    """
    file = folder / MODEL_SIGNATURE
    if not file.exists() and not file.is_symlink():
        return "none"
    if key is None:
        return "not_evaluated"
    if importlib.util.find_spec("model_signing") is None:
        hint = "install it: pip install 'cortex-skills[model-signing]'"
        raise CortexError("config_invalid", f"{MODEL_SIGNATURE} needs the extra model-signing", hint=hint)
    files = files_of(folder)  # refuses what is not a regular file, and bounds the size, before the library reads
    try:
        data = read_outside(file, _MAX_BYTES)
        read_outside(key, _MAX_BYTES)
    except OutsideFileError as error:
        raise _refused(f"it or the key {error}") from None
    # Imported as values without types: the library is typed in part, and is not there without the extra.
    hashing, verifying = (importlib.import_module(f"model_signing.{name}") for name in ("hashing", "verifying"))
    covered = hashing.Config().set_ignored_paths(paths=[MODEL_SIGNATURE, SIGNATURE, *sorted(NOT_SHIPPED)])
    try:
        verifying.Config().use_elliptic_key_verifier(public_key=key).set_hashing_config(covered).verify(folder, file)
        signed = _names(data)
    except Exception as error:  # the library raises what its parsers and `cryptography` raise
        raise _refused(str(error)[:_MAX_SHOWN] or type(error).__name__) from None
    left_out = [each.path for each in files if each.path not in signed and each.path.split("/")[0] not in _NOT_LOADED]
    if left_out:
        raise _refused(f"it leaves out {shown(left_out[0])}")
    return "verified"


def _names(data: bytes) -> set[str]:
    """The names of the signed files in a signature that was verified."""
    payload = read_json(data)["dsseEnvelope"]["payload"]
    return {resource["name"] for resource in read_json(base64.b64decode(payload))["predicate"]["resources"]}


def _refused(problem: str) -> CortexError:
    hint = "get the skill from its publisher again, or compare the key with theirs"
    return CortexError("signature_invalid", f"{MODEL_SIGNATURE} is not valid: {problem}", hint=hint)
