"""What was found in an artifact that is not installed, as the page of the installation shows it."""

from __future__ import annotations

from dataclasses import dataclass

from cortex_skills.doors.explorer.display import IN_TABLE, OF_HEADING, OF_NAME, ShownText, shown_text
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.examination import AskedGrant, ExaminedArtifact

FIELD = "grant:"  # and the grant: the field of an answer, `grant` or `deny`
_CHECKS = {"passed": "ok", "warned": "warn", "failed": "bad", "skipped": "none"}
_BECOMES = {
    "new": "",
    "never": "never allowed on this host",
    "denied": "denied, as for the version before",
    "granted": "granted, as for the version before",
    "gone": "granted before, not requested any more",
}
_KINDS = {"new": "add", "gone": "gone", "never": "gone", "denied": "gone"}
_REMARKS = {"wildcard_risk": "contains *", "unused": "no module can use it"}


@dataclass(frozen=True, slots=True)
class ShownGrant:
    """A grant: its text, the name of its field, what becomes of it in words, the kind of its line."""

    text: ShownText
    field: str
    is_new: bool
    words: str
    kind: str


@dataclass(frozen=True, slots=True)
class ShownExamination:
    """What was found.

    Attributes:
        heading: which artifact, and of whom.
        facts: with their labels.
        steps, checks: of the verification and the audit: id, sign, message.
        before: the version whose grants it takes over; None for a first one.
        grants: the new ones first.
        open: how many are asked for.
        is_quarantined: whether it would be installed and not run.
        sha256, shown: fields of the form that installs it.
        refusal: why it cannot be installed, and what to do; None if it can.
    """

    heading: ShownText
    facts: tuple[tuple[str, ShownText], ...]
    steps: tuple[tuple[str, tuple[str, str], ShownText], ...]
    checks: tuple[tuple[str, tuple[str, str], ShownText], ...]
    before: ShownText | None
    grants: tuple[ShownGrant, ...]
    open: int
    is_quarantined: bool
    sha256: str
    shown: str
    refusal: tuple[ShownText, ShownText] | None


def shown_examination(found: ExaminedArtifact, digest: str) -> ShownExamination:
    """What was found; the digest is that of the file, empty if it is not kept."""
    report, prepared, error = found.report, found.prepared, found.error
    manifest, signature = report.manifest, report.signature
    name = "the file" if manifest is None else f"{manifest.skill_id} {manifest.version}, of {manifest.publisher}"
    facts = [("Key", signature.key_id if signature is not None else ""), ("Payload SHA-256", report.payload_sha256)]
    facts += [("File SHA-256", digest), ("From", prepared.options.source if prepared is not None else "")]
    checks = prepared.audit.checks if prepared is not None else ()
    return ShownExamination(
        shown_text(name, OF_HEADING),
        tuple((label, shown_text(text, OF_HEADING)) for label, text in facts if text),
        tuple((each.id, (_CHECKS[each.status], each.status), short_text(each.message)) for each in report.steps),
        tuple((each.id, (_CHECKS[each.status], each.status), short_text(each.message)) for each in checks),
        None if found.before is None else shown_text(found.before.key.version, OF_NAME),
        tuple(map(_grant, found.grants)),
        sum(each.becomes == "new" for each in found.grants),
        prepared is not None and not prepared.audit.passed,
        digest,
        "" if prepared is None else prepared.shown,
        None if error is None else (shown_refusal(error), short_text(error.hint)),
    )


def shown_refusal(error: CortexError | HttpError) -> ShownText:
    """The code and the message of an error, in a line."""
    return shown_text(" ".join(f"{error.code}: {error.message}".split()), 1_000)


def short_text(text: str) -> ShownText:
    """A text in a line, as in a table."""
    return shown_text(" ".join(text.split()), IN_TABLE)


def _grant(asked: AskedGrant) -> ShownGrant:
    words = "; ".join(filter(None, (_BECOMES[asked.becomes], *(_REMARKS[each] for each in asked.remarks))))
    text = str(asked.grant)
    return ShownGrant(short_text(text), f"{FIELD}{text}", asked.becomes == "new", words, _KINDS.get(asked.becomes, ""))
