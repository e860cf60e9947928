"""An installation whose folders were copied, moved or restored: what differs, and adopting it.

Rules kept here:
- they are the owner's: no token can make them;
- nothing is discarded: publishers, revoked keys and versions that were seen are used as they are in the folder.
"""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import TypedDict

from cortex_skills.config import host_identity
from cortex_skills.config.host_identity import HostIdentity
from cortex_skills.errors import CortexError
from cortex_skills.operations.caller import OWNER
from cortex_skills.operations.operation import ObjectState, OperationCall, operation
from cortex_skills.signatures.trust_file import trust_of


class HostDifferences(TypedDict):
    """The id of a host, and what was copied or moved there; empty for what is in order."""

    host: str
    identity: str
    trust: str


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
    return call.about, "; ".join(filter(None, (found["identity"], found["trust"]))) or "in order"


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
    if found["identity"]:
        host_identity.adopt()
    adopted = _differences(call)
    call.facts["id"] = adopted["host"]
    return adopted


def _differences(call: OperationCall) -> HostDifferences:
    config = call.host.config
    moved = trust_of(config).moved()
    return {
        "host": HostIdentity.of(config).id,
        "identity": host_identity.copied(),
        "trust": "" if moved is None else moved.words(),
    }
