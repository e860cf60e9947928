"""`/explore/registry/{name}/edit`: the next version of a registered skill, written in a form.

Rules kept here:
- a preview changes nothing; it is what `registry.preview_document` answers: what an agent will read, and the
  difference to the current version;
- a form with some of the fields, such as the one on the page of the skill, leaves the others as they are;
- only the fields that were changed are registered, by the operation of the REST API; a field that is too long for a
  form is left out of it, and stays as it is;
- the form names the version that it was made from, and is refused when another one is the current one by the time that
  it is registered;
- a form that is refused is shown again with what was typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.display import OF_HEADING, ShownText, shown_text
from cortex_skills.doors.explorer.page import Action, ExplorerPage, Faulty, PageCall, Redirected, not_found
from cortex_skills.doors.explorer.page_queries import RegisteredSkillQuery
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.rest.schemas import check
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.dialects.prism import ProceduralSkill
from cortex_skills.features.registry.pages.registered import (
    CHARACTERS,
    LINES,
    PATH,
    SkillOfPage,
    found_skill,
    namespace_of,
    shown_key,
    shown_lines,
    skill_address,
)
from cortex_skills.features.registry.pages.skill_fields import (
    LABELS,
    LONGEST_FORM,
    EditField,
    changed_members,
    fields_of,
    shown_fields,
)
from cortex_skills.features.registry.records.lifecycle import following_standing
from cortex_skills.features.registry.rest.procedural_skills import document_of, store_skill
from cortex_skills.features.registry.skill_previews import PreviewedDocument, preview_document


@dataclass(frozen=True, slots=True)
class EditPage:
    """The form.

    Attributes:
        name: of the skill; None for a new one.
        given: the name of a new one, as it was typed.
        version: the number of the version that the form was made from.
        following: the number of the next one.
        standing: what saving changes of its state, in words; empty if it stays.
        fields: what can be changed.
        left_out: the labels of the fields that are too long for a form, in words.
        fault: why nothing was saved; None if nothing was refused.
        reads: what an agent will read; None before a preview.
        listed: the line by which it finds the skill.
        reads_words: how much of it there is.
        changes: the difference to the current version.
        back: the page of the skill, or the registry.
        near: skills that do much the same as a new one, with their addresses.
    """

    name: ShownText | None
    given: str
    version: str
    following: int
    standing: str
    fields: tuple[EditField, ...]
    left_out: str
    fault: tuple[ShownText, ShownText] | None
    reads: tuple[ShownText, ...] | None
    listed: ShownText | None
    reads_words: str
    changes: tuple[tuple[str, ShownText], ...]
    back: str
    near: tuple[tuple[ShownText, str], ...] = ()


def view(call: PageCall) -> EditPage:
    """The form with the current version.

    Raises:
        HttpError: `not_found`.
        Redirected: an earlier version is not edited, the current one is.
    """
    found = _edited(call)
    if found.shown.id != found.record.version_id:
        raise Redirected(address_of_edit(call, found))
    return _page(call, found, str(found.shown.number), fields_of(found.registry.document(found.shown)))


def address_of_edit(call: PageCall, found: SkillOfPage) -> str:
    """The form of a skill; empty for a skill of another namespace, which is registered again by its own registry."""
    key = found.record.key
    if key.namespace != found.registry.terms.names.namespace:
        return ""
    return addresses.address(f"{addresses.registered_skill(key.name)}/edit", namespace=call.query.get("namespace"))


def _edited(call: PageCall) -> SkillOfPage:
    found = found_skill(call)
    if not address_of_edit(call, found):
        raise not_found("a skill of another namespace is not edited here")
    return found


def _page(
    call: PageCall,
    found: SkillOfPage,
    version: str,
    fields: Mapping[str, str],
    *,
    preview: PreviewedDocument | None = None,
    error: CortexError | HttpError | None = None,
) -> EditPage:
    """The form.

    Args:
        call: the call.
        found: the skill.
        version: the number of the version that the form was made from.
        fields: what is in the fields.
        preview: what would be registered.
        error: why the form is refused.
    """
    before = found.record.standing
    is_agent = call.principal.holder == "agent"
    standing = following_standing(before, "learned" if is_agent else "human")
    maker = "an agent" if is_agent else "a person"
    words = f"it is {before.lifecycle} now, and {standing.lifecycle} as a skill of {maker} after saving"
    return EditPage(
        shown_text(shown_key(found.registry, found.record.key), OF_HEADING),
        "",
        version,
        max(each.number for each in found.versions) + 1,
        "" if standing == before else words,
        tuple(shown_fields(fields)),
        ", ".join(label for name, (label, _) in LABELS.items() if name not in fields),
        shown_fault(error),
        *shown_preview(preview),
        skill_address(call, found.registry, found.record.key),
    )


def shown_fault(error: CortexError | HttpError | None) -> tuple[ShownText, ShownText] | None:
    """Why a form is refused, and what to do."""
    return None if error is None else (shown_text(error.message, 1_000), shown_text(error.hint, 1_000))


def shown_preview(
    preview: PreviewedDocument | None,
) -> tuple[tuple[ShownText, ...] | None, ShownText | None, str, tuple[tuple[str, ShownText], ...]]:
    """What an agent will read, its line in a search, how much of it there is, and the difference."""
    if preview is None:
        return None, None, "", ()
    lines = preview["reads"].splitlines()
    return (
        tuple(shown_text(line, CHARACTERS) for line in lines[:LINES]),
        shown_text(preview["listed"], 2_000),
        f"{min(len(lines), LINES):,} of {len(lines):,} lines",
        tuple(shown_lines(preview["changes"])),
    )


# --- actions


def _preview(call: PageCall, fields: Mapping[str, str]) -> EditPage:
    """The form again, with what an agent will read and the difference.

    Raises:
        Faulty: the document would be refused.
    """
    found = _edited(call)
    version = _checked_version(fields)
    try:
        document = found.registry.document(found.registry.version(found.record.version_id))
        fields = {**fields_of(document), **fields}
        _check_version(found, version)
        body = check(ProceduralSkill, {"name": found.record.key.name, **changed_members(document, fields)})
        api = call.api(namespace=namespace_of(call))
        preview = api.operate(preview_document, document=document_of(found.registry, body)[1])
        return _page(call, found, version, fields, preview=preview)
    except (CortexError, HttpError) as error:
        raise _again(call, found, version, fields, error) from None


def _save(call: PageCall, fields: Mapping[str, str]) -> str:
    """Register the next version.

    Raises:
        Faulty: nothing was saved.
    """
    found = _edited(call)
    version = _checked_version(fields)
    try:
        document = found.registry.document(found.registry.version(found.record.version_id))
        fields = {**fields_of(document), **fields}
        _check_version(found, version)
        changed = changed_members(document, fields)
        if not changed:
            raise CortexError("invalid_arguments", "nothing was changed, and nothing saved", hint="change a field")
        body = check(
            ProceduralSkill, {"name": found.record.key.name, "expectedVersion": found.record.version_id, **changed}
        )
        store_skill(replace(call.api(namespace=namespace_of(call)), body=body))
    except (CortexError, HttpError) as error:
        raise _again(call, found, version, fields, error) from None
    return skill_address(call, found.registry, found.record.key)


def _checked_version(fields: Mapping[str, str]) -> str:
    version = fields.get("version", "")
    return version if version.isdecimal() and len(version) < 10 else "0"


def _check_version(found: SkillOfPage, version: str) -> None:
    """Refuse a form that was made from another version than the current one."""
    current = found.registry.version(found.record.version_id).number
    if version != str(current):
        message = f"version {current} is the current one now, and the form was made from version {version}"
        raise CortexError("skill_changed", f"{message}: nothing was saved", hint="open the form again, and copy")


def _again(
    call: PageCall, found: SkillOfPage, version: str, fields: Mapping[str, str], error: CortexError | HttpError
) -> Faulty:
    return Faulty(_page(call, found, version, fields, error=error), error)


PAGE = ExplorerPage(
    f"{PATH}/{{name}}/edit",
    "edit",
    "edit_skill.html",
    view,
    query=RegisteredSkillQuery,
    permission="write",
    is_public=False,
    actions={
        "preview": Action("Preview", "write", _preview, form="edit", changes=False, decodes=False),
        "save": Action("Save", "write", _save, form="edit", decodes=False),
    },
    longest_form=LONGEST_FORM,
    pool="slow",
    place=210,
)
