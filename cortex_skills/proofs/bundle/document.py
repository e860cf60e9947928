"""A bundle as a document: the form of the file, and nothing of what it is worth.

Rules kept here:
- it is JSON of exactly this form, read strictly and bounded; what is not of it is no bundle;
- it holds public things only: the assertion and what was signed, the statements that its rules looked at, the files of
  the skill. No opening, no key, nothing else of the graph;
- the statement and its premises are canonical lines of N-Quads, of one graph; files have names that stay in a folder.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import rfc8785
from pyoxigraph import NamedNode

from cortex_graph.proofs import MAX_PREMISES
from cortex_skills.errors import CortexError
from cortex_skills.schemas import first_error
from cortex_skills.signatures.files import SkillFile
from cortex_skills.strict_json import read_json

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator
    from pyoxigraph import Quad

TYPE = "CortexProofBundle"
VERSION = 1
MAX_BYTES = 4 << 20
MAX_PROOFS = 16
MAX_FILES = 200

_LINE: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 64 << 10}
_OBJECTS: dict[str, Any] = {"type": "array", "items": {"type": "object"}, "maxItems": MAX_PROOFS}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "type": {"const": TYPE},
        "version": {"const": VERSION},
        "statement": {**_LINE, "description": "The assertion: a canonical line of N-Quads."},
        "assertion": {"type": "object", "description": "The credential in which it is signed."},
        "credentials": {**_OBJECTS, "description": "Those of the issuers, who signed the commitments."},
        "proofs": {**_OBJECTS, "description": "The zero-knowledge proofs, made for the assertion."},
        "logic": {"type": "object", "description": "The Proof of Logic of the assertion."},
        "premises": {
            "type": "array",
            "items": _LINE,
            "maxItems": MAX_PREMISES,
            "description": "The statements that it rests on.",
        },
        "rules": {
            "type": "array",
            "items": {"type": "string", "maxLength": 64 << 10},
            "maxItems": 8,
            "description": "The texts of its rule sets that are not in the skill.",
        },
        "skill": {
            "type": "object",
            "properties": {
                "files": {
                    "type": "object",
                    "propertyNames": {"minLength": 1, "maxLength": 1024},
                    "additionalProperties": {"type": "string", "contentEncoding": "base64"},
                    "minProperties": 1,
                    "maxProperties": MAX_FILES,
                    "description": "Each file by its path, in base64.",
                },
                "signature": {"type": "string", "description": "The text of SKILL.sig."},
            },
            "required": ["files", "signature"],
            "additionalProperties": False,
        },
    },
    "required": [
        *("type", "version", "statement", "assertion", "credentials", "proofs", "logic", "premises", "rules", "skill")
    ],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle that was read: its form is right, and nothing else is known of it.

    Attributes:
        statement: the assertion.
        premises: what its rules looked at, as far as it is shown; of the statement's graph.
        assertion: the credential of the assertion.
        credentials: those of the issuers.
        proofs: the zero-knowledge proofs.
        logic: the Proof of Logic.
        rules: texts of rule sets.
        files: the content of each file of the skill by its path.
        signature: the skill's signature, as its file has it.

    """

    statement: Quad
    premises: tuple[Quad, ...]
    assertion: dict[str, Any]
    credentials: tuple[dict[str, Any], ...]
    proofs: tuple[dict[str, Any], ...]
    logic: dict[str, Any]
    rules: tuple[str, ...]
    files: Mapping[str, bytes]
    signature: bytes

    def skill_files(self) -> list[SkillFile]:
        """The skill's files, as a signature speaks of them."""
        return sorted(SkillFile(path, len(data), sha256(data).hexdigest()) for path, data in self.files.items())


def is_bundle(content: str) -> bool:
    """Whether a document says that it is a bundle."""
    try:
        document = read_json(content)
    except ValueError:
        return False
    return isinstance(document, dict) and document.get("type") == TYPE


def read_bundle(content: str) -> Bundle:
    """The bundle that a text holds.

    Raises:
        CortexError: `proof_failed`: it is none.

    """
    if len(content) > MAX_BYTES:
        raise _no_bundle(f"it has more than {MAX_BYTES >> 20} MiB")
    try:
        document = read_json(content)
        rfc8785.dumps(document)  # or it is not the same to every reader: a number beyond 2^53, half a character
    except (ValueError, RecursionError) as error:
        raise _no_bundle(str(error)[:200]) from None
    problem = first_error(_schema(), document)
    if problem is not None:
        place = "/".join(map(str, problem.instance_path)) or "the document"
        raise _no_bundle(f"{place[:100]}: {problem.message[:200]}")
    statement, *premises = (_quad(line) for line in (document["statement"], *document["premises"]))
    if not isinstance(statement.subject, NamedNode):
        raise _no_bundle("the statement is about nothing that has a name")
    if any(premise.graph_name != statement.graph_name for premise in premises):
        raise _no_bundle("a premise is of another graph than the statement")
    return Bundle(
        statement,
        tuple(premises),
        document["assertion"],
        tuple(document["credentials"]),
        tuple(document["proofs"]),
        document["logic"],
        tuple(document["rules"]),
        {path: _bytes(path, text) for path, text in document["skill"]["files"].items()},
        document["skill"]["signature"].encode(),
    )


def _quad(line: str) -> Quad:
    from pyoxigraph import RdfFormat, parse

    try:
        quads: list[Quad] = list(parse(line, RdfFormat.N_QUADS))
    except (SyntaxError, ValueError):
        quads = []
    for quad in quads[:1]:
        if len(quads) == 1 and f"{quad} ." == line and isinstance(quad.graph_name, NamedNode):
            return quad
    raise _no_bundle("a statement is not one canonical line of N-Quads")


def _bytes(path: str, text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise _no_bundle(f"the file {path[:100]!r} is not in base64") from None


@lru_cache
def _schema() -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator(SCHEMA)


def _no_bundle(why: str) -> CortexError:
    return CortexError("proof_failed", f"this is no bundle: {why}", hint="ask its sender for the file again")
