"""The file in which an issuer gives an opening to its holder: a small JSON document, a secret of the two.

Rules kept here:
- it is written to a new file with mode 0600, and never to a terminal or a graph;
- an imported opening must open the commitment that it names.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.zk.generators import SUITE
from cortex_skills.features.proofs.zk.group import (
    BYTES,
    NotCanonicalError,
    from_text,
    read_scalar,
    scalar_bytes,
    to_text,
)
from cortex_skills.features.proofs.zk.pedersen import Opening
from cortex_skills.features.proofs.zk.statement import exact_keys
from cortex_skills.safe_io.private_files import write_private

TYPE = "CortexOpening"
VERSION = 1

_KEYS = ("type", "version", "suite", "commitment", "value", "blinding")
_MAX_BYTES = 64 << 10


def export_opening(opening: Opening, file: Path) -> None:
    """Write an opening to a new file.

    Raises:
        CortexError: `invalid_arguments`: the file exists, or cannot be written.
    """
    document = {
        "type": TYPE,
        "version": VERSION,
        "suite": SUITE,
        "commitment": opening.commitment,
        "value": opening.value,
        "blinding": to_text(scalar_bytes(opening.blinding)),
    }
    if file.exists():
        raise CortexError("invalid_arguments", f"the file {file} exists", hint="give another name")
    try:
        write_private(file, json.dumps(document, indent=1).encode() + b"\n")
    except OSError as error:
        raise CortexError("invalid_arguments", f"{file} cannot be written: {error.strerror}") from error


def import_opening(file: Path) -> Opening:
    """Read the opening in a file.

    Raises:
        CortexError: `invalid_arguments`: the file has no opening, or it does not open its commitment.
    """
    try:
        with file.open("rb") as source:
            return read_opening(json.loads(source.read(_MAX_BYTES)))
    except OSError as error:
        raise CortexError("invalid_arguments", f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, NotCanonicalError) else "it is not JSON"
        raise CortexError(
            "invalid_arguments", f"{file} has no opening: {reason}", hint="ask the issuer for the file again"
        ) from None


def read_opening(document: Any) -> Opening:
    """Read the opening in a document."""
    read = exact_keys(document, _KEYS, "the opening")
    for key, expected in (("type", TYPE), ("version", VERSION), ("suite", SUITE)):
        if read[key] != expected:
            raise NotCanonicalError(f"the {key} of the opening is not {expected}")
    opening = Opening(read["value"], read_scalar(from_text(read["blinding"], BYTES)))
    if opening.commitment != read["commitment"]:
        raise NotCanonicalError("the opening does not open the commitment that it names")
    return opening
