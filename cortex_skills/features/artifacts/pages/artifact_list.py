"""`/explore/artifacts`: the artifacts that are installed in the namespace of this server.

Rules kept here:
- a caller needs the permission `approve`, as over REST, and a token that opens this namespace;
- an artifact that was changed in the store is named, and has no page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import IN_TABLE, OF_NAME, ShownText, shown_text
from cortex_skills.doors.explorer.inbox import Attention
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.features.artifacts.artifact_operations import InstalledList, list_artifacts
from cortex_skills.features.artifacts.installed.host_findings import ON_THIS_HOST
from cortex_skills.features.artifacts.installed.installed_artifact import OF_A_HOST
from cortex_skills.features.explorer.reading import TakeAway, TextLink
from cortex_skills.operations.operation import Operation, R

PATH = f"{ROOT}/artifacts"
KINDS = {"active": "ok", "quarantined": "bad", "disabled": "none"}


@dataclass(frozen=True, slots=True)
class ArtifactRow:
    """A version: its page, id, version, publisher, kinds of grants, status with its reason, and last audit."""

    href: str
    name: ShownText
    version: ShownText
    is_current: bool
    publisher: ShownText
    grants: ShownText
    status: tuple[str, str]
    reason: ShownText | None
    audit: tuple[str, str]
    installed: str


@dataclass(frozen=True, slots=True)
class ArtifactListView:
    """What is installed."""

    rows: tuple[ArtifactRow, ...]
    damaged: tuple[ShownText, ...]
    install: str
    away: TakeAway


def view(call: PageCall) -> ArtifactListView:
    """What is installed.

    Raises:
        HttpError: `permission_denied`.
    """
    listed = _listed(call)
    return ArtifactListView(
        tuple(map(row, listed["artifacts"])),
        tuple(shown_text(skill_id, OF_NAME) for skill_id in listed["damaged"]),
        f"{ROOT}/install",
        TakeAway((TextLink("JSON", f"{PATH}?format=json"),), "application/json", PATH),
    )


def operated(call: PageCall, operation: Operation[Any, R], **given: Any) -> R:
    """The answer of an operation on the artifacts of this server.

    Raises:
        HttpError: `permission_denied`: the caller may not use their namespace.
    """
    return call.api(namespace=call.service.plugin.graph.namespace).operate(operation, **given)


def attention(call: PageCall) -> Iterator[Attention]:
    """The artifacts that are quarantined, stopped on a host, or damaged, for a caller who may see them."""
    if "approve" not in call.principal.permissions:
        return
    listed = _listed(call)
    stopped = sum(map(_stops_somewhere, listed["artifacts"]))
    quarantined = sum(each["status"] == "quarantined" and not _stops_somewhere(each) for each in listed["artifacts"])
    numbers = {"quarantined": quarantined, "stopped on a host": stopped, "changed": len(listed["damaged"])}
    for word, number in numbers.items():
        if number:
            yield Attention("bad", word, f"{number} of the installed", "artifacts", PATH, "artifacts", number)


def _stops_somewhere(artifact: Mapping[str, Any]) -> bool:
    """Whether a finding about one host, which no person accepted, stops a version, on this host or on another one."""
    if artifact["status"] != "active":
        return artifact["status"] == "quarantined" and str(artifact["reason"]).startswith(ON_THIS_HOST)
    return any(each.startswith(OF_A_HOST) for each in {*artifact["findings"]}.difference(artifact["accepted"]))


def row(artifact: Mapping[str, Any]) -> ArtifactRow:
    """A version as a row."""
    findings = len(artifact["findings"])
    grants = ", ".join(sorted({grant.partition("=")[0] for grant in artifact["grants"]}))
    return ArtifactRow(
        addresses.address(f"{PATH}/{artifact['skillId']}", version=artifact["version"]),
        shown_text(artifact["skillId"], OF_NAME),
        shown_text(artifact["version"], OF_NAME),
        artifact["current"],
        shown_text(artifact["publisher"], OF_NAME),
        shown_text(grants or "nothing", IN_TABLE),
        (KINDS[artifact["status"]], artifact["status"]),
        shown_text(artifact["reason"], IN_TABLE) if artifact["reason"] else None,
        ("bad", f"{findings} finding{'' if findings == 1 else 's'}") if findings else ("ok", "passed"),
        f"{datetime.fromisoformat(artifact['installedAt']):%Y-%m-%d %H:%M} UTC",
    )


def _document(call: PageCall) -> bytes:
    listed = _listed(call)
    return to_json({"artifacts": listed["artifacts"], "changed": listed["damaged"]})


def _listed(call: PageCall) -> InstalledList:
    """Everything: a person looks here at what is quarantined, too."""
    return operated(call, list_artifacts, all=True)


PAGE = ExplorerPage(
    PATH,
    "artifacts",
    "artifacts.html",
    view,
    permission="approve",
    is_public=False,
    forms={"json": Form("application/json", _document)},
    label="Artifacts",
    section="Trust",
    keys="g i",
    place=140,
)
