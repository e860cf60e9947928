"""What the registry keeps for a host, and what it connects when a plugin opens.

    registry = host.part(registry_in)

Rules kept here:
- the registry, with the skills of the configured folders, and its finder are made when they are first asked for, and
  shared from then on; they are those of today, also where the graph is read as of a moment;
- a semantic skill that was loaded is recorded; a record that fails is a warning, and the skill runs;
- a call costs nothing here, unless a skill with steps was loaded or learning is on.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from cortex_graph import GraphError
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.registry_settings import LearningSettings, RegistrySettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cortex_graph import NamespacedGraph
    from cortex_graph.store_access.read_ahead import Ahead
    from cortex_skills.audit.call_records import AuditRecord
    from cortex_skills.config.settings import Config
    from cortex_skills.features.registry.learning import SessionLearner
    from cortex_skills.features.registry.records.registry import SkillRegistry
    from cortex_skills.features.registry.records.skill_record import SkillKey, SkillRecord
    from cortex_skills.features.registry.session_calls import LoadedSkills, SessionCalls
    from cortex_skills.features.registry.skill_finder import SkillFinder
    from cortex_skills.gate.gate import Gate
    from cortex_skills.host import Host
    from cortex_skills.operations.operation import OperationCall
    from cortex_skills.skill_folder.snapshot import SkillSnapshot

log = logging.getLogger(__name__)


def registry_in(host: Host) -> SkillRegistry:
    """The registered skills of the namespace; the key of this installation signs what is registered."""
    from cortex_graph.as_of import today_of
    from cortex_skills.features.registry.sources import register_configured, update_package_skills

    registry = open_registry(host.config, today_of(host.graph))
    if host.registers:
        update_package_skills(registry)
        register_configured(registry, host.config.section(RegistrySettings).folders, actor=host.session.agent)
    return registry


def open_registry(config: Config, graph: NamespacedGraph) -> SkillRegistry:
    """The registry of the namespace of a graph; nothing is read yet, no key and no trust store either."""
    from cortex_skills.features.registry.records.registry import SkillRegistry
    from cortex_skills.features.registry.sources import package_skills
    from cortex_skills.keys.folder import own_keys, signing_key
    from cortex_skills.signatures.trust_file import trust_of

    return SkillRegistry(
        graph.store,
        graph.names,
        lambda: signing_key(config),
        lambda: trust_of(config).trust().trusted_keys(),
        lambda: own_keys(config),
        package_skills(graph.namespace),
    )


def finder_in(host: Host) -> SkillFinder:
    """Finds the registered skills of the namespace; its index is built at the first search."""
    from cortex_skills.features.finder.embedder_choice import embedder_of
    from cortex_skills.features.registry.skill_finder import SkillFinder

    return SkillFinder(host.part(registry_in), host.shared(embedder_of))


def loaded_in(host: Host) -> LoadedSkills:
    """The registered skills that agents loaded, whose outcomes are recorded when calls and sessions end."""
    from cortex_skills.features.registry.session_calls import LoadedSkills

    def record(key: SkillKey, version_id: str, success: bool, agent: str, user: str, note: str) -> None:
        registry = host.part(registry_in)
        new = registry.outcome(key, success=success, actor=agent, note=note, version_id=version_id, user=user)
        if host.config.section(LearningSettings).enabled and new.standing.lifecycle == "candidate":
            with suppress(CortexError):  # `gain_not_measured`, most of the time
                registry.promote(key, actor=agent)

    return LoadedSkills(record)


def calls_in(host: Host) -> SessionCalls:
    """The redacted calls of the open sessions, where learning is on."""
    from cortex_skills.features.registry.session_calls import SessionCalls

    return SessionCalls(host.session.id_of)


def learner_in(host: Host) -> SessionLearner:
    """Learns from sessions that have ended, where a model has an endpoint."""
    from cortex_skills.features.registry.learning import SessionLearner

    return SessionLearner(host)


def attach(gate: Gate) -> None:
    """Connect the registry to the calls, the sessions, the context and the loader of a plugin."""
    host = gate.host
    host.calls_ended.append(partial(_call_ended, host, host.config.section(LearningSettings).enabled))
    host.sessions_ended.append(partial(_session_ended, host))
    host.contexts.append(partial(_available, gate))
    if host.registers:
        host.skills_started.append(partial(_record_started, host))


def _call_ended(host: Host, learns: bool, session: str, entry: AuditRecord, arguments: object, is_step: bool) -> None:
    if host.has_part(loaded_in):
        host.part(loaded_in).after_call(session, entry.tool, entry.outcome, entry.agent)
    if learns and is_step and entry.outcome != "cancelled":
        from cortex_skills.tools.base import CALLER

        user = "" if (sender := CALLER.get()) is None else sender.name
        host.part(calls_in).after_call(session, entry.agent, entry.tool, arguments, entry.outcome, user)


def _session_ended(host: Host, session: str | None) -> None:
    """Record the outcomes of loaded skills, and count what was done without one."""
    if host.has_part(calls_in):
        from cortex_skills.features.registry.session_calls import settle_runs

        ended = host.part(calls_in).end(session)
        found = settle_runs(host.config, partial(host.part, registry_in), ended, host.graph.namespace)
        settings = host.config.section(LearningSettings)
        if found and settings.automatic and settings.endpoint:
            host.part(learner_in).learn(found)
    if host.has_part(loaded_in):
        host.part(loaded_in).end(session)
    if session is None and host.has_part(learner_in):
        host.part(learner_in).close()


def _record_started(host: Host, snapshot: SkillSnapshot) -> None:
    from cortex_skills.features.registry.sources import record_loaded
    from cortex_skills.skill_folder.builtin import is_builtin

    folder, actor = snapshot.folder, host.session.agent
    try:
        record_loaded(
            host.part(registry_in),
            folder,
            snapshot.texts(),
            actor=actor,
            origin="builtin" if is_builtin(folder) else "human",
        )
    except (CortexError, GraphError) as error:
        _warn_once(f"{snapshot.name} is not recorded in the registry: {error.message}")


@lru_cache(1_000)
def _warn_once(message: str) -> None:
    log.warning("%s", message)


def _available(gate: Gate, agent: str) -> str:
    """The list of registered skills for an agent that starts, where it can load them."""
    from cortex_skills.tools.base import CALLER
    from cortex_skills.tools.catalog import own_tools
    from cortex_skills.tools.offered import acting_for, of_profiles

    host, tool = gate.host, own_tools()["load_skill"]
    skills = gate.active.skills
    if not of_profiles([tool], host.config.tools.profiles, skills) or not acting_for(tool, skills):
        return ""
    from cortex_skills.features.registry.views import available_skills

    sender = CALLER.get()
    return available_skills(host.part(registry_in), agent if sender is None else sender.name, host.cleaning)


def named_key(call: OperationCall, name: str) -> SkillKey:
    """The namespace and the name that an argument gives.

    Raises:
        CortexError: `invalid_arguments`.
    """
    from cortex_skills.features.registry.views import key_of

    return key_of(name, call.part(registry_in).terms.names.namespace)


def ahead_of_skill(call: OperationCall, given: Any) -> Iterator[Ahead]:
    """What is read of the skill that the arguments name, and of those that a document needs."""
    registry, document = call.part(registry_in), getattr(given, "document", None)
    needs = (
        () if document is None else [named_key(call, f"{document.namespace}/{each}") for each in document.depends_on]
    )
    yield from registry.ahead_of([named_key(call, given.skill)], all_versions=True)
    yield from registry.ahead_of(needs)


def found_record(call: OperationCall, name: str) -> SkillRecord:
    """The record of the skill that an argument names.

    Raises:
        CortexError: `invalid_arguments`; `skill_not_found`.
    """
    return call.part(registry_in).record(named_key(call, name))
