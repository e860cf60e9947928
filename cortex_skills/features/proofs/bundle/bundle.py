"""The file format of a bundle; what the bundle proves is checked in `chain`.

Rules kept here:
- a bundle is JSON of exactly this schema, read strictly and bounded;
- it contains only public data: the assertion and its signature, the statements that the rules read, the files of the
  skill. It contains no opening, no key, and nothing else of the graph;
- the statement and its premises are canonical lines of N-Quads of one graph.
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

from cortex_graph.assertion_records.proofs import MAX_PREMISES
from cortex_skills.errors import CortexError
from cortex_skills.safe_io.schemas import first_error, reason_of
from cortex_skills.safe_io.strict_json import read_json
from cortex_skills.signatures.skill_files import SkillFile

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
        "assertion": {"type": "object", "description": "The credential that signs it."},
        "credentials": {**_OBJECTS, "description": "The credentials that sign the commitments."},
        "proofs": {**_OBJECTS, "description": "The zero-knowledge proofs for the assertion."},
        "logic": {"type": "object", "description": "The Proof of Logic of the assertion."},
        "premises": {
            "type": "array",
            "items": _LINE,
            "maxItems": MAX_PREMISES,
            "description": "The statements that it depends on.",
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
    """A bundle of the right form; nothing else was checked.

    Attributes:
        statement: the assertion.
        premises: the statements that its rules read, of the statement's graph.
        assertion: the credential of the assertion.
        credentials: the credentials of the commitments.
        proofs: the zero-knowledge proofs.
        logic: the Proof of Logic.
        rules: texts of rule sets.
        files: the content of each file of the skill by its path.
        signature: the content of the skill's signature file.
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
        """The skill's files, as a signature lists them."""
        return sorted(SkillFile(path, len(data), sha256(data).hexdigest()) for path, data in self.files.items())


def is_bundle(content: str) -> bool:
    """Whether a document declares that it is a bundle."""
    try:
        document = read_json(content)
    except ValueError:
        return False
    return isinstance(document, dict) and document.get("type") == TYPE


def read_bundle(content: str) -> Bundle:
    """Read a bundle.

    Raises:
        CortexError: `proof_failed`: the text is not a bundle.
    """
    if len(content) > MAX_BYTES:
        raise _not_a_bundle(f"it has more than {MAX_BYTES >> 20} MiB")
    try:
        document = read_json(content)
        rfc8785.dumps(document)  # refuses what readers interpret differently: a number beyond 2^53, a lone surrogate
    except (ValueError, RecursionError) as error:
        raise _not_a_bundle(str(error)[:200]) from None
    problem = first_error(_schema(), document)
    if problem is not None:
        place = "/".join(map(str, problem.instance_path)) or "the document"
        raise _not_a_bundle(f"{place[:100]}: {reason_of(problem)}")
    statement, *premises = (_quad(line) for line in (document["statement"], *document["premises"]))
    if not isinstance(statement.subject, NamedNode):
        raise _not_a_bundle("the subject of the statement is not an IRI")
    if any(premise.graph_name != statement.graph_name for premise in premises):
        raise _not_a_bundle("a premise is of another graph than the statement")
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
    raise _not_a_bundle("a statement is not one canonical line of N-Quads")


def _bytes(path: str, text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise _not_a_bundle(f"the file {path[:100]!r} is not base64") from None


@lru_cache
def _schema() -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator(SCHEMA)


def _not_a_bundle(why: str) -> CortexError:
    return CortexError("proof_failed", f"this is not a bundle: {why}", hint="ask its sender for the file again")
