"""The security audit of an artifact: before it is installed, and from time to time after.

Rules kept here:
- an audit is made of a verification, and changes nothing. Each check passed, warned, failed or was skipped; what failed
  is a finding, `check` or `check:what`, which quarantines the version unless a person accepted exactly that finding;
- an artifact that is not valid is not examined further;
- modules are compiled and started as they are before a call, with the quotas of their manifest and no host functions:
  what passes here starts, and what does not start does not pass;
- in an artifact that runs no TypeScript, sources among the assets are only warned about: they are data;
- what cannot be examined because of this machine (no compiler, no memory) is an error, never a finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any, Literal

from cortex_sandbox.errors import CompileError, FuelExhausted, MemoryLimit, MissingExport, SandboxError, TimedOut, Trap
from cortex_sandbox.wasm import WasmSandbox
from cortex_sandbox.wasm.wasm_limits import LARGE_MODULE_BYTES, MAX_EXPORTED_FUNCTIONS, MAX_MODULE_BYTES
from cortex_skills.errors import CortexError, from_floor
from cortex_skills.features.artifacts.installed.artifact_grants import GrantKind
from cortex_skills.features.artifacts.installed.module_limits import limits_of
from cortex_skills.features.artifacts.installed.vulnerability_feed import VulnerabilityFeed
from cortex_skills.features.artifacts.package import ArtifactManifest, VerificationReport
from cortex_skills.features.artifacts.package.bill_of_materials import bill_hashes
from cortex_skills.features.artifacts.package.entry_paths import ASSETS, SBOM, SKILL_FILES, is_module, skill_files
from cortex_skills.safe_io.schemas import shown
from cortex_skills.scanner import Finding, scan_sources
from cortex_skills.scanner.documents import DOCUMENT_SUFFIXES
from cortex_skills.scanner.folder import FILES_LIMIT, FOLDER_SIZE_LIMIT
from cortex_skills.scanner.tree import SOURCE_SUFFIXES
from cortex_skills.signatures.model_signing import MODEL_MESSAGES, check_model_signature_in

MODEL_CHECK = "model_signature"
TOO_SLOW = "wasm_module_time"
# What depends on the files, the settings and the speed of the host that audits.
OF_HOST = frozenset({MODEL_CHECK, TOO_SLOW, "filesystem_safety", "vulnerability_feed"})
CheckStatus = Literal["passed", "warned", "failed", "skipped"]

_MAX_LISTED = 8
_START_S = 30.0  # the longest that a start may take
_MAX_FINDINGS = 200
# The steps of a verification that are the check of the signature; the others are checks of their own.
_STEPS = {
    "sbom": "sbom_presence",
    "provenance": "provenance_presence",
    "manifest": "manifest_sanity",
    "content": "manifest_sanity",
}
# How the errors of a module are named, by its check.
_MODULE_CHECKS = {
    "ModuleTooLarge": "wasm_module_size_limit",
    "TooManyExports": "wasm_exported_function_limit",
    "ImportRefused": "wasm_imports",
}
_KINDS_OF_IMPORTS: Mapping[str, tuple[GrantKind, ...]] = {
    "http": ("http",),
    "secret": ("secret",),
    "storage": ("read", "write"),
    "channel": ("node",),
    "graph": ("graph", "predicate"),
}
# What the host gives to the artifact that fulfils a contract, without a grant.
_GIVEN_BY_CONTRACTS: Mapping[str, str] = {
    "memory_provider": "it is given each memory that any agent stores, and adds to what agents recall",
    "routing_strategy": "it is given the arguments of calls that name no skill, and chooses the acting skill",
    "run_lifecycle_hook": "it is told when agents start, and may prevent it",
}


@dataclass(frozen=True, slots=True)
class AuditCheck:
    """One check: its id, how it ended, a message, and what it is about, such as the ids of vulnerabilities."""

    id: str
    status: CheckStatus
    message: str = ""
    about: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[str, ...]:
        """What quarantines the artifact."""
        if self.status != "failed":
            return ()
        return tuple(f"{self.id}:{each}" for each in self.about) or (self.id,)

    def to_json(self) -> dict[str, Any]:
        """The check as a JSON object."""
        return {"id": self.id, "status": self.status, "message": self.message, "findings": list(self.findings)}


@dataclass(frozen=True, slots=True)
class SecurityAudit:
    """What an audit found.

    Attributes:
        report: of the verification.
        checks: in their order.
        used: the kinds of grants that the modules can use; None for a TypeScript skill.
        of_host: the ids of the checks whose findings are about this host.
    """

    report: VerificationReport
    checks: tuple[AuditCheck, ...]
    used: frozenset[GrantKind] | None = None
    of_host: frozenset[str] = OF_HOST

    @property
    def findings(self) -> tuple[str, ...]:
        """What quarantines the artifact, sorted."""
        found = sorted({finding for check in self.checks for finding in check.findings})
        more = [f"more:{len(found) - _MAX_FINDINGS}"] if len(found) > _MAX_FINDINGS else []
        return (*found[:_MAX_FINDINGS], *more)

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return not self.findings

    def to_json(self) -> dict[str, Any]:
        """The audit as a JSON object."""
        about = self.report.to_json()
        del about["valid"], about["steps"]
        checks = [check.to_json() for check in self.checks]
        return {**about, "passed": self.passed, "findings": list(self.findings), "checks": checks}


def audit_artifact(
    report: VerificationReport,
    feed: VulnerabilityFeed | None = None,
    files_problem: str | None = "not installed",
    model_keys: Sequence[str] = (),
) -> SecurityAudit:
    """Audit a verified artifact.

    Args:
        report: of its verification, valid or not.
        feed: known vulnerabilities; None for none.
        files_problem: what is wrong with its installed files; None for nothing, `not installed` to skip that check.
        model_keys: the keys of `skill.oms.sig` (`verification.modelKeys`).

    Raises:
        CortexError: a module could not be compiled because of this machine; `config_invalid`: the extra
            `model-signing` or a key is missing.
    """
    checks = list(_of_verification(report))
    manifest, used = report.manifest, set[GrantKind]()
    if not report.is_valid or manifest is None:
        return SecurityAudit(report, tuple(checks))
    checks += _of_model_signature(report, model_keys)
    checks += _of_bill(report, manifest)
    checks += _of_manifest(manifest)
    checks += _of_modules(report, manifest, used)
    checks.append(_of_texts(report, manifest))
    checks.append(_of_files(files_problem))
    checks.append(_of_feed(report, feed))
    return SecurityAudit(report, tuple(checks), None if manifest.is_semantic else frozenset(used))


def _of_verification(report: VerificationReport) -> Iterator[AuditCheck]:
    grouped: dict[str, list[Any]] = {
        name: [] for name in ("signature_validity", "sbom_presence", "provenance_presence", "manifest_sanity")
    }
    for step in report.steps:
        grouped[_STEPS.get(step.id, "signature_validity")].append(step)
    for name, steps in grouped.items():
        failed = next((step for step in steps if step.status == "failed"), None)
        skipped = any(step.status == "skipped" for step in steps)
        if failed is not None:
            yield AuditCheck(name, "failed", f"{failed.id}: {failed.message}")
        elif skipped:
            yield AuditCheck(name, "skipped", "an earlier step of the verification failed")
        else:
            warned = [step.message for step in steps if step.status == "warned" and name != "manifest_sanity"]
            message = "; ".join(warned or [step.message for step in steps if step.message])
            yield AuditCheck(name, "warned" if warned else "passed", message)


def _of_model_signature(report: VerificationReport, keys: Sequence[str]) -> Iterator[AuditCheck]:
    """Whether the `skill.oms.sig` of the skill is valid; no check for an artifact without one."""
    try:
        result = check_model_signature_in(skill_files(report.entries), keys)
    except CortexError as error:
        if error.code != "signature_invalid":
            raise
        yield AuditCheck(MODEL_CHECK, "failed", error.message)
    else:
        if result != "none":
            yield AuditCheck(MODEL_CHECK, "passed" if result == "verified" else "warned", MODEL_MESSAGES[result])


def _of_bill(report: VerificationReport, manifest: ArtifactManifest) -> Iterator[AuditCheck]:
    """Whether the bill and the provenance are those of these entries."""
    about_version, hashes = bill_hashes(report.entries[SBOM], manifest.skill_id)
    digests = {path: sha256(data).hexdigest() for path, data in report.entries.items()}
    wrong = sorted(name for name, digest in hashes if digests.get(name, digest) != digest)
    if wrong:
        yield AuditCheck("sbom_matches", "failed", f"another SHA-256 than the file has: {_listed(wrong)}", tuple(wrong))
    elif about_version not in ("", manifest.version):
        yield AuditCheck("sbom_matches", "failed", f"it is the bill of version {shown(about_version)}")
    else:
        named = sum(name in digests for name, _ in hashes)
        yield AuditCheck("sbom_matches", "passed", f"{named} files are listed with their SHA-256")
    uncovered = report.provenance.uncovered(report.entries) if report.provenance is not None else []
    if uncovered:
        yield AuditCheck("provenance_matches", "warned", f"no subject of the provenance: {_listed(uncovered)}")
    else:
        yield AuditCheck("provenance_matches", "passed", "every module and asset is a subject with its SHA-256")


def _of_manifest(manifest: ArtifactManifest) -> Iterator[AuditCheck]:
    given = manifest.capabilities
    for name, message in manifest.warnings.items():
        yield AuditCheck(f"manifest_warning:{name}", "warned", message)
    folders = f"reads {_listed(given.read_roots)}; writes {_listed(given.write_roots)}"
    yield AuditCheck("manifest_filesystem_scopes", "passed", folders)
    yield AuditCheck("manifest_http_egress_scopes", "passed", _listed(given.http_hosts))
    yield AuditCheck("manifest_secret_scopes", "passed", _listed(secret.scope for secret in given.secrets))
    rights = [name for name, has in (("read", given.graph_read), ("write", given.graph_write)) if has]
    yield AuditCheck("manifest_graph_scopes", "passed", _listed([*rights, *given.graph_predicates]))
    for contract in manifest.plugin.get("contracts", ()):
        if (gets := _GIVEN_BY_CONTRACTS.get(contract["kind"])) is not None:
            yield AuditCheck(f"contract:{contract['kind']}", "warned", gets)
    yield _failed_if(given.device, "forbidden_device_capabilities", "this host gives no capabilities of the device")
    opted = sorted(given.wildcard_opt_in)
    yield _failed_if(opted, "forbidden_wildcard_capabilities", "* is allowed for")
    experimental = ["builder"] if manifest.builder else []
    if experimental:
        yield AuditCheck("experimental", "failed", "a builder made it, and a person has not looked at it")


def _of_modules(report: VerificationReport, manifest: ArtifactManifest, used: set[GrantKind]) -> Iterator[AuditCheck]:
    modules = {path: data for path, data in report.entries.items() if is_module(path)}
    present = _listed(modules) if modules else "a TypeScript skill"
    yield AuditCheck("wasm_module_presence", "passed" if modules or manifest.is_semantic else "failed", present)
    names = (
        "wasm_module_size_limit",
        "wasm_module_validation",
        "wasm_exported_function_limit",
        "wasm_imports",
        "wasm_module_start",
    )
    limits = limits_of(manifest.capabilities.quotas)
    limits = replace(limits, timeout_s=min(limits.timeout_s, _START_S))
    failed: dict[str, list[tuple[str, str]]] = {name: [] for name in names}
    slow: list[tuple[str, str]] = []
    for path, data in modules.items():
        try:
            box = WasmSandbox(data, limits, entrypoint=manifest.entrypoint)
            used.update(kind for name in box.imports for kind in _KINDS_OF_IMPORTS.get(name.partition("-")[0], ()))
            box.start()
        except (CompileError, MissingExport) as error:
            failed[_MODULE_CHECKS.get(error.name, "wasm_module_validation")].append((path, error.message))
        except TimedOut as error:
            slow.append((path, error.message))
        except (FuelExhausted, MemoryLimit, Trap) as error:
            failed["wasm_module_start"].append((path, error.message))
        except SandboxError as error:
            raise from_floor(error) or error from None
    large = [path for path, data in modules.items() if len(data) > LARGE_MODULE_BYTES]
    passed_messages = (
        f"at most {MAX_MODULE_BYTES >> 20} MiB each",
        f"they compile and export {manifest.entrypoint}",
        f"at most {MAX_EXPORTED_FUNCTIONS} exported functions each",
        "only functions of the plugin world",
        "they start within their quotas",
    )
    for name, passed in zip(names, passed_messages, strict=True):
        found = failed[name]
        message = "; ".join(f"{shown(path)}: {problem}" for path, problem in found[:_MAX_LISTED])
        status: CheckStatus = "failed" if found else "passed"
        if name == "wasm_module_size_limit" and large and not found:
            status, message = "warned", f"above {LARGE_MODULE_BYTES >> 20} MiB, which Palyra refuses: {_listed(large)}"
        yield AuditCheck(name, status, message or passed, tuple(path for path, _ in found))
    if slow:
        message = "; ".join(f"{shown(path)}: {problem}" for path, problem in slow[:_MAX_LISTED])
        yield AuditCheck(TOO_SLOW, "failed", message, tuple(path for path, _ in slow))


def _of_texts(report: VerificationReport, manifest: ArtifactManifest) -> AuditCheck:
    texts: dict[str, str] = {}
    unreadable = []
    for path, data in report.entries.items():
        suffix = PurePosixPath(path).suffix.lower()
        if not path.startswith(ASSETS) or suffix not in SOURCE_SUFFIXES | DOCUMENT_SUFFIXES:
            continue
        try:
            texts[path] = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            unreadable.append(path)
    if len(texts) > FILES_LIMIT or sum(map(len, texts.values())) > FOLDER_SIZE_LIMIT:
        return AuditCheck("skill_scan", "failed", f"more than {FILES_LIMIT} texts or {FOLDER_SIZE_LIMIT >> 20} MiB")
    if unreadable:
        return AuditCheck("skill_scan", "failed", f"not UTF-8: {_listed(unreadable)}", tuple(unreadable))
    found = scan_sources(texts)
    wrong = [
        each
        for each in found
        if each.severity == "critical" and (_runs(manifest, each.file) or _is_document(each.file))
    ]
    if wrong:
        about = tuple(sorted({f"{each.rule}@{each.file}" for each in wrong}))
        return AuditCheck("skill_scan", "failed", _found(wrong), about)
    if found:
        return AuditCheck("skill_scan", "warned", _found(found))
    return AuditCheck("skill_scan", "passed", f"{len(texts)} texts")


def _of_files(problem: str | None) -> AuditCheck:
    if problem == "not installed":
        return AuditCheck("filesystem_safety", "skipped", problem)
    if problem is not None:
        return AuditCheck("filesystem_safety", "failed", problem)
    return AuditCheck("filesystem_safety", "passed", "the installed files are those of the artifact, and private")


def _of_feed(report: VerificationReport, feed: VulnerabilityFeed | None) -> AuditCheck:
    if feed is None:
        return AuditCheck("vulnerability_feed", "warned", "no feed is configured (artifacts.vulnerabilityFeed)")
    matches = feed.matches(report.components)
    if matches.found:
        texts = [f"{record} in {purl}" for record, purl in matches.found]
        about = tuple(f"{record}@{purl}" for record, purl in matches.found)
        return AuditCheck("vulnerability_feed", "failed", _listed(texts), about)
    if matches.uncompared:
        return AuditCheck("vulnerability_feed", "warned", f"versions not compared: {_listed(matches.uncompared)}")
    return AuditCheck("vulnerability_feed", "passed", f"{len(report.components)} components")


def _failed_if(values: Any, name: str, problem: str) -> AuditCheck:
    if values:
        return AuditCheck(name, "failed", f"{problem}: {_listed(values)}", tuple(values))
    return AuditCheck(name, "passed", "none")


def _runs(manifest: ArtifactManifest, path: str) -> bool:
    return manifest.is_semantic and path.startswith(SKILL_FILES)


def _is_document(path: str) -> bool:
    return PurePosixPath(path).suffix.lower() in DOCUMENT_SUFFIXES


def _found(findings: list[Finding]) -> str:
    return _listed(f"{each.rule} in {each.file}, line {each.line}" for each in findings)


def _listed(names: Any) -> str:
    names = [shown(name) for name in names]
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return ", ".join(names[:_MAX_LISTED]) + more or "none"
