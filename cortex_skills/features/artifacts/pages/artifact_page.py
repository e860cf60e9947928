"""`/explore/artifacts/{id}`: one version of an installed artifact: its signature, contents, grants, audit and history.

Rules kept here:
- the steps of verification are made for this page, from the installed bytes; the checks of the audit with `check=yes`,
  and otherwise the findings of the last one are shown. Neither changes anything, and no code of the artifact runs;
- an action does what the command line does, with the name of the token as the person, for a caller with `approve`. The
  version is a field of its form. A quarantine, and enabling a version that is quarantined, need a reason.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.display import IN_TABLE, OF_HEADING, OF_NAME, ShownText, shown_text
from cortex_skills.doors.explorer.page import Action, ExplorerPage, Form, PageCall
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.doors.rest.model_types import ApiModel
from cortex_skills.features.artifacts import artifact_operations as artifacts
from cortex_skills.features.artifacts.artifact_operations import DescribedArtifact, InstalledVersion
from cortex_skills.features.artifacts.installed import InstalledArtifact, grant_differences
from cortex_skills.features.artifacts.package import ArtifactManifest, VerificationReport
from cortex_skills.features.artifacts.package.provenance_statement import UNATTESTED
from cortex_skills.features.artifacts.pages.artifact_list import PATH, ArtifactRow, operated, row
from cortex_skills.features.artifacts.pages.install_page import PATH as INSTALL
from cortex_skills.features.explorer.reading import TakeAway, TextLink
from cortex_skills.features.registry.pages.registered import CHARACTERS
from cortex_skills.operations.operation import Operation

_LINES = 80  # of a schema
_COMPONENTS = 100
_CHECKS = {"passed": "ok", "warned": "warn", "failed": "bad", "skipped": "none"}
_REMARKS = {
    "missing_grant": ("gone", "requested, not granted"),
    "excess_grant": ("add", "granted, not requested"),
    "policy_restricted": ("gone", "never allowed on this host"),
    "wildcard_risk": ("add", "contains *"),
    "unused": ("", "requested, and no module can use it"),
}


class ArtifactQuery(ApiModel, total=False):
    """Which version, and whether it is audited."""

    version: Annotated[str, Field(min_length=1, max_length=256)]
    check: Literal["yes"]


@dataclass(frozen=True, slots=True)
class ShownTool:
    """A tool: its id, description, signs of its risk, and the lines of its schemas."""

    id: ShownText
    description: ShownText
    risks: tuple[tuple[str, str], ...]
    schemas: tuple[tuple[str, tuple[ShownText, ...]], ...]


@dataclass(frozen=True, slots=True)
class ArtifactView:
    """One version.

    Attributes:
        row: as in the list.
        version: which version, whole.
        facts: with their labels.
        reason: why it has its status; None without one.
        versions: the versions that are installed.
        problem: why its file cannot be read; None if it can.
        steps: of the verification: id, sign, message.
        checks: of an audit made for this page, likewise; None without one.
        check: the address that makes one.
        findings: of the last audit.
        grants: how grants and requests differ: kind of line, grant, words; granted ones first.
        tools: what it offers.
        components: of its bill of materials: name, version, package URL.
        left_out: how many components are not shown.
        provenance: who built it, with labels.
        history: the latest changes: time, what, by whom, why.
        refusal: why it does not run whatever its status, such as a revoked key; None if its verification has no error.
        update: the page that installs another version.
        actions: which of `quarantine` and `enable` can be done.
        away: other forms.
    """

    row: ArtifactRow
    version: str
    facts: tuple[tuple[str, ShownText], ...]
    reason: ShownText | None
    versions: tuple[TextLink, ...]
    problem: ShownText | None
    steps: tuple[tuple[str, tuple[str, str], ShownText], ...]
    checks: tuple[tuple[str, tuple[str, str], ShownText], ...] | None
    check: str
    findings: tuple[ShownText, ...]
    grants: tuple[tuple[str, ShownText, str], ...]
    tools: tuple[ShownTool, ...]
    components: tuple[tuple[ShownText, ShownText, ShownText], ...]
    left_out: int
    provenance: tuple[tuple[str, ShownText], ...]
    history: tuple[tuple[ShownText, ShownText, ShownText, ShownText], ...]
    refusal: ShownText | None
    update: str
    actions: tuple[str, ...]
    away: TakeAway


def view(call: PageCall) -> ArtifactView:
    """A version; the current one without `version=`.

    Raises:
        CortexError: `artifact_not_found`, `artifact_invalid`.
    """
    examined = _examined(call)
    found, report, audit, problem = examined.found, examined.report, examined.audit, examined.problem
    here = _address(found)
    manifest = report.manifest if report is not None else None
    components = report.components if report is not None else ()
    return ArtifactView(
        row(examined.here.to_json()),
        found.key.version,
        tuple((label, shown_text(text, OF_HEADING)) for label, text in _facts(found, manifest).items()),
        shown_text(examined.here.reason, IN_TABLE) if examined.here.reason else None,
        tuple(TextLink(each.key.version, _address(each), each.key == found.key) for each in examined.versions),
        shown_text(problem, IN_TABLE) if problem else None,
        tuple(_line(step.id, step.status, step.message) for step in (report.steps if report is not None else ())),
        None if audit is None else tuple(_line(each.id, each.status, each.message) for each in audit.checks),
        addresses.address(f"{PATH}/{found.key.skill_id}", version=found.key.version, check="yes"),
        tuple(shown_text(finding, IN_TABLE) for finding in found.findings),
        tuple(_grants(found)),
        tuple(_tools(manifest)) if manifest is not None else (),
        tuple(
            (shown_text(each.name, OF_NAME), shown_text(each.version, OF_NAME), shown_text(each.purl, IN_TABLE))
            for each in components[:_COMPONENTS]
        ),
        max(0, len(components) - _COMPONENTS),
        tuple(_provenance(report)),
        tuple(_history(examined.history)),
        None if report is None or report.error is None else shown_text(str(report.error.message), IN_TABLE),
        addresses.address(INSTALL, id=found.key.skill_id),
        ("quarantine",)
        if examined.here.status == "active"
        else ("quarantine", "enable")
        if found.status != "quarantined"
        else ("enable",),
        TakeAway((TextLink("JSON", f"{here}&format=json"),), "application/json", here),
    )


def _examined(call: PageCall) -> DescribedArtifact:
    """The version of a request."""
    return operated(
        call,
        artifacts.describe,
        id=call.path["id"],
        version=call.query.get("version"),
        audit=call.query.get("check") == "yes",
    )


def _address(found: InstalledArtifact) -> str:
    return addresses.address(f"{PATH}/{found.key.skill_id}", version=found.key.version)


def _facts(found: InstalledArtifact, manifest: ArtifactManifest | None) -> dict[str, str]:
    key = found.key
    facts = {
        "Publisher": found.publisher,
        "Key": f"{found.key_id}, {found.trust}",
        "Payload SHA-256": key.payload_sha256,
        "File SHA-256": found.file_sha256,
    }
    if found.source:
        facts["Installed from"] = found.source
    if found.host:
        facts["Installed on"] = f"{found.host}, {found.host_id}"
    if manifest is not None:
        quotas = manifest.capabilities.quotas
        facts["Kind"] = "a TypeScript skill" if manifest.is_semantic else "WebAssembly"
        facts["Limits of a call"] = (
            f"{quotas.wall_clock_timeout_ms:,} ms, fuel {quotas.fuel_budget:,}, {quotas.max_memory_bytes:,} bytes"
        )
    return facts


def _line(name: str, status: str, message: str) -> tuple[str, tuple[str, str], ShownText]:
    return name, (_CHECKS[status], status), shown_text(message, IN_TABLE)


def _grants(found: InstalledArtifact) -> list[tuple[str, ShownText, str]]:
    wanted, granted = found.requests.grants(), found.grants.grants()
    lines = [("", shown_text(str(grant), IN_TABLE), "granted") for grant in sorted(granted)]
    for each in grant_differences(wanted, granted):
        kind, words = _REMARKS[each.kind]
        lines.append((kind, shown_text(str(each.grant), IN_TABLE), words))
    return lines


def _tools(manifest: ArtifactManifest) -> list[ShownTool]:
    shown = []
    for tool in manifest.tools:
        risks = [("bad", "sensitive")] if tool.default_sensitive else []
        risks += [("warn", "needs approval")] if tool.requires_approval else []
        schemas = []
        for name, schema in (("Input", tool.input_schema), ("Output", tool.output_schema)):
            lines = json.dumps(schema, ensure_ascii=False, indent=2).split("\n")
            if len(lines) > _LINES:
                lines = [*lines[:_LINES], f"… {len(lines) - _LINES} more lines"]
            schemas.append((name, tuple(shown_text(line, CHARACTERS) for line in lines)))
        shown.append(
            ShownTool(shown_text(tool.id, OF_NAME), shown_text(tool.description, 500), tuple(risks), tuple(schemas))
        )
    return shown


def _provenance(report: VerificationReport | None) -> list[tuple[str, ShownText]]:
    stated = report.provenance if report is not None else None
    if stated is None:
        return []
    facts = [("Builder", stated.builder_id or "not stated"), ("Build type", stated.build_type or UNATTESTED)]
    facts += [
        (f"Subject {number}", f"{name} {digest or 'without a digest'}")
        for number, (name, digest) in enumerate(stated.subjects, 1)
    ]
    return [(label, shown_text(text, OF_HEADING)) for label, text in facts[:_COMPONENTS]]


def _history(changes: list[dict[str, Any]]) -> list[tuple[ShownText, ShownText, ShownText, ShownText]]:
    rows = []
    for change in changes:
        what = f"{change.get('version', '')} {change.get('what', '')}".strip()
        at, by, why = (shown_text(str(change.get(name, "")), IN_TABLE) for name in ("at", "by", "reason"))
        rows.append((at, shown_text(what, OF_NAME), by, why))
    return rows


def _quarantine(call: PageCall, fields: Mapping[str, str]) -> str:
    return _done(call, artifacts.quarantine, fields)


def _enable(call: PageCall, fields: Mapping[str, str]) -> str:
    return _done(call, artifacts.enable, fields, override=fields.get("override") == "yes")


def _done(call: PageCall, operation: Operation[Any, InstalledVersion], fields: Mapping[str, str], **more: bool) -> str:
    """Do what a form asks for; the address of the version."""
    given = {"id": call.path["id"], "version": fields.get("version", ""), "reason": fields.get("reason", "").strip()}
    done = operated(call, operation, **given, **more)
    return addresses.address(f"{PATH}/{done['skillId']}", version=done["version"])


def _document(call: PageCall) -> bytes:
    return to_json(_examined(call).document())


PAGE = ExplorerPage(
    f"{PATH}/{{id}}",
    "artifact",
    "artifact.html",
    view,
    query=ArtifactQuery,
    permission="approve",
    is_public=False,
    forms={"json": Form("application/json", _document)},
    actions={
        "quarantine": Action("Quarantine", "approve", _quarantine, takes_away=True),
        "enable": Action("Enable", "approve", _enable),
    },
    pool="slow",
    place=150,
)
