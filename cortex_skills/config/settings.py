"""The typed configuration, from four sources (see `sources`).

The settings are declared in `core_settings`, and in the features (`Feature.settings`).

Rules kept here:
- precedence, lowest first: the defaults, the YAML file, the environment, the arguments;
- a number outside its range is clamped with a warning in `warnings`; all other faults are errors, reported together
  (`config_invalid`);
- in settings that are paths (`setting`) home folders and variables are expanded (`expanded_path`); elsewhere
  `${NAME}` is expanded in `cortex.authToken` only; the token is in no message, repr or JSON. The secrets of a `store`
  on a server stay `${NAME}` here; a secret in clear text is rejected and not repeated;
- `store: cortex` is the Cortex at `cortex.host` and `cortex.port`, asked with `cortex.authToken`; without such a store
  these three are where this process serves, so a host that is not this machine is an error;
- no configuration file is searched for, because a file in the current folder (of a skill, for example) must not change
  trust settings. A relative `store` is relative to the current folder.

>>> config = Config(agentNamespace="may", skill_sandbox={"maxAssertions": 5})
>>> config.agent_namespace, config.skill_sandbox.max_assertions, config.store
('may', 5, 'memory:')
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from cortex_skills.config.core_settings import CoreSettings, ServerSettings, user_store
from cortex_skills.config.sections import declared
from cortex_skills.config.setting import PathSetting, camel, default_of, snake
from cortex_skills.config.sources import (
    from_arguments,
    from_environment,
    from_file,
    invalid,
    merged,
    renamed,
    unknown_variables,
)
from cortex_skills.safe_io.expanded_path import expanded_path, variable
from cortex_skills.safe_io.schemas import LocatedDocument, Problem, check, shown

CORTEX = "cortex"
S = TypeVar("S")

_TOKEN_PATH = ("cortex", "authToken")
_SERVER = re.compile(r"(https?|cortex)://", re.IGNORECASE)
_VARIABLE = re.compile(r"\$\{([^}]*)\}")


@dataclass(frozen=True, slots=True, init=False)
class Config(CoreSettings):
    """The whole configuration. `Config()` has the defaults and an embedded store in memory.

    Args:
        settings: by name, in camelCase or snake_case; sections as mappings.

    Attributes:
        warnings: what was corrected or ignored.
        sections: by name, those of features too; each is an attribute.
        given_limits: the settings of `skill_sandbox` that a source gave, by name; the others are defaults.

    Raises:
        CortexError: `config_invalid`, with all faults in `details["errors"]`.
    """

    file: Path | None = field(default=None, compare=False)  # which `load` read; it is private, as tokens are in it
    sections: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
    warnings: tuple[str, ...] = field(default=(), compare=False)
    given_limits: frozenset[str] = field(default=frozenset(), compare=False, repr=False)

    def __init__(self, **settings: Any) -> None:
        self._fill([from_arguments(settings)], os.environ, ())

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        env: Mapping[str, str] = os.environ,
        overrides: Mapping[str, Any] | None = None,
    ) -> Config:
        """Load the configuration from all sources.

        Where none of them has a value, a setting has that of its declaration for this (`loaded`): the store is in the
        user's data folder.

        Args:
            path: the YAML file; None for no file.
            env: the environment.
            overrides: arguments as for `Config`, with the highest precedence.

        Raises:
            CortexError: `config_invalid`, also when the file cannot be read.
        """
        sources = [from_environment(env), from_arguments(overrides or {})]
        if path is not None:
            try:
                given = expanded_path(os.fspath(path), env)
            except ValueError as error:
                raise invalid([Problem((), f"the path of the file: {error}")]) from None
            sources.insert(0, from_file(Path(given)))
        config = cls.__new__(cls)
        config._fill(sources, env, tuple(unknown_variables(env)), loads=True)
        object.__setattr__(config, "file", None if path is None else Path(given).absolute())
        return config

    if not TYPE_CHECKING:  # their types: `cortex_skills.features.with_features`

        def __getattr__(self, name: str) -> Any:
            try:
                return object.__getattribute__(self, "sections")[name]
            except (AttributeError, KeyError):
                raise AttributeError(f"no installed feature has settings {name!r}", name=name) from None

    def section(self, kind: type[S]) -> S:
        """The settings of a section, by its type.

        Raises:
            LookupError: no installed feature declares it.
        """
        for section in self.sections.values():
            if isinstance(section, kind):
                return section
        raise LookupError(f"no installed feature declares the settings {kind.__name__}")

    @property
    def asks_cortex(self) -> bool:
        """Whether the store is the Cortex that the section `cortex` names."""
        return self.store == CORTEX

    @property
    def serving(self) -> ServerSettings:
        """How this process serves; if the address and the token name the Cortex that it asks, with the default ones."""
        default = ServerSettings()
        if not self.asks_cortex:
            return self.cortex
        return replace(self.cortex, host=default.host, port=default.port, auth_token=default.auth_token)

    @property
    def cortex_url(self) -> str:
        """The URL of the Cortex at `cortex.host` and `cortex.port`."""
        host = f"[{self.cortex.host}]" if ":" in self.cortex.host else self.cortex.host
        return f"http://{host}:{self.cortex.port}"

    @property
    def store_name(self) -> str:
        """The name of the store in messages."""
        if self.asks_cortex:
            return self.cortex_url.replace("http:", "cortex:", 1)
        return self.store if isinstance(self.store, str) else str(self.store.get("query") or self.store.get("cortex"))

    @property
    def is_user_store(self) -> bool:
        """Whether the store is the default one, in the user's data folder."""
        return self.store == user_store()

    @property
    def store_folder(self) -> Path | None:
        """The folder of the store; None for a store in memory or on a server."""
        from cortex_graph.stores.location import folder_of

        return None if self.asks_cortex else folder_of(self.store)

    def to_json(self) -> dict[str, Any]:
        """The settings in the form of `cortex.yaml`, without the token."""
        found: dict[str, Any] = {}
        for name, each in declared().settings.items():
            *section, key = map(camel, name)
            value: Any = reduce(getattr, name, self)
            if not each.schema.get("writeOnly"):
                place = found.setdefault(section[0], {}) if section else found
                place[key] = list(value) if isinstance(value, tuple) else value
        return found

    def _fill(
        self,
        sources: list[LocatedDocument],
        env: Mapping[str, str],
        warnings: tuple[str, ...],
        *,
        loads: bool = False,
    ) -> None:
        found, read = declared(), [renamed(source) for source in sources]
        sources = [source for source, _ in read]
        warnings += tuple(warning for _, about in read for warning in about)
        document = merged(sources)
        warnings += tuple(_clamp(document))
        problems = _expand_paths(document, env) + _expand_token(document, env)
        problems += _check_store(document, env) + _check_host(document, sources)
        problems += check(found.schema, document) if document.data else document.problems  # `Config()` needs none
        if problems:
            raise invalid(problems)
        kinds = found.sections
        values = {"": document.data} | {name: document.data.get(camel(name), {}) for name in kinds}
        given: dict[str, dict[str, Any]] = {section: {} for section in values}
        for (*section, name), each in found.settings.items():
            part = values["".join(section)]
            if camel(name) in part:
                value = part[camel(name)]
                given["".join(section)][name] = tuple(value) if isinstance(value, list) else value
            elif loads and each.loaded is not None:
                given["".join(section)][name] = each.loaded()
        made = {name: kind(**given[name]) for name, kind in kinds.items()}
        for item in fields(self):
            object.__setattr__(self, item.name, made.get(item.name, given[""].get(item.name, default_of(item))))
        object.__setattr__(self, "sections", made)
        object.__setattr__(self, "warnings", warnings)
        object.__setattr__(self, "given_limits", frozenset(map(snake, values["skill_sandbox"])))


