"""What a person looks at before an artifact is installed: its verification, its audit, and what it asks for.

Rules kept here:
- the verification, the audit and the decision about grants are those of the installation; nothing is changed;
- a grant that the version before was asked for is not open: what became of it is stated; a new one is open;
- the indexes that a holder of `approve` may install from are those that the owner has accepted: no other address is
  asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_settings import ActionSettings
from cortex_skills.features.artifacts.artifact_operations import check_is_no_agent
from cortex_skills.features.artifacts.index.fetched_index import FetchedIndex
from cortex_skills.features.artifacts.index.fetching import download, fetch
from cortex_skills.features.artifacts.index.index_entry import IndexEntry
from cortex_skills.features.artifacts.index.seen_indexes import SeenIndexes
from cortex_skills.features.artifacts.index.snapshot_check import SeenIndex, key_trust
from cortex_skills.features.artifacts.installation_operations import index_of
from cortex_skills.features.artifacts.installed import InstalledArtifact, installed_in
from cortex_skills.features.artifacts.installed.artifact_grants import NEVER_HERE, Grant, covers
from cortex_skills.features.artifacts.installed.grant_decisions import GrantAnswers
from cortex_skills.features.artifacts.installed.installation import (
    InstallOptions,
    PreparedInstall,
    prepare_verified,
    verified_for,
)
from cortex_skills.features.artifacts.package import VerificationReport
from cortex_skills.operations.operation import AS_IS, OperationCall, operation
from cortex_skills.operations.trust_operations import trusted

Becomes = Literal["new", "granted", "denied", "never", "gone"]


@dataclass(frozen=True, slots=True)
class AskedGrant:
    """A grant, and what becomes of it.

    Attributes:
        grant: which one.
        becomes: `new`: it is asked for; `granted` or `denied`, as the version before; `never`: this host never allows
            it; `gone`: the version before was granted it, and this one does not request it.
        remarks: `wildcard_risk`, `unused`.
    """

    grant: Grant
    becomes: Becomes
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExamineArtifact:
    """The bytes of an artifact, and how it would be installed."""

    data: Annotated[bytes, AS_IS]
    options: Annotated[InstallOptions, AS_IS]


@dataclass(frozen=True, slots=True)
class ExaminedArtifact:
    """What was found.

    Attributes:
        report: of the verification.
        prepared: what would be installed; None for an artifact that is refused.
        error: why it is refused; None for one that is not.
        grants: what becomes of each, the new ones first.
    """

    report: VerificationReport
    prepared: PreparedInstall | None
    error: CortexError | None
    grants: tuple[AskedGrant, ...] = ()

    @property
    def before(self) -> InstalledArtifact | None:
        """The version whose grants it takes over."""
        return None if self.prepared is None else self.prepared.before

    def document(self) -> dict[str, Any]:
        """The answer as JSON."""
        prepared, manifest = self.prepared, self.report.manifest
        return {
            "skillId": manifest.skill_id if manifest is not None else None,
            "version": manifest.version if manifest is not None else None,
            "publisher": manifest.publisher if manifest is not None else None,
            "verification": self.report.to_json(),
            "checks": None if prepared is None else [each.to_json() for each in prepared.audit.checks],
            "findings": None if prepared is None else list(prepared.audit.findings),
            "before": None if self.before is None else self.before.key.version,
            "grants": [
                {"grant": str(each.grant), "becomes": each.becomes, "remarks": list(each.remarks)}
                for each in self.grants
            ],
            "error": None if self.error is None else {"code": self.error.code, "message": self.error.message},
        }


@operation("artifacts.examine", effect="reads", permission="approve")
def examine(call: OperationCall, given: ExamineArtifact) -> ExaminedArtifact:
    """Verify and audit an artifact as an installation would, and state what it asks for that was not asked before."""
    check_is_no_agent(call)
    installed = call.part(installed_in)
    report = verified_for(installed, given.data, given.options)
    if report.error is not None:
        return ExaminedArtifact(report, None, report.error)
    try:
        prepared = prepare_verified(installed, given.data, given.options, report)
    except CortexError as error:
        return ExaminedArtifact(report, None, error)
    return ExaminedArtifact(report, prepared, None, asked_grants(prepared))


def asked_grants(prepared: PreparedInstall) -> tuple[AskedGrant, ...]:
    """What becomes of each grant without further answers, the new ones first."""
    decision, used = prepared.decide(GrantAnswers()), prepared.audit.used
    found = []
    for grant in sorted(prepared.wanted):
        becomes: Becomes = "granted"
        if grant.kind in NEVER_HERE:
            becomes = "never"
        elif grant in decision.open:
            becomes = "new"
        elif grant in decision.denied:
            becomes = "denied"
        remarks = ("wildcard_risk",) * ("*" in grant.value)
        remarks += ("unused",) * (used is not None and grant.kind not in used)
        found.append(AskedGrant(grant, becomes, remarks))
    if prepared.before is not None:
        granted = sorted(prepared.before.grants.grants())
        gone = [each for each in granted if not any(covers(wide, each) for wide in prepared.wanted)]
        found += [AskedGrant(each, "gone") for each in gone]
    order = ("new", "never", "denied", "granted", "gone")
    return tuple(sorted(found, key=lambda each: (order.index(each.becomes), each.grant)))


@dataclass(frozen=True, slots=True)
class ListAccepted:
    """No arguments."""


@operation("artifacts.indexes", effect="reads", permission="approve")
def accepted_indexes(call: OperationCall, given: ListAccepted) -> list[SeenIndex]:  # noqa: ARG001 - there is none
    """List the indexes that the owner has accepted, from which artifacts can be installed."""
    return [seen for _, seen in sorted(SeenIndexes.of(call.host.config).all().items())]


@dataclass(frozen=True, slots=True)
class AcceptedIndex:
    """An index that the owner has accepted, by its address."""

    url: Annotated[str, Field(min_length=1, max_length=4096)]


@operation("artifacts.offers", effect="changes", permission="approve", object_="url", state=index_of)
def offers(call: OperationCall, given: AcceptedIndex) -> FetchedIndex:
    """Fetch an index that the owner has accepted, and check that it is no older one; its snapshot is remembered."""
    check_is_no_agent(call)
    return _fetched(call, given.url)


@dataclass(frozen=True, slots=True)
class ArtifactOfIndex:
    """An artifact of an index that the owner has accepted; in its newest version if none is named."""

    url: Annotated[str, Field(min_length=1, max_length=4096)]
    id: Annotated[str, Field(min_length=1, max_length=256)]
    version: Annotated[str, Field(min_length=5, max_length=256)] | None = None


@dataclass(frozen=True, slots=True)
class DownloadedArtifact:
    """The bytes of an artifact, its entry, and the address of the index. They are not verified."""

    data: Annotated[bytes, AS_IS]
    entry: IndexEntry
    url: str


@operation("artifacts.download", effect="changes", permission="approve", object_="url", state=index_of)
def download_artifact(call: OperationCall, given: ArtifactOfIndex) -> DownloadedArtifact:
    """Download an artifact of an index that the owner has accepted; it is neither verified nor installed."""
    check_is_no_agent(call)
    index = _fetched(call, given.url)
    entry = index.find(given.id, given.version)
    call.facts |= {"skillId": entry.skill_id, "version": entry.version, "fileSha256": entry.artifact_sha256}
    return DownloadedArtifact(download(index, entry, allow_loopback=_loopback(call)), entry, index.url)


def _loopback(call: OperationCall) -> bool:
    return call.host.config.section(ActionSettings).allow_loopback


def _fetched(call: OperationCall, url: str) -> FetchedIndex:
    """An index that was accepted before.

    Raises:
        CortexError: `permission_denied`: it was not; or as `fetch`.
    """
    seen = SeenIndexes.of(call.host.config)
    if url not in seen.all():
        hint = "the owner accepts one with `cortex-skills index verify URL --index-key KEY`"
        raise CortexError("permission_denied", "the owner has not accepted this index", hint=hint)
    return fetch(url, seen, trusted=key_trust(trusted(call)), allow_loopback=_loopback(call), now=datetime.now(UTC))
