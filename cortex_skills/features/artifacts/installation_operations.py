"""Changes of this installation that concern artifacts: publishers of another system, and indexes that were accepted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from cortex_graph.checks.datetimes import date_time
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_settings import ActionSettings
from cortex_skills.features.artifacts.index.fetched_index import FetchedIndex
from cortex_skills.features.artifacts.index.fetching import fetch, index_address
from cortex_skills.features.artifacts.index.seen_indexes import SeenIndexes
from cortex_skills.features.artifacts.index.snapshot_check import SeenIndex, key_trust
from cortex_skills.features.artifacts.origin_store import read_origin_store, with_imported
from cortex_skills.operations.caller import OWNER
from cortex_skills.operations.operation import AS_IS, ObjectState, OperationCall, operation
from cortex_skills.operations.trust_operations import change_trust, trusted
from cortex_skills.signatures.named_keys import id_of


@dataclass(frozen=True, slots=True)
class ImportPublishers:
    """The trust store of Palyra, as JSON."""

    data: Annotated[bytes, AS_IS]

    @property
    def names(self) -> str:
        """Those of its publishers, which are not known before it was read."""
        return ""


def publishers_of(call: OperationCall) -> ObjectState | None:
    """Publishers, and the keys of those that are trusted."""
    known = trusted(call).publishers
    found = [known[name] for name in call.about.split() if name in known]
    states = [f"{each.name} {each.how}, {', '.join(map(id_of, each.keys))}" for each in found]
    return (call.about, "; ".join(states)) if found else None


@operation("trust.import", effect="changes", permission=OWNER, object_="names", state=publishers_of)
def import_publishers(call: OperationCall, given: ImportPublishers) -> list[str]:
    """Trust the publishers of another trust store: all of them, or none if one is refused."""
    publishers = read_origin_store(given.data, date_time(datetime.now(UTC)))
    names = [publisher.name for publisher in publishers]
    call.about = " ".join(names)
    call.before = publishers_of(call)
    change_trust(call, lambda trust: with_imported(trust, publishers))
    return names


def index_of(call: OperationCall) -> ObjectState | None:
    """The address of an index, and the snapshot of it that was accepted."""
    seen = SeenIndexes.of(call.host.config).all().get(_address(call.about))
    return None if seen is None else (seen.url, f"snapshot {seen.snapshot}, signed with {id_of(seen.key)}")


@dataclass(frozen=True, slots=True)
class ListIndexes:
    """No arguments."""


@operation("index.list", effect="reads", permission=OWNER)
def list_indexes(call: OperationCall, given: ListIndexes) -> list[SeenIndex]:  # noqa: ARG001 - there is none
    """List the indexes that were accepted here, sorted by address."""
    return [seen for _, seen in sorted(SeenIndexes.of(call.host.config).all().items())]


@dataclass(frozen=True, slots=True)
class OneIndex:
    """An index, by its address."""

    url: str


@operation("index.forget", effect="changes", permission=OWNER, object_="url", state=index_of)
def forget_index(call: OperationCall, given: OneIndex) -> str:
    """Forget the key and the snapshot of an index; the address that is forgotten."""
    seen, address = SeenIndexes.of(call.host.config), _address(given.url)
    if address not in seen.all():
        hint = "`cortex-skills index list` lists the addresses"
        raise CortexError("invalid_arguments", f"no index was accepted from {address}", hint=hint)
    seen.change(address, lambda _: None)
    return address


@dataclass(frozen=True, slots=True)
class FetchIndex:
    """The address of an index, and its key, as its owner states it."""

    url: str
    key: str | None = None


@operation("index.fetch", effect="changes", permission=OWNER, object_="url", state=index_of)
def fetch_index(call: OperationCall, given: FetchIndex) -> FetchedIndex:
    """Fetch an index, check it, and remember its snapshot and its key."""
    config = call.host.config
    return fetch(
        given.url,
        SeenIndexes.of(config),
        trusted=key_trust(trusted(call), given.key),
        first_use=config.verification.trust_on_first_use,
        allow_loopback=config.section(ActionSettings).allow_loopback,
        now=datetime.now(UTC),
    )


def _address(url: str) -> str:
    return index_address(url, allow_loopback=True)
