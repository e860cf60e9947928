"""`/explore/install`: an artifact is given as a file or taken from an accepted index, looked at, and installed.

Rules kept here:
- a file is kept in memory for the one who gave it (`held_artifacts.py`), and verified and audited as an installation
  does (`artifacts.examine`): its modules are started in the sandbox, without host functions, where its publisher is
  trusted, and nothing else of it runs;
- what it requests is asked for one by one, without a choice made beforehand; what the version before was asked for is
  stated, and what is new is marked;
- the form that installs has a digest of what was shown: the file, the version before with its grants, the audit and the
  trust. With another one nothing is installed;
- whom to trust is decided by the owner, not here: the page states which command does it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Annotated

from pydantic import Field

from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import IN_TABLE, OF_HEADING, OF_NAME, ShownText, shown_text
from cortex_skills.doors.explorer.page import Action, ExplorerPage, Faulty, PageCall, Repeated
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.rest.model_types import ApiModel
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.artifact_operations import AskedGrants, install
from cortex_skills.features.artifacts.examination import (
    accepted_indexes,
    download_artifact,
    examine,
    offers,
)
from cortex_skills.features.artifacts.held_artifacts import HeldArtifact, HeldArtifacts, held_in
from cortex_skills.features.artifacts.installed.artifact_grants import read_grant
from cortex_skills.features.artifacts.installed.grant_decisions import GrantAnswers
from cortex_skills.features.artifacts.installed.installation import InstallOptions, PreparedInstall
from cortex_skills.features.artifacts.package import ExpectedArtifact
from cortex_skills.features.artifacts.package.archive import MAX_ARCHIVE
from cortex_skills.features.artifacts.pages.artifact_list import PATH as LIST
from cortex_skills.features.artifacts.pages.artifact_list import operated
from cortex_skills.features.artifacts.pages.examined_artifact import (
    FIELD,
    ShownExamination,
    short_text,
    shown_examination,
    shown_refusal,
)

PATH = f"{ROOT}/install"
_OFFERS = 100
_MOST_GRANTS = 300


class InstallQuery(ApiModel, total=False):
    """Which artifact is updated."""

    id: Annotated[str, Field(min_length=1, max_length=256)]


@dataclass(frozen=True, slots=True)
class ShownOffer:
    """An artifact of an index: its id, version, publisher, summary and requests, with the values of its form."""

    id: str
    name: ShownText
    version: str
    publisher: ShownText
    summary: ShownText
    requests: ShownText


@dataclass(frozen=True, slots=True)
class InstallView:
    """The page.

    Attributes:
        id: the artifact that is updated; empty for any.
        name: the same as it is shown.
        indexes: their addresses, as values and as they are shown.
        offers: of an index; None before one was read.
        left_out: how many offers are not shown.
        index: the address of that index.
        examined: what was found in an artifact; None before one was given.
        fault: why nothing was done.
        most: MiB of a file.
        back: the list of what is installed.
    """

    id: str
    name: ShownText
    indexes: tuple[tuple[str, ShownText], ...]
    offers: tuple[ShownOffer, ...] | None = None
    left_out: int = 0
    index: str = ""
    examined: ShownExamination | None = None
    fault: tuple[ShownText, ShownText] | None = None
    most: int = MAX_ARCHIVE >> 20
    back: str = LIST


def view(call: PageCall) -> InstallView:
    """The forms that give an artifact.

    Raises:
        HttpError: `permission_denied`.
    """
    indexes = operated(call, accepted_indexes)
    wanted = call.query.get("id", "")
    return InstallView(
        wanted, shown_text(wanted, OF_NAME), tuple((each.url, shown_text(each.url, OF_HEADING)) for each in indexes)
    )


def _held(call: PageCall) -> HeldArtifacts:
    return call.api(namespace=call.service.plugin.graph.namespace).part(held_in)


def _options(call: PageCall, expected: ExpectedArtifact | None = None, source: str = "") -> InstallOptions:
    first_use = call.service.plugin.config.verification.trust_on_first_use
    expected = expected or ExpectedArtifact(call.query.get("id", ""))
    return InstallOptions(expected=expected, first_use=first_use, source=source)


def _given(call: PageCall, fields: Mapping[str, str]) -> InstallView:  # noqa: ARG001 - the file is the form
    """Keep the file, and show what is in it.

    Raises:
        Faulty: it is none, or cannot be installed.
    """
    data = call.files.get("file", b"")
    if not data:
        error = CortexError("invalid_arguments", "no file was given", hint="choose a .palyra-skill file")
        raise Faulty(_with_fault(call, error), error)
    return _examined(call, data, _options(call))


def _downloaded(call: PageCall, fields: Mapping[str, str]) -> InstallView:
    """Download an artifact of an index, keep it, and show what is in it.

    Raises:
        Faulty: it cannot be had, or not be installed.
    """
    given = {"url": fields.get("url", ""), "id": fields.get("id", ""), "version": fields.get("version") or None}
    try:
        wanted = call.query.get("id")
        if wanted and given["id"] != wanted:
            raise CortexError("invalid_arguments", "it is another artifact than the one that is updated")
        found = operated(call, download_artifact, **given)
    except (CortexError, HttpError) as error:
        raise Faulty(_with_fault(call, error), error) from None
    return _examined(call, found.data, _options(call, found.entry.expected, found.url))


def _offered(call: PageCall, fields: Mapping[str, str]) -> InstallView:
    """Read an index, and list what it has.

    Raises:
        Faulty: it cannot be read, or is refused.
    """
    try:
        index = operated(call, offers, url=fields.get("url", ""))
    except (CortexError, HttpError) as error:
        raise Faulty(_with_fault(call, error), error) from None
    wanted = call.query.get("id", "")
    found = [each for each in index.search(fields.get("words", "").split()) if wanted in ("", each.skill_id)]
    rows = tuple(
        ShownOffer(
            each.skill_id,
            shown_text(each.skill_id, OF_NAME),
            each.version,
            shown_text(each.publisher, OF_NAME),
            shown_text(each.summary, IN_TABLE),
            shown_text(", ".join(each.capabilities) or "nothing", IN_TABLE),
        )
        for each in found[:_OFFERS]
    )
    return replace(view(call), offers=rows, left_out=max(0, len(found) - _OFFERS), index=index.url)


def _with_fault(call: PageCall, error: CortexError | HttpError) -> InstallView:
    fault = (shown_refusal(error), short_text(error.hint))
    return replace(view(call), fault=fault)


def _examined(call: PageCall, data: bytes, options: InstallOptions) -> InstallView:
    """Verify and audit an artifact, keep it if it can be installed, and show what was found.

    Raises:
        Faulty: it is refused, or cannot be kept.
    """
    try:
        found = operated(call, examine, data=data, options=options)
        if found.prepared is not None and sum(each.becomes == "new" for each in found.grants) > _MOST_GRANTS:
            hint = "use `cortex-skills install`"
            raise CortexError("invalid_arguments", f"it requests more than {_MOST_GRANTS} grants", hint=hint)
        digest = "" if found.prepared is None else _held(call).put(call.principal.name, data, options)
    except (CortexError, HttpError) as error:
        raise Faulty(_with_fault(call, error), error) from None
    shown = replace(view(call), examined=shown_examination(found, digest))
    if found.error is not None:
        raise Faulty(shown, found.error)
    return shown


def _answers(fields: Mapping[str, str]) -> GrantAnswers:
    """What was answered; what was not is open, and refused by the installation.

    Raises:
        CortexError: `invalid_arguments`.
    """
    found: dict[str, set[str]] = {"grant": set(), "deny": set()}
    for name, answer in fields.items():
        if name.startswith(FIELD):
            if answer not in found:
                raise CortexError("invalid_arguments", "an answer is `grant` or `deny`", hint="choose one for each")
            found[answer].add(name.removeprefix(FIELD))
    return GrantAnswers(frozenset(map(read_grant, found["grant"])), frozenset(map(read_grant, found["deny"])))


def _install(call: PageCall, fields: Mapping[str, str]) -> str:
    """Install what was shown; the page of the version.

    Raises:
        Faulty: nothing was installed.
    """

    def ask(prepared: PreparedInstall, answers: GrantAnswers) -> GrantAnswers:
        if prepared.shown != fields.get("shown"):
            message = "the artifact, the version before, its audit or its trust is not as it was shown"
            raise CortexError("state_conflict", f"{message}: nothing was installed", hint="look at it again")
        return answers

    held: HeldArtifact | None = None
    try:
        held = _kept(call, fields)
        asked = AskedGrants(_answers(fields), ask)
        done = operated(call, install, data=held.data, options=held.options, answers=asked)
    except (CortexError, HttpError) as error:
        raise Faulty(_again(call, held, error), error) from None
    _held(call).drop(call.principal.name)
    return addresses.address(f"{LIST}/{done['skillId']}", version=done["version"])


def _again(call: PageCall, held: HeldArtifact | None, error: CortexError | HttpError) -> InstallView:
    """The page with why nothing was installed, and the artifact as it is now if it is still kept."""
    page = _with_fault(call, error)
    if held is None:
        return page
    found = operated(call, examine, data=held.data, options=held.options)
    return replace(page, examined=shown_examination(found, sha256(held.data).hexdigest()))


def _kept(call: PageCall, fields: Mapping[str, str]) -> HeldArtifact:
    return _held(call).get(call.principal.name, fields.get("sha256", ""))


def _repeated(call: PageCall, fields: Mapping[str, str]) -> Repeated:
    """What is installed, and what it may do then, for the page that asks for the token again."""
    try:
        held = _kept(call, fields)
        found = operated(call, examine, data=held.data, options=held.options)
        answers = _answers(fields)
    except (CortexError, HttpError) as error:
        return Repeated(shown_text(error.message, 1_000))
    if found.prepared is None:
        return Repeated(shown_text("it is refused now"))
    decision = found.prepared.decide(answers)
    lines = [
        *(("add", short_text(f"{grant} granted")) for grant in sorted(decision.granted)),
        *(("gone", short_text(f"{grant} denied")) for grant in sorted(decision.denied)),
        *(("gone", short_text(f"{grant} was not answered")) for grant in sorted(decision.open)),
    ]
    return Repeated(shown_text(f"{found.prepared.key} of {found.prepared.manifest.publisher}"), tuple(lines))


PAGE = ExplorerPage(
    PATH,
    "install",
    "install_artifact.html",
    view,
    query=InstallQuery,
    permission="approve",
    is_public=False,
    actions={
        "give": Action("Look at it", "approve", _given, changes=False),
        "offers": Action("List what it has", "approve", _offered),
        "download": Action("Look at it", "approve", _downloaded),
        "install": Action("Install", "approve", _install, repeats=_repeated),
    },
    longest_form=512 << 10,
    most_fields=_MOST_GRANTS + 20,
    longest_file=MAX_ARCHIVE,
    pool="slow",
    place=145,
)
