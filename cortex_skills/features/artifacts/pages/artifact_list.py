"""`/explore/artifacts`: the artifacts that are installed in the namespace of this server.

Rules kept here:
- a caller needs the permission `approve`, as over REST, and a token that opens this namespace;
- an artifact that was changed in the store is named, and has no page.
"""

from __future__ import annotations

from dataclasses import dataclass

from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import IN_TABLE, OF_NAME, ShownText, shown_text
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.features.artifacts.installed import InstalledArtifact, InstalledArtifacts
from cortex_skills.features.explorer.reading import TakeAway, TextLink

PATH = f"{ROOT}/artifacts"
KINDS = {"active": "ok", "quarantined": "bad", "disabled": "none"}


@dataclass(frozen=True, slots=True)
class ArtifactRow:
    """A version: its page, id, version, publisher, kinds of grants, status and last audit with their signs."""

    href: str
    name: ShownText
    version: ShownText
    is_current: bool
    publisher: ShownText
    grants: ShownText
    status: tuple[str, str]
    audit: tuple[str, str]
    installed: str


@dataclass(frozen=True, slots=True)
class ArtifactListView:
    """What is installed."""

    rows: tuple[ArtifactRow, ...]
    damaged: tuple[ShownText, ...]
    away: TakeAway


def view(call: PageCall) -> ArtifactListView:
    """What is installed.

    Raises:
        HttpError: `permission_denied`.
    """
    listed = installed_of(call).index.everything()
    return ArtifactListView(
        tuple(row(each) for artifact in listed.artifacts for each in artifact.versions),
        tuple(shown_text(skill_id, OF_NAME) for skill_id in listed.damaged),
        TakeAway((TextLink("JSON", f"{PATH}?format=json"),), "application/json", PATH),
    )


def installed_of(call: PageCall) -> InstalledArtifacts:
    """The artifacts of this server.

    Raises:
        HttpError: `permission_denied`: the caller may not use their namespace.
    """
    plugin = call.service.plugin
    if not call.principal.may_use(plugin.graph.namespace):
        hint = "ask for a token that opens the namespace in which the artifacts are installed"
        raise HttpError("permission_denied", "your token does not open the namespace of these artifacts", hint=hint)
    return plugin.installed


def row(artifact: InstalledArtifact) -> ArtifactRow:
    """A version as a row."""
    key, findings = artifact.key, len(artifact.findings)
    grants = ", ".join(sorted({grant.kind for grant in artifact.grants.grants()}))
    return ArtifactRow(
        addresses.address(f"{PATH}/{key.skill_id}", version=key.version),
        shown_text(key.skill_id, OF_NAME),
        shown_text(key.version, OF_NAME),
        artifact.current,
        shown_text(artifact.publisher, OF_NAME),
        shown_text(grants or "nothing", IN_TABLE),
        (KINDS[artifact.status], artifact.status),
        ("bad", f"{findings} finding{'' if findings == 1 else 's'}") if findings else ("ok", "passed"),
        f"{artifact.installed_at:%Y-%m-%d %H:%M} UTC",
    )


def _document(call: PageCall) -> bytes:
    listed = installed_of(call).index.everything()
    versions = [each.to_json() for artifact in listed.artifacts for each in artifact.versions]
    return to_json({"artifacts": versions, "changed": list(listed.damaged)})


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
