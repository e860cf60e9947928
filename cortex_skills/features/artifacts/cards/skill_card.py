"""The machine-readable card of a skill: in a folder, in an artifact, or installed.

    card = card_of_folder(Path("skills/stock-watch"), config)

Rules kept here:
- a card has the form of `card_form.Card`; every skill has the same members;
- it states what was verified now, from the files or bytes themselves: nothing is taken over from an earlier card;
- a skill that is not signed, not trusted or not valid has a card too, which says so: a card grants nothing;
- no code of the skill runs, and the trust store is not changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.artifact_trust import artifact_trust
from cortex_skills.features.artifacts.installed.artifact_grants import requested
from cortex_skills.features.artifacts.installed.installed_artifact import InstalledArtifact
from cortex_skills.features.artifacts.package import (
    HOST_VERSIONS,
    ArtifactManifest,
    ArtifactSignature,
    VerificationReport,
    verify_artifact,
)
from cortex_skills.features.artifacts.package.entry_paths import SKILL_MD, skill_files
from cortex_skills.manifest import Manifest, load_manifest, parse_manifest
from cortex_skills.scanner import Finding, is_source, scan_folder, scan_sources
from cortex_skills.signatures import Verifier
from cortex_skills.signatures.model_signing import (
    ModelSignature,
    check_model_signature,
    check_model_signature_in,
    model_signature_result,
)
from cortex_skills.signatures.signing import version_of
from cortex_skills.signatures.skill_files import files_of
from cortex_skills.signatures.statement import digest_of
from cortex_skills.skill_folder.snapshot import read_skill

CARD_FORMAT = "cortex-skill-card/1"

_FOLDER = SKILL_MD.removesuffix("SKILL.md")
_TEXTS = (".md", ".txt", ".json", ".yaml", ".yml", ".ttl")
_MAX_FINDINGS = 100


def card_of_folder(folder: Path, config: Config) -> dict[str, Any]:
    """The card of a skill in a folder.

    Args:
        folder: of the skill.
        config: the settings, whose trust store is asked.

    Raises:
        CortexError: `manifest_invalid`; `signature_invalid`: it has files that cannot be signed.
    """
    manifest, snapshot = load_manifest(folder), read_skill(folder)
    verifier = Verifier.of(config)
    files = files_of(folder)
    publisher: dict[str, str] | None = None
    try:
        statement = verifier.signature_of(snapshot, files).statement
        publisher = {"name": statement.publisher, "key": statement.key}
        verifier.check(snapshot, manifest)
    except CortexError as error:
        status = "none" if error.code == "signature_required" else "refused"
        signature = {"status": status, "message": error.message, "signed": ""}
    else:
        signature = {"status": "trusted", "message": "", "signed": statement.signed}
    return _card(
        "folder",
        manifest.name,
        version_of(manifest),
        manifest,
        publisher=publisher,
        digests={"files": digest_of(files).hex()},
        signature=signature,
        model_signature=_model_signature(lambda: check_model_signature(folder, config.verification.model_keys)),
        findings=scan_folder(folder),
    )


def card_of_artifact(
    data: bytes, config: Config, now: datetime, installed: InstalledArtifact | None = None
) -> dict[str, Any]:
    """The card of an artifact.

    Args:
        data: the bytes of the artifact.
        config: the settings, whose trust store is asked.
        now: the current time, with its zone.
        installed: how it is installed; None for a file.

    Raises:
        CortexError: `artifact_invalid`, `manifest_invalid`, `signature_invalid`: it is not a valid artifact.
    """
    trust = artifact_trust(config, allow_downgrade=installed is not None, now=now)
    report = verify_artifact(data, HOST_VERSIONS, trust)
    signature: dict[str, str] = {"status": "trusted", "message": report.steps[-1].message, "signed": ""}
    if report.error is not None:
        if report.steps[-1].status != "failed":  # a step before that of trust
            raise report.error
        signature = {"status": "refused", "message": report.error.message, "signed": ""}
        report = verify_artifact(data, HOST_VERSIONS, _not_checked)
    manifest, signed = report.manifest, report.signature
    if manifest is None or signed is None:
        raise CortexError("artifact_invalid", "the artifact has no manifest or no signature")
    skill = _skill_of(report)
    card = _card(
        "installed" if installed is not None else "artifact",
        manifest.skill_id,
        manifest.version,
        skill,
        publisher={"name": manifest.publisher, "key": signed.key_id},
        digests={"payload": report.payload_sha256},
        signature=signature,
        model_signature=_model_signature(
            lambda: check_model_signature_in(skill_files(report.entries), config.verification.model_keys)
        ),
        findings=scan_sources(_texts(report.entries)),
    )
    return card | _of_manifest(manifest, report) | ({} if installed is None else _of_installed(installed))


def card_of_installed(installed: InstalledArtifact, data: bytes, config: Config, now: datetime) -> dict[str, Any]:
    """The card of an installed artifact, from the bytes of its file; see `card_of_artifact`."""
    return card_of_artifact(data, config, now, installed)


def _not_checked(_: ArtifactSignature, __: ArtifactManifest) -> str:
    return ""


def _model_signature(checked: Callable[[], ModelSignature]) -> dict[str, str]:
    """The result of a check of `skill.oms.sig`; what is refused, or cannot be checked, is `refused`."""
    try:
        return model_signature_result(checked())
    except CortexError as error:
        return model_signature_result(error)


def _card(
    source: str,
    name: str,
    version: str,
    manifest: Manifest | None,
    *,
    publisher: Mapping[str, str] | None,
    digests: Mapping[str, str],
    signature: Mapping[str, str],
    model_signature: Mapping[str, str],
    findings: Iterable[Finding],
) -> dict[str, Any]:
    semantic = None if manifest is None else manifest.semantic
    found = list(findings)
    return {
        "format": CARD_FORMAT,
        "source": source,
        "kind": "wasm" if manifest is None else "instructions" if semantic is None else "semantic",
        "name": name,
        "version": version,
        "description": "" if manifest is None else manifest.description,
        "license": None if manifest is None else manifest.license,
        "publisher": None if publisher is None else dict(publisher),
        "digests": dict(digests),
        "signature": dict(signature),
        "modelSignature": dict(model_signature),
        "permissions": [] if semantic is None else sorted(semantic.permissions.names()),
        "asserts": [] if semantic is None else [each.predicate for each in semantic.assertions],
        "queries": [] if semantic is None else [each.predicate for each in semantic.queries],
        "tools": [],
        "requests": [],
        "proofs": _proofs(manifest),
        "findings": {
            "critical": sum(each.severity == "critical" for each in found),
            "warnings": sum(each.severity != "critical" for each in found),
            "items": [each.to_json() for each in found[:_MAX_FINDINGS]],
        },
        "components": [],
        "installed": None,
    }


def _proofs(manifest: Manifest | None) -> list[dict[str, Any]]:
    """The proofs that a skill can make: each kind, with the predicates for which its manifest requires one."""
    semantic = None if manifest is None else manifest.semantic
    if semantic is None:
        return []
    found: list[dict[str, Any]] = []
    if "graph:write" in semantic.permissions and semantic.assertions:
        required = [each.predicate for each in semantic.assertions if each.require_proof]
        found.append({"kind": "credential", "predicates": [each.predicate for each in semantic.assertions]})
        if required and "proofs:request" in semantic.permissions:
            found.append({"kind": "pol", "predicates": required})
    if "proofs:request" in semantic.permissions and semantic.allows_tool("skill_request_zk_proof"):
        found.append({"kind": "zk", "predicates": []})
    return found


def _of_manifest(manifest: ArtifactManifest, report: VerificationReport) -> dict[str, Any]:
    return {
        "requests": [str(grant) for grant in sorted(requested(manifest))],
        "tools": [
            {"name": tool.id, "description": tool.description, "requiresApproval": tool.requires_approval}
            for tool in manifest.tools
        ],
        "components": [component.purl or component.name for component in report.components],
    } | ({} if manifest.is_semantic else {"description": str(manifest.operator.get("summary", manifest.name))})


def _of_installed(installed: InstalledArtifact) -> dict[str, Any]:
    known = installed.to_json()
    names = ("status", "reason", "grants", "installedAt", "current", "findings")
    return {"installed": {name: known[name] for name in names}}


def _skill_of(report: VerificationReport) -> Manifest | None:
    """The manifest of the skill in an artifact; None for one of WebAssembly modules."""
    if SKILL_MD not in report.entries:
        return None
    companion = report.entries.get(f"{_FOLDER}semantic.yaml")
    return parse_manifest(
        report.entries[SKILL_MD].decode(), None, companion.decode() if companion is not None else None
    )


def _texts(entries: Mapping[str, bytes]) -> dict[str, str]:
    """The sources and texts among the assets, which the scanner reads."""
    return {
        path: data.decode("utf-8", "replace")
        for path, data in entries.items()
        if path.startswith("assets/") and (is_source(path) or path.endswith(_TEXTS))
    }
