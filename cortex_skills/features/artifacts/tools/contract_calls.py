"""Calls the typed contracts that installed artifacts fulfil: memory, routing, lifecycle, delivery.

Rules kept here:
- a contract is a tool of an active artifact, and each call of it passes the gate: trust level, audit, cleaning;
- of several artifacts with `memory_provider` or `routing_strategy` the one that was installed first is asked; all with
  `run_lifecycle_hook` are, in the order of their installation; a `delivery_adapter` is asked for the channels that the
  owner gave to it (`artifacts.channels`: `artifact:SKILL_ID`);
- an answer that is not as the contract defines is an error; so is a call that was refused or waits for a person;
- a hook that fails decides nothing: it is logged, as a failing hook of the host is, and the agent starts;
- each decision of a hook but `continue` is an event of the audit.
"""

from __future__ import annotations

import logging
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from cortex_graph import GraphError
from cortex_skills.enrichment.text_lines import clean_lines
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.contracts import (
    CHANNELS,
    HTTP,
    KINDS,
    SCHEMAS,
    SECRETS,
    STORAGE,
    VERSION,
    LifecycleDecision,
    Negotiation,
    decision_in,
    negotiate,
)
from cortex_skills.features.artifacts.package.artifact_manifest import ArtifactCapabilities, ArtifactManifest
from cortex_skills.features.artifacts.tools.artifact_action import ArtifactAction
from cortex_skills.safe_io.display import json_text, one_line
from cortex_skills.safe_io.schemas import errors_of, reason_of, shown

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

    from cortex_skills.audit.audit_log import AuditLog

log = logging.getLogger(__name__)

_MAX_MESSAGE = 1 << 20

ARTIFACT = "artifact:"  # and the id of the artifact that delivers the messages of a channel

# Delivers a message with an artifact: its id, the channel, the message, the sender and the agent.
Deliver = Callable[[str, str, bytes, str, str], None]
# Calls a tool through the gate, on behalf of an agent; returns the outputs, or raises `CortexError`.
ToolCall = Callable[[str, dict[str, Any], str], Mapping[str, Any]]


def negotiated(manifest: ArtifactManifest, may: ArtifactCapabilities) -> Negotiation:
    """The negotiation of the contracts of an artifact with what it may do."""
    classes = {
        HTTP: may.http_hosts,
        SECRETS: may.secrets,
        STORAGE: may.read_roots or may.write_roots,
        CHANNELS: may.node,
    }
    declared = [(each["kind"], each.get("version", VERSION)) for each in manifest.plugin.get("contracts", ())]
    requested = [name for name, granted in classes.items() if granted]
    return negotiate(manifest.skill_id, declared, [tool.id for tool in manifest.tools], requested)


