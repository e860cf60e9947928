"""`/explore/skill-folders`: the skills of the configured folders, and what registering them would do.

Rules kept here:
- nothing is registered by opening the page; a form registers exactly what the page showed: it has a digest of that, and
  is refused when the folders or the registry have changed since;
- each skill is an operation with its record; one that is refused stops no others;
- a folder is named as the interface of programs names it, without the path that it has on the server.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256

from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import IN_TABLE, OF_NAME, ShownText, shown_text
from cortex_skills.doors.explorer.page import Action, ExplorerPage, Faulty, Form, PageCall, Repeated
from cortex_skills.doors.explorer.page_queries import OfRegistryQuery
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.errors import CortexError
from cortex_skills.features.explorer.reading import TakeAway, TextLink
from cortex_skills.features.registry.pages.registered import PATH as REGISTRY
from cortex_skills.features.registry.pages.registered import namespace_of, skill_address
from cortex_skills.features.registry.parts import registry_in
from cortex_skills.features.registry.records.skill_record import SkillKey
from cortex_skills.features.registry.rest.procedural_skills import load_human_skills
from cortex_skills.features.registry.skill_previews import PreviewedFolder, preview_folders

PATH = f"{ROOT}/skill-folders"
_ROWS = 200


@dataclass(frozen=True, slots=True)
class FolderRow:
    """A folder: its name, its skill with the address of that, what becomes of it with a sign, and what to know."""

    folder: ShownText
    name: ShownText | None
    href: str
    becomes: tuple[str, str]
    notes: tuple[ShownText, ...]


@dataclass(frozen=True, slots=True)
class FoldersView:
    """The folders.

    Attributes:
        rows: a row for each skill, and for each folder that looks like one and is not read.
        left_out: how many rows are not shown.
        new: how many would be registered.
        shown: the digest of what is shown.
        fault: why nothing was registered; None if nothing was refused.
        outcome: what was registered, and what refused; empty before.
        back: the registry.
        away: the other forms.
    """

    rows: tuple[FolderRow, ...]
    left_out: int
    new: int
    shown: str
    fault: ShownText | None
    outcome: tuple[ShownText, ...]
    back: str
    away: TakeAway


def view(call: PageCall) -> FoldersView:
    """What would be registered.

    Raises:
        HttpError: as `namespace_of`.
    """
    return _view(call, _previewed(call))


def _previewed(call: PageCall) -> list[PreviewedFolder]:
    return call.api(namespace=namespace_of(call)).operate(preview_folders)


def _digest(found: Iterable[PreviewedFolder]) -> str:
    return sha256(json.dumps(list(found), sort_keys=True).encode()).hexdigest()


def _view(call: PageCall, found: list[PreviewedFolder], fault: str = "", outcome: Iterable[str] = ()) -> FoldersView:
    here = addresses.address(PATH, namespace=call.query.get("namespace"))
    return FoldersView(
        tuple(_row(call, each) for each in found[:_ROWS]),
        max(0, len(found) - _ROWS),
        sum(each["created"] for each in found),
        _digest(found),
        shown_text(fault, 1_000) if fault else None,
        tuple(shown_text(line, 500) for line in outcome),
        addresses.address(REGISTRY, namespace=call.query.get("namespace")),
        TakeAway((TextLink("JSON", addresses.in_form(here, "json")),), "application/json", here),
    )


def _row(call: PageCall, found: PreviewedFolder) -> FolderRow:
    name, version = found["name"], found["version"]
    notes = list(found["warnings"])
    if found["code"] and found["message"]:
        notes.insert(0, f"{found['code']}: {' '.join(found['message'].split())}")
    if name is None:
        becomes = ("bad", "refused") if found["code"] else ("none", "left out")
        return FolderRow(_folder(found), None, "", becomes, tuple(shown_text(text, 500) for text in notes))
    words = f"version {version}, new" if found["created"] else f"version {version}, as it is registered"
    registry = call.service.host(namespace_of(call)).part(registry_in)
    is_there = not found["created"] or version != 1
    return FolderRow(
        _folder(found),
        shown_text(name, OF_NAME),
        skill_address(call, registry, SkillKey(registry.terms.names.namespace, name)) if is_there else "",
        ("ok" if found["created"] else "none", words),
        tuple(shown_text(text, IN_TABLE) for text in notes),
    )


def _folder(found: PreviewedFolder) -> ShownText:
    return shown_text(found["folder"], OF_NAME)


def _load(call: PageCall, fields: Mapping[str, str]) -> FoldersView:
    """Register what was shown.

    Raises:
        Faulty: nothing was registered: something else would be now.
    """
    before = _previewed(call)
    if fields.get("shown") != _digest(before):
        message = "the folders or the registry have changed since they were shown, and nothing was registered"
        raise Faulty(_view(call, before, f"{message}: look again"), CortexError("skill_changed", message))
    done = load_human_skills(replace(call.api(namespace=namespace_of(call)), body=None))
    lines = [f"{done['loaded']:,} registered, new or as they were", *(f"Refused: {each}" for each in done["errors"])]
    return _view(call, _previewed(call), outcome=lines)


def _repeated(call: PageCall, fields: Mapping[str, str]) -> Repeated:  # noqa: ARG001 - what would be done now
    lines = [
        ("add", shown_text(f"{each['name']} version {each['version']}"))
        for each in _previewed(call)[:_ROWS]
        if each["created"]
    ]
    return Repeated(shown_text(f"{len(lines):,} skills of the configured folders"), tuple(lines))


PAGE = ExplorerPage(
    PATH,
    "skill-folders",
    "skill_folders.html",
    view,
    query=OfRegistryQuery,
    permission="write",
    is_public=False,
    forms={"json": Form("application/json", lambda call: to_json({"folders": _previewed(call)}))},
    actions={"load": Action("Register them", "write", _load, repeats=_repeated)},
    pool="slow",
    place=220,
)
