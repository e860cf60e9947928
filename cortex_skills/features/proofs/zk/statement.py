"""The statement that a zero-knowledge proof is bound to: a triple of the graph, a skill, a nonce and an expiry.

Rules kept here:
- namespace, triple, skill and version, the verifier's nonce and the expiry are all in the transcript, so a proof that
  is moved to another statement is not valid;
- the triple is its canonical N-Quads line (RDFC-1.0, §6), in the graph of its namespace; its hash is recomputed;
- documents are read strictly: unknown keys, other types and texts that are not canonical are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from cortex_skills.features.proofs.zk.group import NotCanonicalError
from cortex_skills.features.proofs.zk.transcript import frames

MAX_NONCE = 256  # bytes in UTF-8

_MAX_TRIPLE = 64 << 10
_MAX_WORD = 256
_LONGEST = (_MAX_WORD, _MAX_TRIPLE, _MAX_WORD, _MAX_WORD, MAX_NONCE, _MAX_WORD)
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_KEYS = ("namespace", "triple", "tripleHash", "skill", "skillVersion", "nonce", "expires")


@dataclass(frozen=True, slots=True)
class ZkStatement:
    """The statement of a proof.

    Args:
        namespace: the namespace of the triple.
        triple: the canonical N-Quads line, from the first `<` to the last ` .`, without the line feed.
        skill: the name of the acting skill.
        skill_version: its version; empty when it has none.
        nonce: a value that the verifier chose for this occasion; empty for none.
        expires: when the proof expires: `YYYY-MM-DDTHH:MM:SSZ`.

    Attributes:
        triple_hash: the SHA-256 of the line with its line feed, in hexadecimal: the triple's id.
        frames: the statement in the transcript.

    Raises:
        NotCanonicalError: a part is malformed.
    """

    namespace: str
    triple: str
    skill: str
    skill_version: str
    nonce: str
    expires: str
    triple_hash: str = field(init=False)
    frames: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        texts = (self.namespace, self.triple, self.skill, self.skill_version, self.nonce, self.expires)
        try:
            namespace, line, *words = parts = [str.encode(text) for text in texts]
        except (TypeError, UnicodeEncodeError):
            raise NotCanonicalError("a part of the statement is not Unicode text") from None
        if any(map(int.__gt__, map(len, parts), _LONGEST)):
            raise NotCanonicalError("a part of the statement is too long, such as its nonce")
        self.end()
        digest = sha256(line + b"\n").digest()
        object.__setattr__(self, "triple_hash", digest.hex())
        object.__setattr__(self, "frames", frames((namespace, digest, *words)))

    def end(self) -> datetime:
        """When the proof expires."""
        try:
            if _MOMENT.fullmatch(self.expires):
                return datetime.fromisoformat(self.expires)
        except ValueError:
            pass
        raise NotCanonicalError("the expiry of a statement is not a time such as 2030-01-31T12:00:00Z")

    def has_expired(self, now: datetime) -> bool:
        """Whether the proof has expired."""
        return now >= self.end()

    def to_json(self) -> dict[str, Any]:
        """The statement in a proof."""
        return {
            "namespace": self.namespace,
            "triple": self.triple,
            "tripleHash": self.triple_hash,
            "skill": self.skill,
            "skillVersion": self.skill_version,
            "nonce": self.nonce,
            "expires": self.expires,
        }


def read_statement(given: object) -> ZkStatement:
    """Read the statement of a proof."""
    read = exact_keys(given, _KEYS, "the statement")
    parts = (read[key] for key in ("namespace", "triple", "skill", "skillVersion", "nonce", "expires"))
    statement = ZkStatement(*parts)
    if statement.triple_hash != read["tripleHash"]:
        raise NotCanonicalError("the hash of the statement is not the hash of its triple")
    _check_line(statement.triple, statement.namespace)
    return statement


def moment_text(moment: datetime) -> str:
    """A time in the form of `expires`, in seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def exact_keys(given: object, keys: tuple[str, ...], what: str) -> dict[str, Any]:
    """Check that a value is an object with exactly these keys."""
    if not isinstance(given, dict) or len(given) != len(keys) or not all(key in given for key in keys):
        raise NotCanonicalError(f"{what} is not an object with exactly the keys {', '.join(keys)}")
    return given


def _check_line(line: str, namespace: str) -> None:
    """Check that a triple is one canonical line in the graph of the namespace."""
    from pyoxigraph import NamedNode, RdfFormat, parse

    try:
        quads = list(parse(line, RdfFormat.N_QUADS))
    except (SyntaxError, ValueError):
        quads = []
    if len(quads) != 1 or f"{quads[0]} ." != line:
        raise NotCanonicalError("the triple of the statement is not one canonical line of N-Quads")
    graph = quads[0].graph_name
    base = graph.value.removesuffix(namespace) if isinstance(graph, NamedNode) else ""
    if not namespace or base == graph.value or not base.endswith((":", "/", "#")):
        raise NotCanonicalError("the triple of the statement is not in the graph of its namespace")
