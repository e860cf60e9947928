"""What callers can do with installed artifacts, for every interface.

Rules kept here:
- everything needs the permission `approve`; an agent with it enables no quarantined version, and installs none: these
  are decisions of a person;
- a list leaves out quarantined versions unless it is asked for them, and states how many it leaves out;
- a record names the version, its publisher and the digest of its payload, by which it is followed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.artifact_settings import ArtifactSettings
from cortex_skills.features.artifacts.installed import InstalledArtifact, installed_in
from cortex_skills.features.artifacts.installed.artifact_grants import grant_differences
from cortex_skills.features.artifacts.installed.configured_values import ConfiguredValues
from cortex_skills.features.artifacts.installed.grant_decisions import GrantAnswers
from cortex_skills.features.artifacts.installed.installation import InstallOptions, PreparedInstall, finish, prepare
from cortex_skills.features.artifacts.installed.installed_artifact import MAX_REASON, Status
from cortex_skills.features.artifacts.installed.installed_artifacts import not_found
from cortex_skills.features.artifacts.installed.installed_audit import audit_installed, audit_of, check_files, verified
from cortex_skills.features.artifacts.installed.security_audit import SecurityAudit
from cortex_skills.features.artifacts.package import VerificationReport
from cortex_skills.operations.operation import AS_IS, ObjectState, OperationCall, operation
from cortex_skills.secrets import SecretStore

_Id = Annotated[str, Field(min_length=1, max_length=256, description="Of the artifact.")]
_Version = Annotated[str, Field(min_length=5, max_length=256, description="Which version.")]
_CHANGES = 20
_Reason = Annotated[str, Field(max_length=MAX_REASON, description="Why.")]


class InstalledVersion(TypedDict):
    """One installed version of an artifact."""

    skillId: str
    version: str
    payloadSha256: str
    publisher: str
    keyId: Annotated[str, Field(description="Of the publisher's key.")]
    fileSha256: str
    status: Annotated[Status, Field(description="On this host, where it is read. Only an active version runs.")]
    reason: Annotated[str, Field(description="Why it has this status; empty for none.")]
    requests: Annotated[list[str], Field(description="What its manifest requests, as kind=value.")]
    grants: Annotated[list[str], Field(description="What the user granted, as kind=value.")]
    installedAt: str
    current: Annotated[bool, Field(description="Whether it runs where no version is named.")]
    experimental: Annotated[bool, Field(description="Whether a builder made it.")]
    findings: Annotated[list[str], Field(description="What the last security audit found against it.")]
    accepted: Annotated[list[str], Field(description="The findings that a person accepted.")]
    trust: Annotated[str, Field(description="How its publisher was trusted.")]
    source: Annotated[str, Field(description="The address of the index that it came from; empty for a file.")]
    host: Annotated[
        str, Field(description="The name of the host that installed it; empty where an earlier version did.")
    ]
    hostId: str


class InstalledList(TypedDict):
    """What is installed, sorted by id."""

    artifacts: list[InstalledVersion]
    damaged: Annotated[list[str], Field(description="Artifacts whose record was changed in the store.")]
    count: Annotated[int, Field(ge=0, description="How many are listed.")]
    quarantined: Annotated[int, Field(ge=0, description="How many are left out because they are quarantined.")]


class InstalledOne(TypedDict):
    """All versions of one artifact."""

    skillId: str
    versions: list[InstalledVersion]


def versions_of(call: OperationCall) -> ObjectState | None:
    """The id of an artifact, and its versions with their status."""
    versions = call.part(installed_in).index.versions(call.about).versions
    if not versions:
        return None
    states = [f"{each.key.version} {each.status}{' (current)' if each.current else ''}" for each in versions]
    return call.about, ", ".join(states)


@dataclass(frozen=True, slots=True)
class ListArtifacts:
    """Which versions."""

    publisher: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    status: Status | None = None
    current_only: bool = False
    all: Annotated[bool, Field(description="Quarantined ones too.")] = False


@operation("artifacts.list", effect="reads", permission="approve")
def list_artifacts(call: OperationCall, given: ListArtifacts) -> InstalledList:
    """List the installed versions with their status on this host; quarantined ones if that or all are asked for."""
    installed = call.part(installed_in)
    listed = installed.index.everything()
    found = [
        each
        for artifact in listed.artifacts
        for each in map(installed.as_here, artifact.versions)
        if given.publisher in (None, each.publisher)
        and given.status in (None, each.status)
        and (each.current or not given.current_only)
    ]
    shown = [each for each in found if given.all or given.status or each.status != "quarantined"]
    return {
        "artifacts": [_wire(each) for each in shown],
        "damaged": list(listed.damaged),
        "count": len(shown),
        "quarantined": len(found) - len(shown),
    }


@dataclass(frozen=True, slots=True)
class OneArtifact:
    """An artifact."""

    id: _Id


@operation("artifacts.show", effect="reads", permission="approve")
def show_artifact(call: OperationCall, given: OneArtifact) -> InstalledOne:
    """Return all versions of one artifact."""
    installed = call.part(installed_in)
    versions = installed.index.versions(given.id).versions
    if not versions:
        raise not_found(given.id)
    return {"skillId": given.id, "versions": [_wire(installed.as_here(each)) for each in versions]}


@dataclass(frozen=True, slots=True)
class OptionalVersion:
    """A version; the current one, or all, if none is named."""

    id: _Id
    version: _Version | None = None


@dataclass(frozen=True, slots=True)
class DescribeVersion:
    """A version, the current or newest one if none is named; whether its security is audited, too."""

    id: _Id
    version: _Version | None = None
    audit: Annotated[bool, Field(description="Audit its security, too; nothing changes.")] = False


class ToolSummary(TypedDict):
    """A tool of an artifact."""

    id: str
    description: str


class ArtifactDocument(InstalledVersion):
    """A version with the verification of its file, and what a security audit finds, if one was asked for."""

    name: str | None
    tools: list[ToolSummary]
    config: Annotated[list[dict[str, Any]], Field(description="The values that it declares; not the redacted ones.")]
    differences: Annotated[list[dict[str, str]], Field(description="Between what is requested and what is granted.")]
    verification: Annotated[dict[str, Any] | None, Field(description="Null where the file cannot be read.")]
    checks: Annotated[list[dict[str, Any]] | None, Field(description="Of the audit.")]
    problems: Annotated[list[str], Field(description="Why the file cannot be read, or what the audit found.")]
    history: Annotated[list[dict[str, Any]], Field(description="The latest changes, the newest first.")]


@dataclass(frozen=True, slots=True)
class DescribedArtifact:
    """What is known of a version: the verification of its file, and its audit, or why its file cannot be read.

    `here` is the version with the status that holds on this host.
    """

    found: InstalledArtifact
    here: InstalledArtifact
    versions: tuple[InstalledArtifact, ...]
    history: list[dict[str, Any]]
    report: VerificationReport | None = None
    audit: SecurityAudit | None = None
    problem: str = ""
    config: list[dict[str, Any]] = field(default_factory=list)

    def document(self) -> ArtifactDocument:
        """The answer as JSON."""
        manifest = self.report.manifest if self.report is not None else None
        used = self.audit.used if self.audit is not None else None
        differences = grant_differences(self.found.requests.grants(), self.found.grants.grants(), used)
        failed = [each for each in self.audit.checks if each.status == "failed"] if self.audit is not None else []
        return {
            **_wire(self.here),
            "name": manifest.name if manifest is not None else None,
            "tools": [{"id": each.id, "description": each.description} for each in manifest.tools] if manifest else [],
            "config": self.config,
            "differences": [each.to_json() for each in differences],
            "verification": None if self.report is None else self.report.to_json(),
            "checks": None if self.audit is None else [each.to_json() for each in self.audit.checks],
            "problems": [*filter(None, [self.problem]), *(f"{each.id}: {each.message}" for each in failed)],
            "history": self.history,
        }


@operation("artifacts.describe", effect="reads", permission="approve")
def describe(call: OperationCall, given: DescribeVersion) -> DescribedArtifact:
    """Describe a version: what it requests and was granted, its tools, and whether its file is still valid.

    Nothing changes. An audit starts its modules, without host functions.
    """
    installed = call.part(installed_in)
    versions = installed.index.versions(given.id)
    found = versions.find(given.version)
    if found is None and given.version is None and versions.versions:
        found = versions.versions[-1]
    if found is None:
        raise not_found(given.id, given.version)
    here, history = installed.as_here(found), installed.index.history(given.id, _CHANGES)
    known = DescribedArtifact(found, here, versions.versions, history)
    try:
        if not given.audit:
            report = verified(installed, found)[1]
            return replace(known, report=report, config=_configured(call, report))
        audit = audit_of(installed, found)
        config = _configured(call, audit.report)
        return replace(known, audit=audit, report=audit.report if audit.report.steps else None, config=config)
    except CortexError as error:
        return replace(known, problem=error.message)


def _configured(call: OperationCall, report: VerificationReport | None) -> list[dict[str, Any]]:
    config, manifest = call.host.config, report.manifest if report is not None else None
    if manifest is None:
        return []
    secrets = partial(SecretStore.of, config.secrets)
    return ConfiguredValues(manifest, config.section(ArtifactSettings), secrets).to_json()


@dataclass(frozen=True, slots=True)
class CheckFiles:
    """No arguments."""


@operation("artifacts.check", effect="reads", permission="approve")
def check_artifacts(call: OperationCall, given: CheckFiles) -> dict[str, Any]:  # noqa: ARG001 - there is none
    """Compare the installed files with the index."""
    installed = call.part(installed_in)
    return {"checked": len(installed.list()), "problems": check_files(installed)}


@dataclass(frozen=True, slots=True)
class AskedGrants:
    """What is granted, and who is asked for the rest: shown the artifact after it was verified and audited."""

    given: GrantAnswers
    ask: Callable[[PreparedInstall, GrantAnswers], GrantAnswers] = lambda _, answers: answers


@dataclass(frozen=True, slots=True)
class InstallArtifact:
    """The bytes of an artifact, and how it is installed."""

    data: Annotated[bytes, AS_IS]
    options: Annotated[InstallOptions, AS_IS]
    answers: Annotated[AskedGrants, AS_IS]

    @property
    def id(self) -> str:
        """The one that is expected; empty for any."""
        return self.options.expected.skill_id


class NewlyInstalled(InstalledVersion):
    """The installed version, how its grants differ from its requests, and the checks of its audit."""

    differences: list[dict[str, str]]
    checks: list[dict[str, Any]]


@operation("artifacts.install", effect="changes", permission="approve", object_="id", state=versions_of)
def install(call: OperationCall, given: InstallArtifact) -> NewlyInstalled:
    """Verify, audit, grant and install an artifact; one that fails its audit is quarantined."""
    check_is_no_agent(call)
    installed = call.part(installed_in)
    call.facts["fileSha256"] = sha256(given.data).hexdigest()
    prepared = prepare(installed, given.data, given.options)
    call.about = prepared.key.skill_id
    call.before = versions_of(call)
    answers = given.answers.ask(prepared, given.answers.given)
    found = finish(installed, prepared, answers, actor=call.caller.name)
    decision = prepared.decide(answers)
    call.data["source"] = found.source
    call.facts |= {
        "trust": found.trust,
        "granted": sorted(map(str, decision.granted)),
        "denied": sorted(map(str, decision.denied)),
    }
    _note(call, found)
    return {
        **_wire(found),
        "differences": [
            each.to_json() for each in grant_differences(prepared.wanted, found.grants.grants(), prepared.audit.used)
        ],
        "checks": [check.to_json() for check in prepared.audit.checks],
    }


@operation("artifacts.remove", effect="changes", permission="approve", object_="id", state=versions_of)
def remove(call: OperationCall, given: OptionalVersion) -> list[InstalledVersion]:
    """Remove a version, or all; a call that runs ends as it would have."""
    removed = call.part(installed_in).remove(given.id, given.version, actor=call.caller.name)
    call.facts["removed"] = [f"{each.key.version} {each.key.payload_sha256}" for each in removed]
    return [_wire(each) for each in removed]


@dataclass(frozen=True, slots=True)
class Disable:
    """Which version, and why."""

    id: _Id
    version: _Version
    reason: _Reason = ""


@operation("artifacts.disable", effect="changes", permission="approve", object_="id", state=versions_of)
def disable(call: OperationCall, given: Disable) -> InstalledVersion:
    """Stop a version until it is enabled; one that is quarantined stays quarantined."""
    installed = call.part(installed_in)
    return _changed(call, installed.disable(given.id, given.version, actor=call.caller.name, reason=given.reason))


@dataclass(frozen=True, slots=True)
class Quarantine:
    """Which version, and why."""

    id: _Id
    version: _Version
    reason: Annotated[str, Field(min_length=1, max_length=MAX_REASON, pattern=r"\S", description="Why.")]


@operation("artifacts.quarantine", effect="changes", permission="approve", object_="id", state=versions_of)
def quarantine(call: OperationCall, given: Quarantine) -> InstalledVersion:
    """Stop a version, until it is enabled with an override."""
    installed = call.part(installed_in)
    return _changed(call, installed.quarantine(given.id, given.version, actor=call.caller.name, reason=given.reason))


@dataclass(frozen=True, slots=True)
class Enable:
    """Which version, and why."""

    id: _Id
    version: _Version
    override: Annotated[bool, Field(description="true for a quarantined version, with a reason.")] = False
    reason: _Reason = ""


@operation("artifacts.enable", effect="changes", permission="approve", object_="id", state=versions_of)
def enable(call: OperationCall, given: Enable) -> InstalledVersion:
    """Let a version run; a quarantined one needs `override: true` and a reason."""
    if given.override:
        check_is_no_agent(call)
    call.facts["override"] = given.override
    found = call.part(installed_in).enable(
        given.id, given.version, actor=call.caller.name, override=given.override, reason=given.reason
    )
    return _changed(call, found)


@operation("artifacts.audit", effect="changes", permission="approve", object_="id", state=versions_of)
def audit(call: OperationCall, given: OptionalVersion) -> dict[str, Any]:
    """Audit the security of an installed version, which is quarantined if it fails."""
    audited = audit_installed(call.part(installed_in), given.id, given.version, actor=call.caller.name)
    _note(call, audited.installed)
    return {**audited.audit.to_json(), "status": audited.installed.status}


def _changed(call: OperationCall, found: InstalledArtifact) -> InstalledVersion:
    _note(call, found)
    return _wire(found)


def _note(call: OperationCall, found: InstalledArtifact) -> None:
    call.facts |= {
        "version": found.key.version,
        "payloadSha256": found.key.payload_sha256,
        "publisher": found.publisher,
        "findings": list(found.findings),
    }


def _wire(found: InstalledArtifact) -> InstalledVersion:
    return found.to_json()  # type: ignore[return-value]


def check_is_no_agent(call: OperationCall) -> None:
    """Refuse an agent, also one with the permission.

    Raises:
        CortexError: `permission_denied`.
    """
    if call.caller.is_agent:
        raise CortexError(
            "permission_denied",
            f"{call.caller.name} is an agent: a person installs artifacts, and looks at what is quarantined",
            hint="ask a person; `cortex-skills token create NAME --permission approve --holder person` is one's token",
        )
