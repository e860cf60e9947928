"""Detached signatures of OpenSSF model signing, `skill.oms.sig` in a skill's folder, verified with public keys.

Rules kept here:
- the library does it (the extra `model-signing`), offline, with an elliptic-curve key that the user gives, never with
  an identity provider;
- all files are covered but `skill.oms.sig`, `SKILL.sig` and what is never loaded (`NOT_SHIPPED`, the settings of git).
  The library accepts a signature that states other files to ignore, so the signed names are compared with the folder;
- with keys, a signature that is there is verified by one of them or is an error; without keys it is not evaluated;
- the library is slow to import: it is imported only for a signature that is there, with keys;
- it says nothing of versions, and a valid one makes no publisher trusted: `SKILL.sig` does.
"""

from __future__ import annotations

import base64
import importlib
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from cortex_skills.config.extras import check_extra
from cortex_skills.errors import CortexError
from cortex_skills.safe_io.outside_file import NOT_SHIPPED, OutsideFileError, read_outside
from cortex_skills.safe_io.schemas import shown
from cortex_skills.safe_io.strict_json import read_json
from cortex_skills.signatures.skill_files import files_of
from cortex_skills.skill_folder.snapshot import SIGNATURE

MODEL_SIGNATURE = "skill.oms.sig"

ModelSignature = Literal["none", "not_evaluated", "verified"]

MODEL_MESSAGES: Mapping[ModelSignature, str] = {
    "none": "",
    "not_evaluated": f"{MODEL_SIGNATURE} is not checked: verification.modelKeys names no key",
    "verified": f"{MODEL_SIGNATURE} is verified",
}
REFUSED_HINT = "get the skill from its publisher again, or compare the key with theirs (verification.modelKeys)"

_NOT_LOADED = frozenset({MODEL_SIGNATURE, ".gitattributes", ".github", ".gitignore"})
_MAX_BYTES = 4 << 20
_MAX_SHOWN = 500
_MAX_KEYS = 100


def check_model_signature(folder: Path, keys: Sequence[str | Path]) -> ModelSignature:
    """Verify the `skill.oms.sig` of a skill's folder, if it has one.

    Args:
        folder: of the skill.
        keys: files with a public key, PEM (P-256, P-384 or P-521), or folders of such files (`*.pem`); one suffices.

    Raises:
        CortexError: `signature_invalid`: it is not a signature of these files by this key; `config_invalid`: the extra
            `model-signing` is not installed, or a key cannot be read.
    """
    file = folder / MODEL_SIGNATURE
    if not file.exists() and not file.is_symlink():
        return "none"
    if not keys:
        return "not_evaluated"
    check_extra("model-signing", MODEL_SIGNATURE)
    files = files_of(folder)  # refuses what is not a regular file, and bounds the size, before the library reads
    try:
        data = read_outside(file, _MAX_BYTES)
    except OutsideFileError as error:
        raise _refused(f"it {error}") from None
    files_of_keys = list(_files(keys))
    # Imported as values without types: the library is typed in part, and is not there without the extra.
    hashing, verifying = (importlib.import_module(f"model_signing.{name}") for name in ("hashing", "verifying"))
    covered = hashing.Config().set_ignored_paths(paths=[MODEL_SIGNATURE, SIGNATURE, *sorted(NOT_SHIPPED)])
    problem = ""
    for key in files_of_keys:
        try:
            verifier = verifying.Config().use_elliptic_key_verifier(public_key=key).set_hashing_config(covered)
            verifier.verify(folder, file)
            signed = _names(data)
            break
        except Exception as error:
            problem = str(error)[:_MAX_SHOWN] or type(error).__name__
    else:
        of = "" if len(files_of_keys) == 1 else f"none of {len(files_of_keys)} keys verifies it; with the last one: "
        raise _refused(f"{of}{problem}")
    left_out = [each.path for each in files if each.path not in signed and each.path.split("/")[0] not in _NOT_LOADED]
    if left_out:
        raise _refused(f"it leaves out {shown(left_out[0])}")
    return "verified"


def check_model_signature_in(files: Mapping[str, bytes], keys: Sequence[str | Path]) -> ModelSignature:
    """Verify the `skill.oms.sig` among the files of a skill by path; see `check_model_signature`."""
    if MODEL_SIGNATURE not in files:
        return "none"
    if not keys:
        return "not_evaluated"
    with TemporaryDirectory(prefix="cortex-skills-") as place:
        for path, data in files.items():
            file = Path(place, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        return check_model_signature(Path(place), keys)


def model_signature_result(result: ModelSignature | CortexError) -> dict[str, str]:
    """The result as a JSON object: its status, with `refused` for an error, and a message."""
    if isinstance(result, CortexError):
        return {"status": "refused", "message": result.message}
    return {"status": result, "message": MODEL_MESSAGES[result]}


def _files(keys: Sequence[str | Path]) -> Iterator[Path]:
    """The files of the keys, the folders among them opened."""
    hint = "give files with a public key (PEM), or a folder of them (*.pem), in verification.modelKeys"
    found = 0
    for given in keys:
        key = Path(given)
        files = sorted(key.glob("*.pem")) if key.is_dir() else [key]
        for file in files:
            try:
                read_outside(file, _MAX_BYTES)
            except OutsideFileError as error:
                raise CortexError("config_invalid", f"the key {shown(str(file))} {error}", hint=hint) from None
            found += 1
            if found > _MAX_KEYS:
                raise CortexError("config_invalid", f"more than {_MAX_KEYS} keys of model signing", hint=hint)
            yield file
    if not found:
        raise CortexError("config_invalid", "there is no key of model signing in the given folders", hint=hint)


def _names(data: bytes) -> set[str]:
    """The names of the signed files in a signature that was verified."""
    payload = read_json(data)["dsseEnvelope"]["payload"]
    return {resource["name"] for resource in read_json(base64.b64decode(payload))["predicate"]["resources"]}


def _refused(problem: str) -> CortexError:
    return CortexError("signature_invalid", f"{MODEL_SIGNATURE} is not valid: {problem}", hint=REFUSED_HINT)
