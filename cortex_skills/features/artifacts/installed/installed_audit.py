"""The security audit of what is installed: on request, and every few hours by a server.

    audit_installed(installed, "acme.echo", "1.2.0", actor="ada")      # one version
    audit_all(installed, judge)

Rules kept here:
- an audit reads the installed files again; a version with a finding that no person accepted is quarantined, and exactly
  that one: its id, version and hash;
- nothing is enabled again by an audit, and an audit that finds what the last one found writes nothing;
- a version that cannot be examined because of this machine keeps its status, and is reported. On a store that several
  hosts use, bytes that this host does not have, its versions, and whom it trusts are of this machine;
- what is found there because of the settings, files or keys of this host stops a version on this host only
  (`host_findings`).
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from cortex_skills.config.extras import check_extra
from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.installed.host_findings import found_by, stopping
from cortex_skills.features.artifacts.installed.installation import InstallOptions
from cortex_skills.features.artifacts.installed.installed_artifact import (
    ArtifactKey,
    ArtifactVersions,
    InstalledArtifact,
    judged,
)
from cortex_skills.features.artifacts.installed.installed_artifacts import InstalledArtifacts
from cortex_skills.features.artifacts.installed.security_audit import AuditCheck, SecurityAudit, audit_artifact
from cortex_skills.features.artifacts.installed.vulnerability_feed import feed_of
from cortex_skills.features.artifacts.package import (
    HOST_VERSIONS,
    ExpectedArtifact,
    VerificationReport,
    verify_artifact,
)

log = logging.getLogger(__name__)

Judge = Callable[[ArtifactKey], object]


@dataclass(frozen=True, slots=True)
class AuditedArtifact:
    """A version after its audit, and the audit."""

    installed: InstalledArtifact
    audit: SecurityAudit


def audit_installed(
    installed: InstalledArtifacts, skill_id: str, version: str | None = None, *, actor: str
) -> AuditedArtifact:
    """Audit an installed version, and quarantine it if a check fails.

    Args:
        installed: what is installed.
        skill_id: of the artifact.
        version: which version; the current one when None.
        actor: who audits.

    Raises:
        CortexError: `artifact_not_found`, `artifact_invalid`; `config_invalid`: the trust store or the vulnerability
            feed cannot be used; `artifact_unavailable`: a file cannot be read.
        GraphError: the store cannot be used.
    """
    found = installed.find(skill_id, version)
    audit = audit_of(installed, found)
    host = installed.host
    stopped = stopping(found, host)

    def change(versions: ArtifactVersions) -> ArtifactVersions:
        before = next((each for each in versions.versions if each.key == found.key), None)
        findings = () if before is None else found_by(audit, host, before.findings)
        if before is None or before.findings == findings:
            return versions
        after = judged(replace(before, findings=findings))
        return replace(versions, versions=tuple(after if each is before else each for each in versions.versions))

    about: dict[str, object] = {"what": "audited", "version": found.key.version, "by": actor}
    versions = installed.index.change(skill_id, change, about)
    after = next((each for each in versions.versions if each.key == found.key), found)
    if new := set(stopping(after, host)).difference(stopped):
        log.warning("%s stops on this host, and not on others: %s", found.key, ", ".join(sorted(new)))
    return AuditedArtifact(after, audit)


def audit_all(
    installed: InstalledArtifacts, judge: Judge, *, is_stopped: Callable[[], bool] = lambda: False
) -> list[SecurityAudit]:
    """Audit every installed version; problems of this machine are logged.

    Args:
        installed: what is installed.
        judge: audits a version again, and stores what it finds; asked for those whose findings have changed.
        is_stopped: whether to stop before the next version.

    Raises:
        GraphError: the store cannot be used.
    """
    audits = []
    for each in installed.list():
        if is_stopped():
            break
        try:
            audits.append(audit_of(installed, each))
            if found_by(audits[-1], installed.host, each.findings) != each.findings:
                judge(each.key)
        except CortexError as error:
            if error.code != "artifact_not_found":  # removed meanwhile
                log.warning("%s was not audited: %s", each.key, error.message)
    return audits


def audit_if_due(
    installed: InstalledArtifacts, every: timedelta, judge: Judge, *, is_stopped: Callable[[], bool] = lambda: False
) -> list[SecurityAudit] | None:
    """Audit everything that is installed, if that is due and no other process does; None if it is not.

    Args:
        installed: what is installed.
        every: how often.
        judge: as for `audit_all`.
        is_stopped: whether to stop before the next version; then another process takes over later.

    Raises:
        GraphError: the store cannot be used.
    """
    taken = installed.index.take_audit(every)
    if taken is None:
        return None
    audits = audit_all(installed, judge, is_stopped=is_stopped)
    if not is_stopped():
        installed.index.end_audit(taken)
    return audits


def audit_file(config: Config, data: bytes, options: InstallOptions) -> SecurityAudit:
    """Audit an artifact that is not installed.

    Args:
        config: the settings.
        data: the bytes of the file.
        options: how its publisher is trusted.

    Raises:
        CortexError: `config_invalid`: the trust store or the vulnerability feed cannot be used.
    """
    report = verify_artifact(data, HOST_VERSIONS, options.trust_check(config, datetime.now(UTC)))
    if report.error is not None and report.error.code == "config_invalid":
        raise report.error
    return audit_artifact(report, feed_of(config), model_keys=config.verification.model_keys)


def check_files(installed: InstalledArtifacts) -> list[str]:
    """How the files and the index of what is installed differ, one sentence each; empty if they agree.

    Raises:
        CortexError: `artifact_unavailable`.
        GraphError: the store cannot be read.
    """
    listed = installed.index.everything()
    problems = [f"what is stored about {skill_id} was changed in the store" for skill_id in listed.damaged]
    places = set()
    for artifact in listed.artifacts:
        for each in artifact.versions:
            place = installed.files.place(each.key)
            places.add(place)
            try:
                data = installed.read(each)
            except CortexError as error:
                problems.append(f"{each.key}: {error.message}")
                continue
            if (problem := installed.files.problem(each.key, data)) is not None:
                problems.append(f"{each.key}: {problem}")
    unknown = [place for place in installed.files.listed() if place not in places]
    return problems + [f"{place} belongs to nothing that is installed" for place in unknown]


def audit_of(installed: InstalledArtifacts, found: InstalledArtifact) -> SecurityAudit:
    """The audit of a version, which changes nothing.

    Raises:
        CortexError: `config_invalid`; `artifact_unavailable`: its file cannot be read because of this machine.
    """
    check_extra("artifacts", "auditing an artifact")
    feed = feed_of(installed.config)
    try:
        data, report = verified(installed, found)
    except CortexError as error:
        cause = error.__cause__
        if isinstance(cause, OSError) and cause.errno != errno.ELOOP:
            raise
        if not installed.files.has(found.key):  # what arrived from the store is a problem of this host
            raise
        return _only(AuditCheck("filesystem_safety", "failed", error.message))
    if report.error is not None and (report.error.code == "config_invalid" or _is_of_host(installed, report)):
        raise report.error
    problem = installed.files.problem(found.key, data) if report.is_valid else None
    audit = audit_artifact(report, feed, problem, installed.config.verification.model_keys)
    if _is_revoked_here(installed, report):
        return replace(audit, of_host=audit.of_host | {"signature_validity"})
    return audit


def verified(installed: InstalledArtifacts, found: InstalledArtifact) -> tuple[bytes, VerificationReport]:
    """The installed file of a version, and its verification.

    Raises:
        CortexError: `artifact_unavailable`, `artifact_invalid`: it cannot be read, or was changed.
    """
    key, data = found.key, installed.read(found)
    expected = ExpectedArtifact(key.skill_id, key.version, key.payload_sha256)
    return data, verify_artifact(data, HOST_VERSIONS, installed.trust_check(found), expected)


def _is_of_host(installed: InstalledArtifacts, report: VerificationReport) -> bool:
    """Whether a verification fails because of this host, and may pass on another one."""
    failed = next(step for step in report.steps if step.status == "failed")
    revoked = failed.error is not None and "revoked" in failed.error.details
    return installed.is_shared and failed.id in ("compatibility", "trust") and not revoked


def _is_revoked_here(installed: InstalledArtifacts, report: VerificationReport) -> bool:
    """Whether a verification fails because of a key that this host has revoked, and the owner of all hosts has not."""
    details = report.error.details if report.error is not None else {}
    shared = installed.trust_file.shared() if installed.trust_file.owner else None
    return "revoked" in details and (shared is None or details["key"] not in shared.revoked)


def _only(check: AuditCheck) -> SecurityAudit:
    """The audit of files that cannot be examined."""
    return SecurityAudit(VerificationReport((), "", None, None, (), None, {}), (check,))