def _clamp(document: LocatedDocument) -> list[str]:
    """Clamp the numbers of `document` to their ranges; return the warnings."""
    warnings = []
    for setting, rule in declared().rules.items() if document.data else ():
        *section, key = setting
        values = document.data.get(section[0]) if section else document.data
        value = values.get(key) if isinstance(values, dict) else None
        if isinstance(value, float) and value.is_integer():
            value = values[key] = int(value)
        if "minimum" not in rule or not isinstance(value, int) or isinstance(value, bool):
            continue
        low, high = rule["minimum"], rule["maximum"]
        values[key] = min(max(value, low), high)
        if value != values[key]:
            message = f"{shown(value)} is outside {low} to {high}; {values[key]} is used"
            warnings.append(str(document.problem(setting, message)))
    return warnings


def _expand_paths(document: LocatedDocument, env: Mapping[str, str]) -> list[Problem]:
    """Expand the settings that are paths; return a problem for each that names what is not there."""
    problems = []

    def expanded(value: Any, setting: tuple[str, ...], mark: PathSetting) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return expanded_path(value, env, may_be_address=mark.may_be_address)
        except ValueError as error:
            hint = "set it, or write the path in full; $$ is a dollar sign"
            problems.append(document.problem(tuple(map(camel, setting)), str(error), hint))
            return value

    for setting, mark in declared().paths.items() if document.data else ():
        *section, key = map(camel, setting)
        values = document.data.get(section[0]) if section else document.data
        value = values.get(key) if isinstance(values, dict) else None
        if isinstance(value, str):
            values[key] = expanded(value, setting, mark)
        elif isinstance(value, list):
            values[key] = [expanded(part, setting, mark) for part in value]
        elif isinstance(value, dict) and setting != ("store",):  # which is a server
            values[key] = {name: expanded(part, setting, mark) for name, part in value.items()}
    return problems


