"""An opening as an issuer hands it to the holder: a small JSON document, which is a secret of the two.

Rules kept here:
- it is written into a file of its own, 0600, and never onto a terminal or into a graph;
- what is read must open the commitment that it names.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.private_files import write_private
from cortex_skills.proofs.zk.generators import SUITE
from cortex_skills.proofs.zk.group import BYTES, NotCanonicalError, from_text, read_scalar, scalar_bytes, to_text
from cortex_skills.proofs.zk.pedersen import Opening
from cortex_skills.proofs.zk.statement import exact_keys

TYPE = "CortexOpening"
VERSION = 1

_KEYS = ("type", "version", "suite", "commitment", "value", "blinding")
_MAX_BYTES = 64 << 10


def hand_out(opening: Opening, file: Path) -> None:
    """Write an opening into a new file.

    Raises:
        CortexError: `invalid_arguments`: there is something of that name, or it cannot be written.

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
        raise CortexError("invalid_arguments", f"there is a file {file} already", hint="name another")
    try:
        write_private(file, json.dumps(document, indent=1).encode() + b"\n")
    except OSError as error:
        raise CortexError("invalid_arguments", f"{file} cannot be written: {error.strerror}") from error


def take_in(file: Path) -> Opening:
    """The opening in a file that was handed out.

    Raises:
        CortexError: `invalid_arguments`: there is none in it, or it does not open its commitment.

    """
    try:
        with file.open("rb") as source:
            return read_opening(json.loads(source.read(_MAX_BYTES)))
    except OSError as error:
        raise CortexError("invalid_arguments", f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        told = str(error) if isinstance(error, NotCanonicalError) else "it is no JSON"
        raise CortexError(
            "invalid_arguments", f"{file} holds no opening: {told}", hint="ask the issuer for the file again"
        ) from None


def read_opening(document: Any) -> Opening:
    """The opening that a document holds.

    Raises:
        NotCanonicalError: it holds none; the message repeats nothing of it.

    """
    read = exact_keys(document, _KEYS, "the opening")
    for key, expected in (("type", TYPE), ("version", VERSION), ("suite", SUITE)):
        if read[key] != expected:
            raise NotCanonicalError(f"the {key} of the opening is not {expected}")
    opening = Opening(read["value"], read_scalar(from_text(read["blinding"], BYTES)))
    if opening.commitment != read["commitment"]:
        raise NotCanonicalError("the opening does not open the commitment that it names")
    return opening
