r"""The lines of a journal: one record each, chained by hashes. No input or output.

    line = {"timestamp", "level", "category", "event", "actor", "details", "seq", "prevHash", "hash"}
    hash = SHA-256("cortex-audit/1\0" + the bytes of the line before `,"hash":`)

Rules kept here:
- records are numbered from 1 without gaps over all files of a journal, and each holds the hash of the one before, so
  that a changed, missing, inserted or reordered record is found;
- the hash is over bytes, so that it is checked without a canonical form of JSON; all texts are ASCII with escapes, so
  that a line has no effect on a terminal;
- a signed head, `audit.head`, holds the Ed25519 signature (RFC 8032, §5.1) of "cortex-audit-head/1\0" + the 32 bytes of
  its `prevHash`: of everything before it;
- a line that is not a record is None, and nothing is raised.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

import orjson

from cortex_skills.audit.call_records import ACTION, DEFAULT_AGENT, OPERATOR, STARTED, AuditRecord, Removed
from cortex_skills.config.host_identity import HostIdentity

BEGINNING = b'{"timestamp":"'  # of each line
FIRST = "0" * 64  # the hash before the first record
HEAD = "audit.head"
CUT = "audit.cut"
REPAIRED = "audit.repaired"
GAP = "audit.gap"

_ENCODER = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False)
_DOMAIN = b"cortex-audit/1\0"
_SIGNED_DOMAIN = b"cortex-audit-head/1\0"
_LINE = re.compile(
    rb'(\{.*,"seq":([1-9][0-9]{0,18}),"prevHash":"([0-9a-f]{64})"),"hash":"([0-9a-f]{64})"\}\n', re.DOTALL
)
_OF_AUDIT = b'"event":"audit.'


@dataclass(frozen=True, slots=True)
class ChainedLine:
    """A line with its place in the chain; its hash is not checked.

    Attributes:
        seq: its number, from 1.
        prev_hash: the hash of the record before.
        hash: the hash that it states.
        body: what the hash is over.
    """

    seq: int
    prev_hash: str
    hash: str
    body: bytes

    @property
    def is_whole(self) -> bool:
        """Whether it has its hash."""
        return hash_of(self.body) == self.hash

    @property
    def is_of_audit(self) -> bool:
        """Whether it may be a record of the audit about itself: a signed head, a cut, a repair."""
        return _OF_AUDIT in self.body

    def document(self) -> dict[str, Any] | None:
        """The record as JSON; None if it is not JSON."""
        try:
            document = json.loads(self.body + b"}")
        except (ValueError, RecursionError):
            return None
        return document if isinstance(document, dict) else None


def body_of(document: Mapping[str, Any]) -> bytes:
    """A record without its place in the chain: the beginning of its line."""
    try:
        fast = orjson.dumps(document)
    except TypeError:  # an unpaired surrogate, a number of more than 64 bits
        fast = b"\xff"
    return (fast if fast.isascii() else _ENCODER.encode(document).encode())[:-1]


def line_of(body: bytes, seq: int, prev_hash: str) -> tuple[bytes, str]:
    """The line of a record and its hash."""
    chained = b'%s,"seq":%d,"prevHash":"%s"' % (body, seq, prev_hash.encode())
    digest = hash_of(chained)
    return b'%s,"hash":"%s"}\n' % (chained, digest.encode()), digest


def hash_of(body: bytes) -> str:
    """The hash of a record, in hexadecimal."""
    return sha256(_DOMAIN + body).hexdigest()


def read_line(line: bytes) -> ChainedLine | None:
    """The record in a line with its line end; None if it is none."""
    found = _LINE.fullmatch(line)
    return None if found is None else ChainedLine(int(found[2]), found[3].decode(), found[4].decode(), found[1])


def signed_message(prev_hash: str) -> bytes:
    """What a signed head signs."""
    return _SIGNED_DOMAIN + bytes.fromhex(prev_hash)


def document_of(entry: AuditRecord, namespace: str, host: HostIdentity | None = None) -> dict[str, Any]:
    """A record as the document of a line: `details` has the nesting that readers of earlier systems know.

    Args:
        entry: the record.
        namespace: of the plugin.
        host: that writes it.
    """
    details: dict[str, Any] = {
        "action": entry.tool,
        "skillId": entry.skill,
        "agent": entry.agent,
        "namespace": namespace,
        "inputs": entry.inputs,
        "outputs": entry.outputs,
        "success": entry.outcome == "ok",
        "code": None if entry.outcome == "ok" else entry.outcome,
        "durationMs": entry.milliseconds,
        "approvalRequired": entry.approval_required,
        "approvedBy": entry.approved_by,
        "trustLevel": entry.trust_level,
        "stripped": entry.stripped,
    }
    if host is not None:
        details["host"] = {"id": host.id, "name": host.name}
    if entry.event == STARTED:
        del details["success"]  # which is not known yet
    if entry.removed:
        details["removed"] = [asdict(removed) for removed in entry.removed]
    if entry.data is not None:
        details["data"] = entry.data
    if entry.session is not None:
        details["session"] = entry.session
    if entry.changes:
        details["changes"] = list(entry.changes)
    return {
        "timestamp": entry.time,
        "level": entry.level,
        "category": entry.category,
        "event": entry.event,
        "actor": entry.actor or _actor(entry.category, entry.agent),
        "details": details,
    }


def entry_of(document: Mapping[str, Any]) -> AuditRecord | None:
    """The record of a document; None if the document is not one of `document_of`."""
    try:
        details = document["details"]
        agent, category = _text(details["agent"]), _text(document["category"])
        return AuditRecord(
            time=_text(document["timestamp"]),
            tool=_text(details["action"]),
            skill=_optional(details["skillId"]),
            agent=agent,
            outcome=_optional(details["code"]) or "ok",
            milliseconds=float(details["durationMs"]),
            stripped=int(details["stripped"]),
            removed=tuple(
                Removed(_text(r["reason"]), _text(r["path"]), int(r["count"])) for r in details.get("removed", ())
            ),
            event=_text(document["event"]),
            category=category,
            actor=None if document["actor"] in (agent, _actor(category, agent)) else _text(document["actor"]),
            inputs=details["inputs"],
            outputs=details["outputs"],
            data=details.get("data"),
            approval_required=bool(details["approvalRequired"]),
            approved_by=_optional(details["approvedBy"]),
            trust_level=_optional(details["trustLevel"]),
            host=_host(details.get("host")),
            session=_optional(details.get("session")),
            changes=tuple(map(_change, details.get("changes", ()))),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return None


def _actor(category: str, agent: str) -> str:
    """Who acted, where no person did."""
    return OPERATOR if category == ACTION and agent == DEFAULT_AGENT else agent


def _host(given: Any) -> HostIdentity | None:
    return None if given is None else HostIdentity(_text(given["id"]), _text(given["name"]))


def _change(given: Mapping[str, Any]) -> dict[str, Any]:
    _text(given["event"]), _optional(given["code"])
    return dict(given)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _optional(value: object) -> str | None:
    return None if value is None else _text(value)
