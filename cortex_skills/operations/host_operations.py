"""An installation whose folders were copied, moved or restored: what differs, and adopting it.

Rules kept here:
- they are the owner's: no token can make them;
- nothing is discarded: publishers, revoked keys and versions that were seen are used as they are in the folder, and the
  keys that a former owner revoked stay revoked. The journal of another host is continued, with its records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from typing_extensions import TypedDict

from cortex_skills.audit import journal_host
from cortex_skills.config import host_identity
from cortex_skills.config.host_identity import HostIdentity
from cortex_skills.errors import CortexError
from cortex_skills.operations.caller import OWNER
from cortex_skills.operations.operation import ObjectState, OperationCall, operation
from cortex_skills.signatures.trust_file import trust_of

SUBJECTS: Mapping[Literal["identity", "trust", "sharedTrust", "journal"], str] = {
    "identity": "the id of this host",
    "trust": "the trust store",
    "sharedTrust": "the list of the owner",
    "journal": "the journal of the audit",
}
"""What may differ, and how it is called."""


class HostDifferences(TypedDict):
    """The id of a host, and what was copied, moved or restored there; empty for what is in order."""

    host: str
    identity: str
    trust: str
    sharedTrust: str
    journal: str


@dataclass(frozen=True, slots=True)
class ThisHost:
    """No arguments."""


@operation("host.differences", effect="reads", permission=OWNER)
def differences(call: OperationCall, given: ThisHost) -> HostDifferences:  # noqa: ARG001 - there is none
    """Return what shows that the folders of this installation were copied, moved or restored."""
    return _differences(call)


def state_of_host(call: OperationCall) -> ObjectState | None:
    """The host as it is named, and what differs."""
    found = _differences(call)
    return call.about, "; ".join(filter(None, (found[each] for each in SUBJECTS))) or "in order"


@dataclass(frozen=True, slots=True)
class AdoptHost:
    """The id of this host, as `host.differences` has it."""

    host: str


@operation("host.adopt", effect="changes", permission=OWNER, object_="host", state=state_of_host)
def adopt(call: OperationCall, given: AdoptHost) -> HostDifferences:
    """Adopt this installation as it is: a copy gets another id, and its trust store is used; return what it is then."""
    found = _differences(call)
    if found["host"] != given.host:
        hint = "see what differs, and name the id that is shown"
        raise CortexError("state_conflict", f"this host has the id {found['host']}", hint=hint)
    if found["trust"]:
        trust_of(call.host.config).adopt()
    if found["sharedTrust"]:
        trust_of(call.host.config).remove_unusable_list()
    if found["identity"]:
        host_identity.adopt()
    if found["journal"]:
        journal_host.adopt(Path(call.host.config.audit.folder), HostIdentity.of(call.host.config))
    adopted = _differences(call)
    call.facts["id"] = adopted["host"]
    return adopted


def _differences(call: OperationCall) -> HostDifferences:
    config = call.host.config
    moved = trust_of(config).moved()
    other = journal_host.other_host(Path(config.audit.folder), HostIdentity.of(config)) if config.audit.folder else ""
    return {
        "host": HostIdentity.of(config).id,
        "identity": host_identity.copied(),
        "trust": "" if moved is None else moved.words(),
        "sharedTrust": trust_of(config).unusable_list(),
        "journal": f"{config.audit.folder} is that of {other}" if other else "",
    }
