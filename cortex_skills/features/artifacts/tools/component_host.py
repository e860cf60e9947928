"""What a component may use in one call: the functions behind the handles that its artifact was granted.

Rules kept here:
- the grants are what the manifest requests and the user granted, with `*` replaced by the names that there are;
- the graph is reached through the gate, as the skill of the artifact and on behalf of the calling agent; a statement
  with a secret in it is refused;
- the secrets of the grants are hidden in every output before the component runs;
- a line of the log is cleaned of secrets and control characters, and names the artifact.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from cortex_sandbox.wasm import Grants, HostRefusal, HttpRequest, HttpResponse, PluginHost
from cortex_skills.cancellation import CancelToken
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.artifact_settings import ArtifactSettings
from cortex_skills.features.artifacts.installed.configured_values import ConfiguredValues
from cortex_skills.features.artifacts.package.artifact_manifest import ArtifactCapabilities
from cortex_skills.features.artifacts.tools.artifact_storage import ArtifactStorage
from cortex_skills.features.artifacts.tools.contract_calls import ARTIFACT
from cortex_skills.features.artifacts.tools.http_requests import fetch
from cortex_skills.features.artifacts.tools.message_channels import send_message
from cortex_skills.runtime.log import SkillLog
from cortex_skills.safe_io.strict_json import read_json
from cortex_skills.secrets import HIDDEN, SecretName, SecretStore

QUERY, ASSERT = "skill_graph_query", "skill_assert"
_MAX_DEPTH = 16
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}

# Calls a tool through the gate as the skill of the artifact; returns the details, or raises `HostRefusal`.
ToolCaller = Callable[[str, dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True)
class ComponentHost:
    """The host functions of one artifact.

    Attributes:
        skill_id: of the artifact.
        may: what it may do.
        settings: the section `artifacts` of the configuration.
        secrets: opens the secrets of the owner.
        storage_file: the file of its storage.
        values: what the owner configured for it.
    """

    skill_id: str
    may: ArtifactCapabilities
    settings: ArtifactSettings
    secrets: Callable[[], SecretStore]
    storage_file: Path
    values: ConfiguredValues

    def for_call(
        self, call_tool: ToolCaller, cancel: CancelToken | None, deliver: Callable[[str, str, bytes], None]
    ) -> PluginHost:
        """The functions for one call.

        Args:
            call_tool: calls a tool of the graph.
            cancel: cancels the call.
            deliver: delivers a message with another artifact: its id, the channel, the message.

        Raises:
            CortexError: `config_invalid`: the secrets cannot be read.
        """
        settings = self.settings
        storage = ArtifactStorage(self.storage_file, settings.storage_bytes)

        def graph(tool: str, arguments: str) -> str:
            try:
                given = read_json(arguments, max_depth=_MAX_DEPTH)
            except ValueError as error:
                raise HostRefusal("invalid_arguments", f"the arguments are not JSON: {error}") from None
            if not isinstance(given, dict):
                raise HostRefusal("invalid_arguments", "the arguments are not an object")
            if HIDDEN.cleaned(given) != given:
                raise HostRefusal("permission_denied", "a secret is not passed to the graph")
            return json.dumps(call_tool(tool, given), ensure_ascii=False)

        def write(prefix: str, key: str, value: bytes) -> None:
            if prefix not in self.may.write_roots:
                raise HostRefusal("read_only", f"{prefix} was granted for reading only")
            storage.write(prefix, key, value)

        def to_channel(channel: str, message: bytes) -> None:
            target = settings.channels.get(channel, "")
            if target.startswith(ARTIFACT):
                deliver(target.removeprefix(ARTIFACT), channel, message)
            else:
                send_message(channel, message, settings.channels, cancel)

        def http(host: str, request: HttpRequest) -> HttpResponse:
            return fetch(host, request, settings.addresses, cancel)

        return PluginHost(
            grants=self._grants() if self.may.secrets else self._fixed_grants,
            http_fetch=http,
            secret_read=lambda name: self.secrets().read(SecretName.of(name)),
            storage_read=storage.read,
            storage_write=write,
            storage_list=storage.listed,
            channel_send=to_channel,
            config_read=self.values.json,
            graph_query=lambda arguments: graph(QUERY, arguments),
            graph_assert=lambda arguments: graph(ASSERT, arguments),
            log=lambda level, message: self._log.write(_LEVELS.get(level, logging.INFO), HIDDEN.text(message)),
        )

    @cached_property
    def _log(self) -> SkillLog:
        return SkillLog(self.skill_id)

    @cached_property
    def _fixed_grants(self) -> Grants:
        return self._grants()

    def _grants(self) -> Grants:
        may = self.may
        secrets = self._secret_names()
        return Grants(
            http=may.http_hosts,
            secret=secrets,
            storage=(*may.read_roots, *may.write_roots),
            channel=_known(may.node, self.settings.channels),
        )

    def _secret_names(self) -> list[str]:
        """The secrets that may be read; their values are hidden from now on."""
        wanted = [f"{each.scope}/{key}" for each in self.may.secrets for key in each.key_names]
        if not wanted:
            return []
        store = self.secrets()
        there = [str(name) for name in store.names()]
        names = _known(wanted, there)
        for name in names:
            if name in there:
                try:
                    store.read(SecretName.of(name))
                except CortexError as error:
                    if error.code != "secret_not_found":
                        raise
        return names


def _known(wanted: Iterable[str], there: Iterable[str]) -> list[str]:
    """The names that were granted, with `*` replaced by those that there are."""
    there = list(there)
    found: list[str] = []
    for name in wanted:
        found += [each for each in there if fnmatchcase(each, name)] if "*" in name else [name]
    return found
