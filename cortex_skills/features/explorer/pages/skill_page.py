"""`/explore/skills/{name}`: one skill, loaded or refused; `NAME@VERSION` for one version of it.

Rules kept here:
- the source is that of its folder now, scanned for this page; the page states whether it is what was loaded;
- sources are shown to callers with a token only, and calls to those who may read the audit;
- no folder of this machine is shown, and nothing of a skill is executed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cortex_skills.audit.recent_calls import CallFilter
from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import OF_HEADING, ShownText, shown_name, shown_text
from cortex_skills.doors.explorer.page import ExplorerPage, Form, Near, PageCall, not_found
from cortex_skills.doors.explorer.page_queries import SkillQuery
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.errors import CortexError
from cortex_skills.features.explorer.pages.audit_page import CallRow, call_row
from cortex_skills.features.explorer.pages.skill_list import (
    Meter,
    RefusedCard,
    SkillCard,
    card_of,
    meters_of,
    refused_cards,
    without_folder,
)
from cortex_skills.features.explorer.reading import TakeAway, TextLink
from cortex_skills.lifecycle.reload.report import Rejected
from cortex_skills.plugin import Plugin
from cortex_skills.runtime.skill import PLAIN, Skill
from cortex_skills.scanner import Finding, scan_sources
from cortex_skills.skill_folder.snapshot import MANIFEST, SkillSnapshot, read_beside, read_skill

_LINES = 400
_CHARACTERS = 200
_CALLS = 12
_MANIFEST = 256 << 10  # bytes
_MAY = {
    "graph:read": "read the triples of its namespace",
    "graph:write": "assert and remove triples with the predicates below",
    "proofs:request": "make proofs",
    "proofs:verify": "verify proofs",
    "proofs:publish": "store proofs",
    "memory:recall": "read memories of the agent",
    "memory:remember": "store memories of the agent",
}


@dataclass(frozen=True, slots=True)
class MayDo:
    """A permission in words; whether the skill has it."""

    permission: str
    words: str
    is_granted: bool


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a source, with what the scanner found in it."""

    text: ShownText
    findings: tuple[tuple[str, ShownText], ...]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a skill.

    Attributes:
        tabs: all files.
        name: the shown one.
        lines: its beginning.
        length: the number of all lines.
        whole: the address of its whole text.
        findings: how many findings all files have.
    """

    tabs: tuple[TextLink, ...]
    name: ShownText
    lines: tuple[SourceLine, ...]
    length: int
    whole: str
    findings: int


@dataclass(frozen=True, slots=True)
class SignatureShown:
    """The signature of a skill: whether it was verified, the publisher, the key, since when it is trusted."""

    kind: str
    words: str
    remarks: tuple[ShownText, ...]


@dataclass(frozen=True, slots=True)
class SkillView:
    """One skill.

    Attributes:
        name: its name.
        card: of the loaded version; None if none is.
        refused: the version that was refused; None if none was.
        may: its permissions.
        asserts, queries, tools: what its manifest declares.
        meters: its budgets.
        signature: who signed it.
        differs: whether the folder holds other files than the loaded version.
        changes: what its last reload changed, the permissions first: words, and whether it permits the skill more.
        source: a file of it; None for a caller without a token.
        calls: its latest calls; None for a caller who may not read the audit.
    """

    name: ShownText
    card: SkillCard | None
    refused: RefusedCard | None
    may: tuple[MayDo, ...]
    asserts: tuple[tuple[ShownText, bool], ...]
    queries: tuple[tuple[ShownText, str], ...]
    tools: ShownText
    meters: tuple[Meter, ...]
    signature: SignatureShown | None
    differs: bool
    changes: tuple[tuple[ShownText, bool], ...]
    source: SourceFile | None
    calls: tuple[CallRow, ...] | None
    away: TakeAway


def view(call: PageCall) -> SkillView:
    """One skill.

    Raises:
        HttpError: `not_found`.
    """
    plugin = call.service.plugin
    name, skill, refused = _found(call)
    folder = skill.folder if skill is not None else refused.folder if refused is not None else Path()
    snapshot = read_skill(folder)
    card = next((each for each in refused_cards(plugin) if each.name.plain == shown_name(name).plain), None)
    semantic = snapshot.manifest.semantic if snapshot.manifest is not None else None
    declared = skill.semantic if skill is not None else semantic or PLAIN
    granted = declared.permissions.names()
    change = plugin.last_reloads.get(name)
    differences = () if change is None else sorted(change.differences, key=lambda each: not each.security)
    calls = None
    if "audit" in call.principal.permissions:
        page = plugin.audit.calls.page(CallFilter(skill=name), limit=_CALLS)
        calls = tuple(call_row(call, each) for each in page.calls)
    here = addresses.skill(call.path["name"])
    return SkillView(
        shown_name(name, OF_HEADING),
        None if skill is None else card_of(plugin, skill),
        card if refused is not None else None,
        tuple(MayDo(permission, words, permission in granted) for permission, words in _MAY.items()),
        tuple((shown_name(each.predicate), each.require_proof) for each in declared.assertions),
        tuple((shown_name(each.predicate), each.scope) for each in declared.queries),
        shown_text(", ".join(declared.allowed_tools), 1_000),
        () if skill is None else meters_of(plugin, skill),
        _signature(plugin, snapshot, skill),
        skill is not None and not skill.is_from(snapshot.manifest, snapshot.digests),
        tuple((shown_text(str(each)), each.security) for each in differences),
        _source(call, snapshot) if call.principal.has_token else None,
        calls,
        TakeAway((TextLink("JSON", addresses.address(here, format="json")),), "application/json", here),
    )


def _found(call: PageCall) -> tuple[str, Skill | None, Rejected | None]:
    """The loaded skill, and the refused version of it.

    Raises:
        HttpError: `not_found`.
    """
    plugin = call.service.plugin
    name, _, version = call.path["name"].partition("@")
    skill: Skill | None = None
    refused: Rejected | None = None
    if call.principal.may_use(plugin.graph.namespace):
        skill = plugin.skills.get(name)
        refused = next((each for each in plugin.rejected if each.name == name), None)
    loaded = None if skill is None else skill.semantic.skill_version
    if (skill is None and refused is None) or (version and version != loaded):
        near = () if loaded is None else (Near(f"{name} {loaded}", addresses.skill(name)),)
        raise not_found("no such skill, or no such version of it, is loaded here", near)
    return name, skill, refused


def _signature(plugin: Plugin, snapshot: SkillSnapshot, skill: Skill | None) -> SignatureShown | None:
    if not plugin.config.verification.require_signature:
        why = "the configuration loads skills without a signature"
        return SignatureShown("none", "not required", (shown_text(why),))
    from cortex_skills.keys.folder import own_keys
    from cortex_skills.signatures import Verifier
    from cortex_skills.signatures.skill_files import files_of

    verifier = Verifier.of(plugin.config)
    try:
        statement = verifier.signature_of(snapshot, files_of(snapshot.folder)).statement
        publisher = verifier.trust.trust().publishers.get(statement.publisher)
    except CortexError as error:
        return SignatureShown("warn", "no signature", (shown_text(without_folder(error.message, snapshot.folder)),))
    remarks = [f"by {statement.publisher}, key {statement.key}", f"signed {statement.signed}"]
    remarks.append(f"digest {statement.digest.hex()}")
    if statement.key in own_keys(plugin.config):
        remarks.append("own key: it was made on this installation")
    if publisher is not None:
        remarks.append(f"the publisher is trusted since {publisher.since} ({publisher.how})")
    verified = skill is not None and skill.signed is not None
    words = "verified when it was loaded" if verified else "not verified"
    return SignatureShown("ok" if verified else "none", words, tuple(map(shown_text, remarks)))


def _source(call: PageCall, snapshot: SkillSnapshot) -> SourceFile | None:
    texts = _texts(snapshot)
    if not texts:
        return None
    findings = [*snapshot.findings, *scan_sources(_scanned(snapshot))]
    name, here = _chosen(call, texts), addresses.skill(call.path["name"])
    lines = texts[name].splitlines()
    at: dict[int, list[tuple[str, ShownText]]] = {}
    for finding in findings:
        if finding.file == name:
            at.setdefault(finding.line, []).append((finding.severity, _note(finding)))
    return SourceFile(
        tuple(TextLink(shown_name(each, 60).plain, addresses.address(here, file=each), each == name) for each in texts),
        shown_name(name, 60),
        tuple(
            SourceLine(shown_text(line, _CHARACTERS, lines=2), tuple(at.get(place, ())))
            for place, line in enumerate(lines[:_LINES], 1)
        ),
        len(lines),
        addresses.address(here, file=name, format="text"),
        len(findings),
    )


def _texts(snapshot: SkillSnapshot) -> dict[str, str]:
    """The files of a skill; with a manifest that is invalid."""
    data = None if snapshot.manifest_texts else read_beside(snapshot.folder / MANIFEST, _MANIFEST)
    return {**({MANIFEST: data.decode("utf-8", "replace")} if data else {}), **snapshot.texts()}


def _scanned(snapshot: SkillSnapshot) -> Mapping[str, str]:
    return {**snapshot.manifest_texts, **snapshot.sources, **snapshot.tests}


def _chosen(call: PageCall, texts: Mapping[str, str]) -> str:
    """The file that was asked for, or the most interesting one.

    Raises:
        HttpError: `not_found`.
    """
    asked = call.query.get("file")
    if asked:
        if asked not in texts:
            raise not_found("the skill has no such file")
        return str(asked)
    return next((name for name in ("skill.ts", "skill.js", MANIFEST) if name in texts), next(iter(texts)))


def _note(finding: Finding) -> ShownText:
    return shown_text(f"{finding.severity}, {finding.rule}: {finding.message}. {finding.hint}", 600)


def _document(call: PageCall) -> bytes:
    from cortex_skills.doors.rest.skills import list_skills

    name, _, refused = _found(call)
    namespace = call.service.plugin.graph.namespace
    document = list_skills(call.api(namespace=namespace)).document
    loaded = next((each for each in document["skills"] if each["name"] == name), None)
    rejected = next((each for each in document["rejected"] if each["name"] == name), None) if refused else None
    return to_json({"name": name, "loaded": loaded, "refused": rejected})


def _text(call: PageCall) -> bytes:
    """The whole text of a file."""
    if not call.principal.has_token:
        call.principal.require("write")  # anonymous callers read no source
    _, skill, refused = _found(call)
    folder = skill.folder if skill is not None else refused.folder if refused is not None else Path()
    texts = _texts(read_skill(folder))
    if not texts:
        raise not_found("the skill has no file that can be read")
    return texts[_chosen(call, texts)].encode("utf-8", "replace")


PAGE = ExplorerPage(
    f"{ROOT}/skills/{{name}}",
    "skill",
    "skill.html",
    view,
    query=SkillQuery,
    forms={"json": Form("application/json", _document), "text": Form("text/plain", _text)},
    pool="slow",
    place=180,
)
