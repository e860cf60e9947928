r"""One rule of a person: what an agent may do without a request for each call; pure.

Rules kept here:
- a rule is made from a request, and is for exactly that: the action with this version of its manifest, the agent, who
  sent the call, the skill, the namespace and the place. Only the path and what else the inputs have may differ;
- every path among the inputs is below its folder, part by part; an action without a path cannot have a rule, nor one
  that runs a command;
- it has an end, at most `LONGEST` after it was made, and a number of uses, at most `MOST_USES`;
- the id is a digest over the rule, and the host where it was made signs it: another text is no rule.

    id = the first 32 hexadecimal digits of SHA-256("cortex-approval-rule/1\0" + RFC 8785 JSON of the rule)
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Literal, get_args

from cortex_graph.checks.datetimes import date_time
from cortex_skills.audit.chain import Signer
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_request import ActionRequest
from cortex_skills.features.actions.approvals.host_signatures import OF_RULE, HostSignature, read_signature, signed
from cortex_skills.features.actions.approvals.record import MAX_TEXT, canonical
from cortex_skills.features.actions.manifest import COMMAND, PATH, ActionManifest
from cortex_skills.features.actions.paths import Parts
from cortex_skills.safe_io.strict_json import read_json

LONGEST = timedelta(days=30)
MOST_USES = 1000

RuleState = Literal["holds", "ended", "expired", "used_up"]
Ending = Literal["ended", "expired", "used_up"]


@dataclass(frozen=True, slots=True)
class RuleEnd:
    """How a rule ended: by a person, by its time or by its number of uses; when, and why."""

    state: Ending
    by: str
    at: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalRule:
    """A rule, as it was made.

    Attributes:
        action, manifest_version, agent, asked_by, skill, namespace, place: as those of the request that it is for.
        folder: below which every path is, relative to the workspace.
        by: the person.
        token: the name of the token that the person showed; empty for the owner, and for that of the configuration.
        created, ends: when it was made, and until when it holds.
        uses: for how many calls.
        reason: why.
        signed: by the host where it was made.
        id: 32 hexadecimal digits.
    """

    action: str
    manifest_version: str
    agent: str
    asked_by: str
    skill: str
    namespace: str
    place: str
    folder: str
    by: str
    token: str
    created: datetime
    ends: datetime
    uses: int
    reason: str = ""
    signed: HostSignature | None = None
    id: str = ""

    def covers(self, request: ActionRequest, manifest: ActionManifest, parts_of: Callable[[object], Parts]) -> bool:
        """Whether it is for what a call asks for.

        Args:
            request: of the call.
            manifest: of its action.
            parts_of: the parts of a path below the workspace; raises for what is not plainly one.
        """
        folder, named = tuple(self.folder.split("/")), paths_of(manifest)
        if _subject(self) != _subject(request):
            return False
        try:
            found = [parts_of(request.inputs[name]) for name in named]
        except (KeyError, CortexError):  # one that is left out has no folder
            return False
        return bool(named) and all(len(parts) > len(folder) and parts[: len(folder)] == folder for parts in found)


def _subject(of: ActionRequest | ApprovalRule) -> tuple[str, ...]:
    return (of.action, of.manifest_version, of.agent, of.asked_by, of.skill, of.namespace, of.place)


def paths_of(manifest: ActionManifest) -> list[str]:
    """The inputs that a folder restricts; none where it cannot restrict what the action does."""
    return [] if manifest.inputs_of(COMMAND) else manifest.inputs_of(PATH)


def rule_text(rule: ApprovalRule, signer: Signer) -> tuple[str, str]:
    """The id and the canonical JSON of a new rule."""
    stored = {
        "action": rule.action,
        "manifestVersion": rule.manifest_version,
        "agent": rule.agent,
        "askedBy": rule.asked_by,
        "skill": rule.skill,
        "namespace": rule.namespace,
        "place": rule.place,
        "folder": rule.folder,
        "by": rule.by[:MAX_TEXT],
        "token": rule.token,
        "created": date_time(rule.created),
        "ends": date_time(rule.ends),
        "uses": rule.uses,
        "reason": rule.reason[:MAX_TEXT],
        "nonce": uuid.uuid4().hex,
    }
    text = canonical(stored | signed(signer, OF_RULE + canonical(stored)))
    return _id_of(text), text.decode()


def read_rule(rule_id: str, text: str) -> ApprovalRule | None:
    """The rule of a text; None if that has another id, or is none. Its signature is not verified."""
    try:
        given = read_json(text)
        if _id_of(text.encode()) != rule_id:
            return None
        unsigned = {name: value for name, value in given.items() if name != "signed"}
        rule = ApprovalRule(
            action=_text(given["action"]),
            manifest_version=_text(given["manifestVersion"]),
            agent=_text(given["agent"]),
            asked_by=_text(given["askedBy"]),
            skill=_text(given["skill"]),
            namespace=_text(given["namespace"]),
            place=_text(given["place"]),
            folder=_text(given["folder"]),
            by=_text(given["by"]),
            token=_text(given["token"]),
            created=_time(given["created"]),
            ends=_time(given["ends"]),
            uses=int(given["uses"]),
            reason=_text(given["reason"]),
            signed=read_signature(given, OF_RULE + canonical(unsigned)),
            id=rule_id,
        )
    except (ValueError, KeyError, TypeError, AttributeError, CortexError):
        return None
    is_bounded = rule.ends <= rule.created + LONGEST and 0 < rule.uses <= MOST_USES and bool(rule.folder)
    return rule if is_bounded else None


def end_text(end: RuleEnd) -> str:
    """The end of a rule as it is stored."""
    stored = {"state": end.state, "by": end.by[:MAX_TEXT], "at": date_time(end.at), "reason": end.reason[:MAX_TEXT]}
    return canonical(stored | {"nonce": uuid.uuid4().hex}).decode()


def read_end(text: str) -> RuleEnd:
    """The end of a rule; one that cannot be read is an end, too."""
    try:
        given = read_json(text)
        state = next(each for each in get_args(Ending) if each == given["state"])
        return RuleEnd(state, _text(given["by"]), _time(given["at"]), _text(given["reason"]))
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration):
        return RuleEnd("ended", "", datetime.fromtimestamp(0, UTC), "its end was changed in the store")


def _id_of(text: bytes) -> str:
    return sha256(OF_RULE + text).hexdigest()[:32]


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
