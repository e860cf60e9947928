"""`InstalledTools`: the tools of the installed artifacts of a namespace, found and run.

Rules kept here:
- the index is read at each call: what another process installed, quarantined or removed holds from the next call on;
- what runs is compiled from verified bytes, which are read again after each change of their file, and is the version
  that the gate decided about;
- the tools are listed from the bytes with the hash of the index, while their publisher is trusted: a thousand are not
  verified for a list;
- an artifact that cannot be listed offers no tool, and is tried again after `_RETRY_S`; a name that could be one of its
  tools is refused with the reason, and never said not to exist;
- the id of an artifact with `operator.plugin.default_tool_id` is another name of that tool, which is not listed;
- a tool runs only if its artifact is configured as its manifest requires;
- the code of a module is compiled once for its bytes; each call has its own store, with the quotas of the manifest;
- the engine is imported when an artifact is first called;
- inputs were checked by the gate; an answer that is not JSON, or not as the manifest declares, fails the call.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

from cortex_graph import GraphError
from cortex_sandbox.errors import SandboxError
from cortex_skills.enrichment.text_lines import clean_lines
from cortex_skills.errors import CortexError, from_floor
from cortex_skills.features.actions.action import ActionCall, AgentAction
from cortex_skills.features.artifacts.artifact_settings import ArtifactSettings
from cortex_skills.features.artifacts.installed import installed_in
from cortex_skills.features.artifacts.tools.artifact_action import (
    COMPONENT,
    RESULT,
    ArtifactAction,
    ToolTerms,
    grants_as_text,
    module_of,
    reaches_out,
    skill_of,
    terms_of,
)
from cortex_skills.features.artifacts.tools.contract_calls import Deliver, negotiated
from cortex_skills.host import Host
from cortex_skills.runtime.skill import Skill
from cortex_skills.safe_io.display import one_line
from cortex_skills.safe_io.schemas import errors_of, reason_of, shown
from cortex_skills.safe_io.strict_json import read_json
from cortex_skills.secrets import HIDDEN, SecretStore

if TYPE_CHECKING:
    from cortex_sandbox.wasm import WasmSandbox
    from cortex_skills.features.artifacts.installed import InstalledArtifact, OpenArtifact
    from cortex_skills.features.artifacts.tools.component_host import ComponentHost

log = logging.getLogger(__name__)

_KEPT_MODULES = 64
_RETRY_S = 5.0
_MAX_DEPTH = 64
_MAX_ERROR = 500

# Calls a tool through the gate: the skill, the tool, its arguments, and the call that it is made for.
GateCall = Callable[[Skill, str, dict[str, Any], ActionCall], Any]


@dataclass(frozen=True, slots=True)
class _Listed:
    """The tools at one state of the index, and why some artifacts have none; the time is that of `time.monotonic`."""

    revision: str
    artifacts: Mapping[InstalledArtifact, tuple[ArtifactAction, ...]] = field(default_factory=dict)
    by_name: Mapping[str, ArtifactAction] = field(default_factory=dict)
    by_skill: Mapping[str, ArtifactAction] = field(default_factory=dict)  # the default tools
    failed: Mapping[InstalledArtifact, CortexError] = field(default_factory=dict)
    at: float = 0.0

    def is_of(self, revision: str) -> bool:
        """Whether this holds at a state of the index now."""
        return revision == self.revision and not (self.failed and time.monotonic() > self.at + _RETRY_S)


class InstalledTools:
    """The tools of installed artifacts. Safe to use from several threads.

    Args:
        host: of the plugin.
        call: calls tools of the graph through the gate.
        deliver: delivers a message with another artifact; None where that is impossible.
    """

    def __init__(self, host: Host, call: GateCall, deliver: Deliver | None = None) -> None:
        self._host = host
        self._installed = host.part(installed_in)
        self._call = call
        self._deliver = deliver
        self._listed = _Listed("")
        self._modules: dict[str, WasmSandbox] = {}  # by the hash of the payload
        self._changing = Lock()

    def find(self, name: str) -> AgentAction | None:
        """The tool with this id, or the default tool of the artifact with this id, active or not; None without one.

        Raises:
            CortexError: there may be one, but the artifact cannot be verified; or the store cannot be read.
        """
        if "." not in name:
            return None
        listed = self._current()
        found = listed.by_name.get(name) or listed.by_skill.get(name)
        if found is None:
            for installed, error in listed.failed.items():
                if name.startswith(f"{installed.publisher}."):
                    raise CortexError(
                        error.code,
                        f"{shown(name)} cannot be used, if it is a tool of {installed.key}: {error.message}",
                        hint=error.hint,
                    )
        return found

    def all(self) -> Mapping[str, AgentAction]:
        """The tools that may run, by id."""
        return {
            name: action
            for name, action in self._current().by_name.items()
            if action.installed is not None and self._installed.runs(action.installed)
        }

    def revision(self) -> str:
        """A text that differs after each change of what is installed; empty where the store has no index of it."""
        try:
            return self._installed.revision()
        except GraphError:
            return ""

    def _current(self) -> _Listed:
        try:
            revision = self._installed.revision()
        except GraphError as error:
            if not self._listed.by_name:  # a store without an index has no artifacts
                return self._listed
            raise CortexError(error.code, error.message, hint=error.hint) from error
        listed = self._listed
        if listed.is_of(revision):
            return listed
        with self._changing:
            if not self._listed.is_of(revision):
                self._listed = self._read(revision, self._listed)
            return self._listed

    def _read(self, revision: str, before: _Listed) -> _Listed:
        artifacts: dict[InstalledArtifact, tuple[ArtifactAction, ...]] = {}
        failed: dict[InstalledArtifact, CortexError] = {}
        for each in self._installed.list():
            if not each.current:
                continue
            try:
                artifacts[each] = before.artifacts.get(each) or self._tools_of(each)
            except CortexError as error:
                failed[each] = error
                if each not in before.failed:
                    log.warning("the tools of %s are not offered: %s", each.key, error.message)
        by_name: dict[str, ArtifactAction] = {}
        for installed in sorted(artifacts, key=_precedence):
            for action in artifacts[installed]:
                name = action.manifest.id
                if name in by_name:
                    log.warning("the tool %s of %s is skipped: another artifact has it", name, installed.key)
                else:
                    by_name[name] = action
        by_skill = {
            action.skill_id: action for action in by_name.values() if action.manifest.id == action.default_tool_id
        }
        return _Listed(revision, artifacts, by_name, by_skill, failed, time.monotonic())

    def _tools_of(self, installed: InstalledArtifact) -> tuple[ArtifactAction, ...]:
        """The tools of an artifact.

        Raises:
            CortexError: its file was changed, or its publisher is not trusted any more.
        """
        opened = self._installed.as_installed(installed)
        if opened.manifest.is_semantic:
            return ()
        module = module_of(opened.manifest, opened.entries)
        return tuple(self._action(opened, terms) for terms in self._terms(opened, is_core=module[:8] != COMPONENT))

    def _terms(self, opened: OpenArtifact, *, is_core: bool) -> list[ToolTerms]:
        per_minute = self._host.config.skill_sandbox.max_calls_per_minute
        payload, found = opened.installed.key.payload_sha256, []
        for tool in opened.manifest.tools:
            try:
                found.append(terms_of(tool, opened.capabilities, payload, core=is_core, per_minute=per_minute))
            except CortexError as error:
                log.warning("%s is not offered: %s", tool.id, error.message)
        return found

    def _action(self, opened: OpenArtifact, terms: ToolTerms) -> ArtifactAction:
        from cortex_skills.features.artifacts.installed.configured_values import ConfiguredValues
        from cortex_skills.features.artifacts.tools.component_host import ComponentHost

        installed, may, config = opened.installed, opened.capabilities, self._host.config
        storage = self._installed.files.folder / ".storage" / installed.key.skill_id / "kept.sqlite3"
        secrets = partial(SecretStore.of, config.secrets)
        settings = config.section(ArtifactSettings)
        values = ConfiguredValues(opened.manifest, settings, secrets)
        host = ComponentHost(installed.key.skill_id, may, settings, secrets, storage, values)
        payload = installed.key.payload_sha256
        skill = skill_of(opened.manifest, may, self._installed.files.place(installed.key))
        about = f"{terms.id} of {installed.key} by {installed.publisher} ({payload[:16]})"
        fulfils = negotiated(opened.manifest, may).fulfilled_by(terms.id)
        preview = "\n".join([about, "may use:", *(grants_as_text(may) or ["nothing"])])

        def check(_: object) -> None:
            self._installed.check_runs(installed)
            values.check()

        return ArtifactAction(
            terms,
            run=partial(self._run, installed, host, skill, fulfils),
            check=check,
            preview=lambda _: preview,
            read_only=not reaches_out(may),
            acting=skill,
            about={"version": installed.key.version, "payloadSha256": payload},
            profile="core",  # the user installed it for models
            installed=installed,
            fulfils=fulfils,
            default_tool_id=opened.manifest.plugin.get("default_tool_id", ""),
        )

    def _run(
        self,
        installed: InstalledArtifact,
        host: ComponentHost,
        skill: Skill,
        fulfils: frozenset[tuple[str, str]],
        call: ActionCall,
    ) -> Mapping[str, Any]:
        """Run a tool from verified bytes."""
        from cortex_sandbox.wasm import HostRefusal

        opened = self._installed.verified(installed)
        terms = call.manifest
        if not isinstance(terms, ToolTerms):
            raise TypeError("the call is of another action")
        box = self._module(opened)

        def call_tool(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
            result = self._call(skill, tool, arguments, call)
            if result.is_error:
                raise HostRefusal(result.code, result.text)
            details: dict[str, Any] = result.details
            return details

        def deliver(skill_id: str, channel: str, message: bytes) -> None:
            if self._deliver is None or any(kind == "delivery_adapter" for kind, _ in fulfils):
                raise HostRefusal("channel_failed", "what delivers messages cannot hand them to another artifact")
            self._deliver(skill_id, channel, message, installed.key.skill_id, call.agent)

        functions = host.for_call(call_tool, call.cancel, deliver)
        interrupts = None if call.cancel is None else call.cancel.interrupts
        try:
            if not box.is_component:
                return {"code": box.call(host=functions, interrupts=interrupts, deadline=call.deadline)}
            argument = json.dumps(dict(call.inputs), ensure_ascii=False)
            answer = box.call_tool(terms.id, argument, host=functions, interrupts=interrupts, deadline=call.deadline)
        except SandboxError as error:
            if call.cancel is not None:
                call.cancel.check()
            raise _failed(terms, error) from None
        except ValueError as error:  # the input is too large
            raise CortexError("invalid_arguments", f"{terms.id}: {error}", hint="pass less at once") from None
        if answer.failed:
            kept = clean_lines(HIDDEN.text(answer.text)[:_MAX_ERROR], until=call.deadline).text
            raise CortexError(
                "action_failed",
                f"{terms.id} answered with an error: {one_line(kept) or 'its text was removed'}",
                hint="correct the inputs, or ask the publisher of the artifact",
                details={"action": terms.id},
            )
        return _outputs(terms, answer.text)

    def _module(self, opened: OpenArtifact) -> WasmSandbox:
        payload = opened.installed.key.payload_sha256
        box = self._modules.get(payload)
        if box is not None:
            return box
        from cortex_sandbox.wasm import WasmSandbox
        from cortex_skills.features.artifacts.installed.module_limits import limits_of

        try:
            box = WasmSandbox(
                module_of(opened.manifest, opened.entries),
                limits_of(opened.manifest.capabilities.quotas),
                entrypoint=opened.manifest.entrypoint,
            )
        except SandboxError as error:
            raise from_floor(error) or error from error
        if len(self._modules) >= _KEPT_MODULES:
            self._modules = {}
        self._modules[payload] = box
        return box


def _precedence(installed: InstalledArtifact) -> tuple[int, str]:
    """The order in which artifacts get a name: `acme.tools` before `acme`, which could name a tool of the former."""
    return -len(installed.publisher), installed.key.skill_id


def _outputs(terms: ToolTerms, text: str) -> Mapping[str, Any]:
    """The answer of a component, when it is as its tool declares."""
    try:
        value = read_json(text, max_depth=_MAX_DEPTH)
    except ValueError as error:
        raise _wrong_output(terms, f"it is not JSON: {error}") from None
    if not terms.answer_validator.is_valid(value):
        errors = errors_of(terms.answer_validator, value, 5)
        problems = "; ".join(f"{'.'.join(map(str, e.instance_path)) or 'output'}: {reason_of(e)}" for e in errors)
        raise _wrong_output(terms, one_line(HIDDEN.text(problems)))
    return value if terms.answers_object else {RESULT: value}


def _wrong_output(terms: ToolTerms, what: str) -> CortexError:
    return CortexError(
        "action_failed",
        f"{terms.id}: it ran, but its answer is not as declared: {what}",
        hint="report it to the publisher of the artifact",
        details={"action": terms.id},
    )


def _failed(terms: ToolTerms, error: SandboxError) -> CortexError:
    code = (from_floor(error) or CortexError("skill_error", error.message)).code
    hints = {
        "fuel_exhausted": "ask for less at once; the limit is capabilities.quotas.fuel_budget of its manifest",
        "skill_memory": "ask for less at once; the limit is capabilities.quotas.max_memory_bytes of its manifest",
        "skill_timeout": "ask for less at once; the limit is capabilities.quotas.wall_clock_timeout_ms of its manifest",
    }
    return CortexError(
        code,
        f"{terms.id}: {error.message}",
        hint=hints.get(code, "report it to the publisher of the artifact"),
        details={"action": terms.id},
    )