def _expand_token(document: LocatedDocument, env: Mapping[str, str]) -> list[Problem]:
    """Expand the variables in the token; return a problem for each variable that is not set."""
    server = document.data.get("cortex")
    token = server.get("authToken") if isinstance(server, dict) else None
    if not isinstance(token, str):
        return []
    missing = [name for name in _VARIABLE.findall(token) if not variable(name, env)]
    if not missing:
        server["authToken"] = _VARIABLE.sub(lambda match: variable(match[1], env), token)
    hint = "set the variable, or remove authToken"
    return [
        document.problem(_TOKEN_PATH, f"the environment variable {shown(name)} is not set", hint) for name in missing
    ]


def _check_store(document: LocatedDocument, env: Mapping[str, str]) -> list[Problem]:
    """The problems of a store on a server; a store with problems is removed, so that no message repeats a secret."""
    store = document.data.get("store")
    if isinstance(store, str) and store.lstrip().startswith("{"):
        del document.data["store"]
        hint = "a mapping belongs into the configuration, or as JSON into CORTEX_STORE; a folder called so is ./{…"
        return [document.problem(("store",), "begins with { and is not JSON that is read here", hint)]
    if not isinstance(store, dict) and not (isinstance(store, str) and _SERVER.match(store)):
        return []
    from cortex_graph.exceptions import InvalidArguments
    from cortex_graph.stores.cortex import read_server_address
    from cortex_graph.stores.remote.endpoints import read_endpoints

    is_cortex = "cortex" in store if isinstance(store, dict) else store.lower().startswith("cortex:")
    try:
        read_server_address(store, env) if is_cortex else read_endpoints(store, env)
    except InvalidArguments as error:
        field_, _, problem = error.message.removeprefix("`").partition("` ")
        del document.data["store"]
        return [document.problem(tuple(field_.split(".")), problem, error.hint)]
    return []


def _check_host(document: LocatedDocument, sources: list[LocatedDocument]) -> list[Problem]:
    """The problem of a host that is not this machine, if no source has `store: cortex`."""
    from cortex_skills.config.local_address import is_local

    server = document.data.get("cortex")
    host = server.get("host") if isinstance(server, dict) else None
    if not isinstance(host, str) or any((source.data or {}).get("store") == CORTEX for source in sources):
        return []
    if is_local(host):
        return []
    hint = "set `store: cortex` to ask the Cortex there; to serve, use an address of this machine"
    return [document.problem(("cortex", "host"), f"{shown(host)} is not this machine", hint)]
