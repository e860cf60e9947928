"""`/explore/new-skill`: a skill is written in a form, and registered as its first version.

Rules kept here:
- a preview changes nothing: what an agent will read of it, and which skills do much the same;
- a name that is taken is refused, and nothing is registered;
- a form that is refused is shown again with what was typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import ShownText, shown_name
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import Action, ExplorerPage, Faulty, PageCall
from cortex_skills.doors.explorer.page_queries import OfRegistryQuery
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.rest.schemas import check
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.dialects.prism import ProceduralSkill
from cortex_skills.features.registry.pages.edit_skill import EditPage, shown_fault, shown_preview
from cortex_skills.features.registry.pages.registered import PATH as REGISTRY
from cortex_skills.features.registry.pages.registered import namespace_of, shown_key, skill_address
from cortex_skills.features.registry.pages.skill_fields import LONGEST_FORM, MOST, changed_members, shown_fields
from cortex_skills.features.registry.parts import registry_in
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.rest.procedural_skills import document_of
from cortex_skills.features.registry.skill_changes import register
from cortex_skills.features.registry.skill_previews import PreviewedDocument, preview_document
from cortex_skills.features.registry.skill_reads import find_skills

PATH = f"{ROOT}/new-skill"
_NEAR = 5  # skills that do much the same
_LONGEST_TEXT = 1_000  # characters of it that are searched for


def view(call: PageCall) -> EditPage:
    """An empty form.

    Raises:
        HttpError: as `namespace_of`.
    """
    return _page(call, {})


def _page(
    call: PageCall,
    fields: Mapping[str, str],
    preview: PreviewedDocument | None = None,
    error: CortexError | HttpError | None = None,
    near: tuple[tuple[ShownText, str], ...] = (),
) -> EditPage:
    namespace_of(call)
    return EditPage(
        None,
        to_field(fields.get("name", ""), typed=True),
        "",
        1,
        "" if preview is None else f"it begins as {preview['lifecycle']}",
        tuple(shown_fields({**dict.fromkeys(MOST, ""), **fields})),
        "",
        shown_fault(error),
        *shown_preview(preview),
        addresses.address(REGISTRY, namespace=call.query.get("namespace")),
        near,
    )


def _registry(call: PageCall) -> SkillRegistry:
    return call.service.host(namespace_of(call)).part(registry_in)


def _body(fields: Mapping[str, str]) -> dict[str, Any]:
    """The members of the operation.

    Raises:
        HttpError: `invalid_arguments`: the name is none, or a field is too long.
    """
    body: dict[str, Any] = check(
        ProceduralSkill, {"name": fields.get("name", "").strip(), **changed_members(None, fields)}
    )
    return body


def _preview(call: PageCall, fields: Mapping[str, str]) -> EditPage:
    """The form again, with what an agent will read.

    Raises:
        Faulty: the document would be refused.
    """
    try:
        registry = _registry(call)
        record, document = document_of(registry, _body(fields))
        if record is not None:
            hint = "choose another name, or edit it on its page"
            raise CortexError("skill_exists", f"{record.key} is registered already", hint=hint)
        preview = call.api(namespace=namespace_of(call)).operate(preview_document, document=document)
        return _page(call, fields, preview, near=_near(call, registry, document.description))
    except (CortexError, HttpError) as error:
        raise Faulty(_page(call, fields, error=error), error) from None


def _near(call: PageCall, registry: SkillRegistry, text: str) -> tuple[tuple[ShownText, str], ...]:
    """The skills that are found by a description."""
    try:
        api = call.api(namespace=namespace_of(call))
        found = api.operate(find_skills, query=text[:_LONGEST_TEXT], limit=_NEAR, among="all", timeout_s=1.0)
    except CortexError:  # the skills are being indexed
        return ()
    keys = [each.record.key for each in found.skills]
    return tuple((shown_name(shown_key(registry, key)), skill_address(call, registry, key)) for key in keys)


def _save(call: PageCall, fields: Mapping[str, str]) -> str:
    """Register the skill.

    Raises:
        Faulty: nothing was registered.
    """
    try:
        registry = _registry(call)
        document = document_of(registry, _body(fields))[1]
        done = call.api(namespace=namespace_of(call)).operate(register, document=document, create_only=True)
    except (CortexError, HttpError) as error:
        raise Faulty(_page(call, fields, error=error), error) from None
    return skill_address(call, registry, done.version.key)


PAGE = ExplorerPage(
    PATH,
    "new-skill",
    "edit_skill.html",
    view,
    query=OfRegistryQuery,
    permission="write",
    is_public=False,
    actions={
        "preview": Action("Preview", "write", _preview, form="new", changes=False, decodes=False),
        "save": Action("Register", "write", _save, form="new", decodes=False),
    },
    longest_form=LONGEST_FORM,
    pool="slow",
    place=215,
)
