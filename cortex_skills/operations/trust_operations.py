"""Changes of what this installation trusts: publishers, their keys, and the newest versions that were seen.

Rules kept here:
- they are the owner's: no token can make them;
- a key is replaced in one step by a statement of the old key only: else the publisher is removed first;
- a revocation is final.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from typing_extensions import TypedDict

from cortex_graph.checks.datetimes import date_time
from cortex_skills.errors import CortexError
from cortex_skills.keys.folder import key_folder
from cortex_skills.operations.caller import OWNER
from cortex_skills.operations.operation import AS_IS, ObjectState, OperationCall, operation
from cortex_skills.safe_io.schemas import shown
from cortex_skills.signatures import DEVELOPER, Publisher, RevokedKey, Trust
from cortex_skills.signatures.key_rotation import KeyRotation, rotated
from cortex_skills.signatures.named_keys import id_of, read_key
from cortex_skills.signatures.trust import PUBLISHER_NAME
from cortex_skills.signatures.trust_file import trust_of

_MAX_REASON = 500


def trusted(call: OperationCall) -> Trust:
    """What is trusted now."""
    return trust_of(call.host.config).trust()


def change_trust(call: OperationCall, change: Callable[[Trust], Trust]) -> Trust:
    """Change what is trusted.

    Raises:
        CortexError: `config_invalid`; that of the change.
    """
    return trust_of(call.host.config).change(change)


def publisher_of(call: OperationCall) -> ObjectState | None:
    """A publisher, and its keys."""
    publisher = trusted(call).publishers.get(call.about)
    return None if publisher is None else (publisher.name, f"{publisher.how}, {', '.join(map(id_of, publisher.keys))}")


def seen_version_of(call: OperationCall) -> ObjectState | None:
    """A skill or an artifact, and the newest version of it that was seen."""
    seen = trusted(call).seen.get(call.about)
    return None if seen is None else (seen.skill, f"{seen.version} of {seen.publisher}")


def key_of(call: OperationCall) -> ObjectState | None:
    """A key by its id, and whether it is revoked."""
    trust = trusted(call)
    key = read_key(call.about, _known(trust))
    return id_of(key), "revoked" if key in trust.revoked else "not revoked"


def shared_list_of(call: OperationCall) -> ObjectState | None:
    """The list that the hosts of the store trust."""
    shared = call.host.fleet.file.shared()
    if shared is None:
        return None
    return (
        shared.graph,
        f"list {shared.number}: {len(shared.publishers)} publishers, {len(shared.revoked)} revoked keys",
    )


@dataclass(frozen=True, slots=True)
class ListTrust:
    """No arguments."""


@operation("trust.list", effect="reads", permission=OWNER)
def list_trust(call: OperationCall, given: ListTrust) -> dict[str, list[dict[str, Any]]]:  # noqa: ARG001 - none
    """List the trusted publishers, the revoked keys, and the newest version seen of each skill and artifact."""
    trust = trusted(call)
    publishers = sorted(trust.publishers.values(), key=lambda publisher: publisher.name)
    seen = sorted(trust.seen.values(), key=lambda skill: skill.skill)
    return {
        "publishers": [asdict(publisher) for publisher in publishers],
        "seen": [{"skill": s.skill, "publisher": s.publisher, "version": s.version, "signed": s.signed} for s in seen],
        "revoked": [asdict(key) for key in sorted(trust.revoked.values(), key=lambda key: key.key)],
    }


@dataclass(frozen=True, slots=True)
class AddPublisher:
    """A publisher and its key."""

    publisher: str
    key: str


@operation("trust.add", effect="changes", permission=OWNER, object_="publisher", state=publisher_of)
def add(call: OperationCall, given: AddPublisher) -> Publisher:
    """Trust a publisher with a key."""
    if not PUBLISHER_NAME.fullmatch(given.publisher) or given.publisher == DEVELOPER:
        hint = "1 to 256 lower-case letters, digits, . _ - and :, such as example.org"
        raise CortexError("invalid_arguments", f"{shown(given.publisher)} is not a name of a publisher", hint=hint)
    listed = Publisher(given.publisher, read_key(given.key), "listed", date_time(datetime.now(UTC)))
    change_trust(call, lambda trust: trust.with_publisher(listed))
    return listed


@dataclass(frozen=True, slots=True)
class OnePublisher:
    """A publisher."""

    publisher: str


@operation("trust.remove", effect="changes", permission=OWNER, object_="publisher", state=publisher_of)
def remove(call: OperationCall, given: OnePublisher) -> None:
    """Stop trusting a publisher, and forget the versions seen of its skills."""

    def without(trust: Trust) -> Trust:
        if given.publisher not in trust.publishers:
            hint = "`cortex-skills trust list` lists the trusted publishers"
            raise CortexError("invalid_arguments", f"{shown(given.publisher)} is not a trusted publisher", hint=hint)
        return trust.without_publisher(given.publisher)

    change_trust(call, without)


@dataclass(frozen=True, slots=True)
class OneSeen:
    """A skill or an artifact."""

    skill: str


@operation("trust.forget", effect="changes", permission=OWNER, object_="skill", state=seen_version_of)
def forget(call: OperationCall, given: OneSeen) -> None:
    """Forget the versions seen of a skill, so that an older one or another publisher is accepted."""

    def without(trust: Trust) -> Trust:
        if given.skill not in trust.seen:
            hint = "`cortex-skills trust list` lists the skills that were seen"
            raise CortexError("invalid_arguments", f"{shown(given.skill)} was never seen here", hint=hint)
        return trust.without_skill(given.skill)

    change_trust(call, without)


@dataclass(frozen=True, slots=True)
class RevokeKey:
    """A key, and why it is revoked."""

    key: str
    reason: str = ""


@operation("trust.revoke", effect="changes", permission=OWNER, object_="key", state=key_of)
def revoke(call: OperationCall, given: RevokeKey) -> RevokedKey:
    """Revoke a key: nothing that it signed is accepted any more."""
    if len(given.reason) > _MAX_REASON or not given.reason.isprintable():
        raise CortexError("invalid_arguments", f"the reason is not one line of at most {_MAX_REASON} characters")
    revoked = RevokedKey(read_key(given.key, _known(trusted(call))), given.reason, date_time(datetime.now(UTC)))
    change_trust(call, lambda trust: trust.with_revoked(revoked))
    return revoked


@dataclass(frozen=True, slots=True)
class RotateKey:
    """A publisher, and the statement of its old key."""

    publisher: str
    statement: Annotated[KeyRotation, AS_IS]


@operation("trust.rotate", effect="changes", permission=OWNER, object_="publisher", state=publisher_of)
def rotate(call: OperationCall, given: RotateKey) -> None:
    """Replace the key of a publisher by a new one, with a statement that is signed with the old key."""
    stated = given.statement
    if stated.publisher != given.publisher:
        raise CortexError(
            "invalid_arguments",
            f"the statement is about {stated.publisher}, not {shown(given.publisher)}",
            hint=f"name {stated.publisher}, if it is whom you mean",
        )
    change_trust(call, lambda trust: rotated(trust, stated, datetime.now(UTC)))


@dataclass(frozen=True, slots=True)
class ShareTrust:
    """The name of the owner's key."""

    key: str


class SharedList(TypedDict):
    """The list that the hosts of the store accept."""

    number: int
    publishers: list[str]
    revoked: list[str]


@operation("trust.share", effect="changes", permission=OWNER, object_="key", state=shared_list_of)
def share(call: OperationCall, given: ShareTrust) -> SharedList:
    """Write the listed publishers and revoked keys of this host to the store, for all hosts, signed by the owner."""
    shared = call.host.fleet.share(key_folder(call.host.config).open(given.key))
    return {"number": shared.number, "publishers": sorted(shared.publishers), "revoked": sorted(shared.revoked)}


def _known(trust: Trust) -> list[str]:
    return [key for publisher in trust.publishers.values() for key in (*publisher.keys, *publisher.former)]
