"""Installs an artifact: verified, audited, granted, written beside, renamed, and then named in the index.

    prepared = prepare(installed, data, InstallOptions())
    finish(installed, prepared, GrantAnswers(rest=True), actor="ada")

Rules kept here:
- the steps are hash, verification with trust, security audit, grants, bytes in a store on a server, staged files,
  compared tree, rename, index, trust store; a process that is killed at any step before the index leaves what was
  installed before, and one that is killed after it an artifact that is opened only if its publisher is trusted;
- nothing is granted without an answer: what the manifest requests and nobody granted or denied is `grants_required`.
  What the version before was granted or denied is not asked again;
- one version has one payload: the same version with another one is refused until the first is removed;
- a new version becomes the current one, and the others stay;
- an artifact with an invalid `skill.oms.sig` is not installed, if keys for it are configured;
- an artifact that fails its audit is installed quarantined, unless a person accepted these findings of it before.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256

from cortex_skills.config.host_identity import HostIdentity
from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.artifact_trust import artifact_trust, remember
from cortex_skills.features.artifacts.installed.artifact_grants import Grant, Granted, read_grant, requested
from cortex_skills.features.artifacts.installed.grant_decisions import GrantAnswers, GrantDecision, decide
from cortex_skills.features.artifacts.installed.host_findings import found_by
from cortex_skills.features.artifacts.installed.installed_artifact import (
    ArtifactKey,
    ArtifactVersions,
    InstalledArtifact,
    judged,
)
from cortex_skills.features.artifacts.installed.installed_artifacts import InstalledArtifacts
from cortex_skills.features.artifacts.installed.security_audit import MODEL_CHECK, SecurityAudit, audit_artifact
from cortex_skills.features.artifacts.installed.vulnerability_feed import feed_of
from cortex_skills.features.artifacts.package import (
    HOST_VERSIONS,
    ArtifactManifest,
    ExpectedArtifact,
    VerificationReport,
    verify_artifact,
)
from cortex_skills.features.artifacts.package.artifact_verification import TrustCheck
from cortex_skills.safe_io.schemas import shown
from cortex_skills.signatures.model_signing import REFUSED_HINT
from cortex_skills.signatures.trust import Publisher
from cortex_skills.signatures.trust_file import TrustFile


@dataclass(frozen=True, slots=True)
class InstallOptions:
    """How an artifact is installed.

    Attributes:
        sha256: the expected SHA-256 of the file; empty for any.
        expected: which artifact is expected.
        trusted: publishers to trust from now on.
        first_use: whether an unknown publisher is pinned to its key.
        allow_untrusted: whether an unknown publisher is accepted without trust.
        allow_downgrade: whether an older version than the newest one seen is accepted.
        source: the address of the index that lists it; empty for a file.
    """

    sha256: str = ""
    expected: ExpectedArtifact = field(default_factory=ExpectedArtifact)
    trusted: tuple[Publisher, ...] = ()
    first_use: bool = False
    allow_untrusted: bool = False
    allow_downgrade: bool = False
    source: str = ""

    def trust_check(self, source: Config | TrustFile, now: datetime) -> TrustCheck:
        """The check of the publisher by a trust store, at a time."""
        return artifact_trust(
            source,
            trusted=self.trusted,
            first_use=self.first_use,
            allow_untrusted=self.allow_untrusted,
            allow_downgrade=self.allow_downgrade,
            now=now,
        )


@dataclass(frozen=True, slots=True)
class PreparedInstall:
    """A verified artifact that is not installed yet.

    Attributes:
        data: the bytes of the file.
        options: how it is installed.
        report: of the verification.
        manifest: its manifest.
        wanted: what it requests.
        before: the version whose grants it takes over; None if none is installed.
        audit: of its security.
    """

    data: bytes
    options: InstallOptions
    report: VerificationReport
    manifest: ArtifactManifest
    wanted: frozenset[Grant]
    before: InstalledArtifact | None
    audit: SecurityAudit

    @property
    def key(self) -> ArtifactKey:
        """Which artifact it is."""
        return ArtifactKey(self.manifest.skill_id, self.manifest.version, self.report.payload_sha256)

    @property
    def shown(self) -> str:
        """A digest of what a person decides by: the file, the version whose grants it takes over, and the audit."""
        before = None if self.before is None else [str(self.before.key), *sorted(map(str, self.before.grants.grants()))]
        checks = [[each.id, each.status] for each in self.audit.checks]
        trust = self.report.steps[-1].message
        stated = [sha256(self.data).hexdigest(), before, checks, list(self.audit.findings), trust]
        return sha256(json.dumps(stated).encode()).hexdigest()

    def decide(self, answers: GrantAnswers) -> GrantDecision:
        """What is granted with these answers, denied, and open."""
        if self.before is None:
            return decide(self.wanted, answers)
        return decide(self.wanted, answers, self.before.requests.grants(), self.before.grants.grants())


def prepare(installed: InstalledArtifacts, data: bytes, options: InstallOptions) -> PreparedInstall:
    """Verify and audit an artifact; nothing is changed.

    Args:
        installed: where it is to be installed.
        data: the bytes of the file.
        options: how.

    Raises:
        CortexError: `artifact_invalid`, `manifest_invalid`, `signature_invalid`: it is not to be installed;
            `skill_exists`: this version is installed with other contents.
        GraphError: the store cannot be read.
    """
    report = verified_for(installed, data, options)
    if report.error is not None:
        raise report.error
    return prepare_verified(installed, data, options, report)


def verified_for(installed: InstalledArtifacts, data: bytes, options: InstallOptions) -> VerificationReport:
    """The verification of an artifact that is to be installed; nothing is changed.

    Raises:
        CortexError: `artifact_invalid`: it is another file than the expected one.
    """
    digest = sha256(data).hexdigest()
    if options.sha256 and options.sha256.lower() != digest:
        raise CortexError(
            "artifact_invalid",
            f"the SHA-256 of the file is {digest}, not {shown(options.sha256)}",
            hint="get the file again; if the hash differs still, ask its publisher",
        )
    installed.fleet.look()
    return verify_artifact(
        data, HOST_VERSIONS, options.trust_check(installed.trust_file, installed.index.now()), options.expected
    )


def prepare_verified(
    installed: InstalledArtifacts, data: bytes, options: InstallOptions, report: VerificationReport
) -> PreparedInstall:
    """The same as `prepare`, of an artifact whose verification found no error.

    Raises:
        CortexError, GraphError: as `prepare`.
    """
    manifest = report.manifest
    assert manifest is not None  # noqa: S101 - a valid artifact has one
    versions = installed.index.versions(manifest.skill_id)
    _check_same(versions, ArtifactKey(manifest.skill_id, manifest.version, report.payload_sha256))
    before = versions.find(manifest.version) or versions.find(None) or next(reversed(versions.versions), None)
    audit = audit_artifact(report, feed_of(installed.config), model_keys=installed.config.verification.model_keys)
    if (refused := next((each for each in audit.checks if each.id == MODEL_CHECK), None)) and refused.findings:
        raise CortexError("signature_invalid", refused.message, hint=REFUSED_HINT)
    return PreparedInstall(data, options, report, manifest, _showable(requested(manifest)), before, audit)


def finish(
    installed: InstalledArtifacts, prepared: PreparedInstall, answers: GrantAnswers, *, actor: str
) -> InstalledArtifact:
    """Install a prepared artifact.

    Returns:
        The installed version; its status may be `quarantined`.

    Raises:
        CortexError: `grants_required`; `skill_exists`; `artifact_unavailable`: the files cannot be written;
            `signature_invalid`: its publisher is trusted no more.
        GraphError: the store cannot be written.
    """
    decision = prepared.decide(answers)
    decision.check_complete(str(prepared.key))
    new = _new_version(prepared, decision, installed)

    def change(versions: ArtifactVersions) -> ArtifactVersions:
        _check_same(versions, new.key)
        return _with(versions, new)

    if installed.keeps_bytes:
        installed.shared.put(prepared.data)
    with installed.files.locked():
        _check_same(installed.index.versions(new.key.skill_id), new.key)
        if new.trust == "untrusted" and installed.is_shared:
            installed.files.note_untrusted(new.key)
        installed.files.write(new.key, prepared.data, prepared.report.entries)
        about: dict[str, object] = {"what": "installed", "version": new.key.version, "by": actor}
        found = installed.index.change(new.key.skill_id, change, about).find(new.key.version)
    assert found is not None  # noqa: S101 - it was just added
    options = prepared.options
    remember(
        installed.trust_file,
        prepared.report,
        trusted=options.trusted,
        first_use=options.first_use,
        allow_untrusted=options.allow_untrusted,
        allow_downgrade=options.allow_downgrade,
        now=installed.index.now(),
    )
    return found


def _new_version(
    prepared: PreparedInstall, decision: GrantDecision, installed: InstalledArtifacts
) -> InstalledArtifact:
    report, signature = prepared.report, prepared.report.signature
    assert signature is not None  # noqa: S101 - a valid artifact has one
    host = HostIdentity.of(installed.config)
    return InstalledArtifact(
        key=prepared.key,
        publisher=prepared.manifest.publisher,
        key_id=signature.key_id,
        file_sha256=sha256(prepared.data).hexdigest(),
        status="active",
        reason="",
        requests=Granted.of(prepared.wanted),
        grants=Granted.of(decision.granted),
        installed_at=installed.index.now(),
        current=True,
        experimental=bool(prepared.manifest.builder),
        findings=found_by(prepared.audit, installed.host),
        trust=report.steps[-1].message,
        source=prepared.options.source,
        host=host.name,
        host_id=host.id,
    )


def _with(versions: ArtifactVersions, new: InstalledArtifact) -> ArtifactVersions:
    """The versions of an artifact with a new current one, which keeps the status that exactly it had before."""
    same = next((each for each in (*versions.versions, *versions.removed) if each.key == new.key), None)
    if same is not None:
        new = replace(new, status=same.status, reason=same.reason, accepted=same.accepted)
    others = tuple(replace(each, current=False) for each in versions.versions if each.key != new.key)
    removed = tuple(each for each in versions.removed if each.key != new.key)
    return replace(versions, versions=(*others, judged(new)), removed=removed)


def _check_same(versions: ArtifactVersions, key: ArtifactKey) -> None:
    found = versions.find(key.version)
    if found is not None and found.key != key:
        raise CortexError(
            "skill_exists",
            f"{key} is installed with other contents",
            hint=f"to replace it: cortex-skills installed remove {key.skill_id} --version {key.version}",
        )


def _showable(wanted: frozenset[Grant]) -> frozenset[Grant]:
    """What is requested, if it can be shown to the user who grants it."""
    for grant in wanted:
        read_grant(str(grant))
    return wanted