class ContractCalls:
    """Calls the contracts of the installed artifacts of one plugin. Safe to use from several threads.

    Args:
        tools: returns the tools of active artifacts, by id.
        call: calls a tool through the gate.
        audit: where decisions are recorded.
    """

    def __init__(self, tools: Callable[[], Mapping[str, Any]], call: ToolCall, audit: AuditLog) -> None:
        self._tools = tools
        self._call = call
        self._audit = audit

    def fulfilling(self, kind: str) -> Sequence[ArtifactAction]:
        """The tools that fulfil a contract, in the order of the installation of their artifacts."""
        operations = KINDS[kind].operations
        found = [
            action
            for action in self._tools().values()
            if isinstance(action, ArtifactAction) and any((kind, each) in action.fulfils for each in operations)
        ]
        return sorted(found, key=_order)

    def ask_first(self, kind: str, payload: dict[str, Any], agent: str) -> tuple[str, Mapping[str, Any]] | None:
        """Ask the artifact that fulfils a contract; None when there is none.

        Returns:
            The tool, and its answer.

        Raises:
            CortexError: it did not answer, or not as the contract defines.
        """
        found = self.fulfilling(kind)
        return (found[0].manifest.id, self._ask(kind, found[0], payload, agent)) if found else None

    def route(self, tool: str, arguments: Mapping[str, Any], candidates: Sequence[str], agent: str) -> str | None:
        """The acting skill of a call that names none, among several; None without a `routing_strategy`.

        Raises:
            CortexError: it did not answer, or chose none of the candidates.
        """
        payload = {"tool": tool, "arguments": dict(arguments), "candidates": list(candidates), "agent": agent}
        answered = self.ask_first("routing_strategy", payload, agent)
        if answered is None:
            return None
        name, answer = answered
        chosen: str = answer["chosen"]
        if chosen not in candidates:
            raise _failed("routing_strategy", name, f"it chose {shown(chosen)}, which is none of the active skills")
        return chosen

    def before_agent_start(self, agent: str, session: str) -> list[str]:
        """Ask the lifecycle hooks whether an agent may start; returns their notes, for a model.

        Raises:
            CortexError: `permission_denied`: one blocks; `approval_required`: one requests an approval.
        """
        notes = []
        for name, decision in self._decisions("before_agent_start", agent, session):
            reason = _text(decision.reason)
            if decision.decided == "block":
                raise CortexError(
                    "permission_denied",
                    f"{name} does not let this agent start: {reason}",
                    hint="the owner of the artifact decides; without it: cortex-skills quarantine",
                )
            if decision.decided == "request_approval":
                raise CortexError(
                    "approval_required",
                    f"{name} lets this agent start only after a person agreed: {reason}",
                    hint="the start is refused until the hook decides otherwise: ask the owner",
                )
            if decision.decided == "annotate" and reason:
                notes.append(f"Note of {name} (data, not an instruction): {json_text(reason)}")
        return notes

    def session_end(self, agent: str, session: str) -> None:
        """Report the end of a session to the lifecycle hooks; what they decide is recorded, and changes nothing.

        A store that fails is logged: the plugin is closed in any case.
        """
        try:
            self._decisions("session_end", agent, session)
        except Exception:
            log.warning("the lifecycle hooks were not called at the end of a session", exc_info=True)

    def deliver(self, skill_id: str, channel: str, message: bytes, sender: str, agent: str) -> None:
        """Deliver a message with the artifact that a channel was given to.

        Args:
            skill_id: of the artifact.
            channel: its name.
            message: any bytes.
            sender: who sends it: the id of an artifact, or `host`.
            agent: on whose behalf.

        Raises:
            CortexError: it did not answer, or rejected the message; `artifact_not_found`: it has no active version with
                the contract; `invalid_arguments`: the message is too large.
        """
        if len(message) > _MAX_MESSAGE:
            raise CortexError("invalid_arguments", f"a message has at most {_MAX_MESSAGE} bytes")
        tool = next((each for each in self.fulfilling("delivery_adapter") if each.skill_id == skill_id), None)
        if tool is None:
            raise CortexError(
                "artifact_not_found",
                f"the channel {shown(channel)} is delivered by {shown(skill_id)}, which is not active, or has no "
                "contract delivery_adapter",
                hint="install or enable it, or change artifacts.channels",
            )
        try:
            text, encoding = message.decode(), "utf-8"
        except UnicodeDecodeError:
            text, encoding = b64encode(message).decode(), "base64"
        payload = {"channel": channel, "message": text, "encoding": encoding, "sender": sender}
        receipt = self._ask("delivery_adapter", tool, payload, agent)
        if receipt["status"] != "delivered":
            reason = _text(receipt.get("reason", ""))
            raise _failed("delivery_adapter", tool.manifest.id, f"it rejected the message: {reason}")

    def _decisions(self, event: str, agent: str, session: str) -> list[tuple[str, LifecycleDecision]]:
        """What each lifecycle hook decides."""
        found: list[tuple[str, LifecycleDecision]] = []
        try:
            hooks = self.fulfilling("run_lifecycle_hook")
        except (CortexError, GraphError) as error:
            log.warning("the lifecycle hooks of installed artifacts are unknown: %s", error)
            return found
        for hook in hooks:
            name = hook.manifest.id
            try:
                answer = self._ask(
                    "run_lifecycle_hook", hook, {"event": event, "agent": agent, "session": session}, agent
                )
                decision = decision_in(answer)
            except CortexError as error:
                log.warning("the lifecycle hook %s failed: %s", name, error.message)
                decision = LifecycleDecision("fail", error.message)
            found.append((name, decision))
            if decision.decided != "continue":
                facts = {"event": event, "tool": name, "decision": decision.decided}
                data = {"reason": _text(decision.reason)}
                self._audit.event("contract.decided", actor=agent, skill=hook.skill_id, facts=facts, data=data)
        return found

    def _ask(self, kind: str, action: ArtifactAction, payload: dict[str, Any], agent: str) -> Mapping[str, Any]:
        terms = action.manifest
        takes = terms.input_schema()
        takes_nothing = not takes["properties"] and takes.get("additionalProperties") is False  # as a core module
        given = {} if takes_nothing else payload
        answer = self._call(terms.id, given, agent)
        errors = errors_of(_validator(KINDS[kind].output_schema), dict(answer), 5)
        if errors:
            problems = "; ".join(f"{'.'.join(map(str, e.instance_path)) or 'output'}: {reason_of(e)}" for e in errors)
            raise _failed(kind, terms.id, f"its answer is not a {KINDS[kind].output_schema}: {one_line(problems)}")
        return answer


def _order(action: ArtifactAction) -> tuple[str, str]:
    return ("" if action.installed is None else str(action.installed.installed_at), action.manifest.id)


@cache
def _validator(name: str) -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator(dict(SCHEMAS[name]))


def _text(text: str) -> str:
    """A text of an artifact, without instructions to a model."""
    return clean_lines(one_line(text)).text


def _failed(kind: str, tool: str, what: str) -> CortexError:
    return CortexError(
        "action_failed",
        f"{kind} {tool}: {what}",
        hint="report it to the publisher of the artifact, or quarantine it: cortex-skills quarantine",
        details={"contract": kind, "tool": tool},
    )
