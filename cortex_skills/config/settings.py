"""The typed configuration, from four sources (see `sources`).

Rules kept here:
- precedence, lowest first: the defaults, the YAML file, the environment, the arguments;
- a number outside its range is clamped with a warning in `warnings`; all other faults are errors, reported together
  (`config_invalid`);
- in settings that are paths (`path_settings`) home folders and variables are expanded (`expanded_path`); elsewhere
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
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from cortex_skills.config.path_settings import PRIVATE, PUBLIC, READ_ONLY, PathSetting, marked, path_marks
from cortex_skills.config.sources import (
    all_settings,
    camel,
    from_arguments,
    from_environment,
    from_file,
    invalid,
    merged,
    renamed,
    snake,
    unknown_variables,
)
from cortex_skills.safe_io.expanded_path import expanded_path, variable
from cortex_skills.safe_io.schemas import LocatedDocument, Problem, check, shown

CORTEX = "cortex"

_TOKEN_PATH = ("cortex", "authToken")
_SERVER = re.compile(r"(https?|cortex)://", re.IGNORECASE)
_VARIABLE = re.compile(r"\$\{([^}]*)\}")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The address and the access rules of the server (`cortex`)."""

    host: str = "127.0.0.1"
    port: int = 19090
    auth_token: str | None = field(default=None, repr=False)
    token_file: str = field(default="", metadata=PRIVATE)
    allow_anonymous_reads: bool = False
    allowed_hosts: tuple[str, ...] = ()
    query_timeout_ms: int = 30_000
    max_answer_bytes: int = 1 << 30


@dataclass(frozen=True, slots=True)
class SkillSandbox:
    """The limits of a skill's code (`skillSandbox`); sizes in bytes, times in milliseconds."""

    sandbox_enabled: bool = True
    isolation: Literal["in-process", "process"] = "in-process"
    inspect: str = ""
    memory_limit_bytes: int = 8 << 20
    max_stack_size_bytes: int = 512 << 10
    execution_timeout_ms: int = 10_000
    max_calls_per_minute: int = 60
    max_graph_queries: int = 50
    max_assertions: int = 20
    max_writes: int = 50
    proof_timeout_ms: int = 5_000
    allow_zk_proofs: bool = True


@dataclass(frozen=True, slots=True)
class Verification:
    """The checks of skills and assertions (`verification`)."""

    require_signature: bool = True
    trust_on_first_use: bool = False
    model_keys: tuple[str, ...] = field(default=(), metadata=PRIVATE)
    trust_store: str = field(default="", metadata=PRIVATE)
    pol_validation: bool = True
    auto_scan: bool = True


@dataclass(frozen=True, slots=True)
class Proofs:
    """The shapes for proofs, the signing key, and the trusted issuers of commitments (`proofs`)."""

    shapes: Mapping[str, str] = field(default_factory=dict, hash=False, metadata=READ_ONLY)
    keys: str = field(default="", metadata=PRIVATE)
    key: str = "local"
    trusted_issuers: tuple[str, ...] = ()
    openings: str = field(default="", metadata=PRIVATE)
    openings_key: str = field(default="", metadata=PRIVATE)


@dataclass(frozen=True, slots=True)
class Registry:
    """The folders of the skill registry (`registry`), and the other namespaces whose reflections may be read."""

    folders: tuple[str, ...] = field(default=(), metadata=READ_ONLY)
    import_root: str = field(default="", metadata=PUBLIC)
    export_root: str = field(default="", metadata=PUBLIC)
    reflection_namespaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """Which tools a model is offered (`tools`): by the names of profiles."""

    profiles: tuple[str, ...] = ("core",)


@dataclass(frozen=True, slots=True)
class GraphSettings:
    """How the graph is shown (`graph`): properties that name things, and the languages of the readers."""

    labels: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """The journal of calls (`audit`), and whether texts that were removed from enrichments are kept, and where."""

    journal: Literal["auto", "on", "off"] = "auto"
    folder: str = field(default="", metadata=PRIVATE)
    keep_days: int = 0
    fsync: Literal["never", "minute", "always"] = "minute"
    on_full: Literal["refuse-actions", "refuse-all", "warn"] = "refuse-actions"
    keep_removed: bool = False
    removed: str = field(default="", metadata=PRIVATE)
    removed_key: str = field(default="", metadata=PRIVATE)


@dataclass(frozen=True, slots=True)
class FinderSettings:
    """How skills and memories are found (`finder`)."""

    embedder: Literal["none", "local", "http", "fastembed"] = "none"
    endpoint: str = ""
    model: str = ""
    folder: str = field(default="", metadata=PUBLIC)
    key_variable: str = ""


@dataclass(frozen=True, slots=True)
class Learning:
    """How skills are learned from the calls of agents (`learning`); times in milliseconds."""

    enabled: bool = False
    min_calls: int = 2
    endpoint: str = ""
    model: str = ""
    key_variable: str = ""
    timeout_ms: int = 60_000
    runs: str = field(default="", metadata=PRIVATE)


@dataclass(frozen=True, slots=True)
class ActionSettings:
    """Which actions are offered, and what they may reach (`actions`)."""

    trust_level: Literal["observe", "suggest", "supervised_auto", "bounded_auto"] = "observe"
    allow_reads_without_approval: bool = False
    workspace: str = field(default="", metadata=PUBLIC)
    read: tuple[str, ...] = ("memory", "persona", "logs", "out", "etc", "docs")
    write: tuple[str, ...] = ("memory", "out", "logs")
    never: tuple[str, ...] = ("brain", "packages", "apps", "node_modules", ".git", ".env*", "logs/audit")
    commands: tuple[str, ...] = ("ls", "cat", "grep", "find")
    agents: Mapping[str, Any] = field(default_factory=dict, hash=False)
    allow_unconfined: bool = False
    allowed_hosts: tuple[str, ...] = ()
    allow_loopback: bool = False
    cost_budget: int = 10_000


@dataclass(frozen=True, slots=True)
class ApprovalSettings:
    """How actions wait for a person (`approvals`); times in milliseconds and minutes."""

    wait_ms: int = 0
    lasts_minutes: int = 1440
    ask: Literal["none", "client"] = "none"


@dataclass(frozen=True, slots=True)
class SecretSettings:
    """Where the secrets of the owner are (`secrets`)."""

    store: Literal["auto", "keyring", "file"] = "auto"
    file: str = field(default="", metadata=PRIVATE)
    key: str = field(default="", metadata=PRIVATE)


@dataclass(frozen=True, slots=True)
class ArtifactSettings:
    """Where artifacts are installed, and how they are audited (`artifacts`)."""

    folder: str = field(default="", metadata=PRIVATE)
    audit_hours: int = 6
    vulnerability_feed: str = field(default="", metadata=READ_ONLY)
    storage_bytes: int = 16 << 20
    channels: Mapping[str, str] = field(
        default_factory=dict, hash=False, metadata=marked(PathSetting("public", may_be_address=True))
    )
    addresses: Mapping[str, str] = field(default_factory=dict, hash=False)
    serve_index: bool = False
    builder: bool = False


@dataclass(frozen=True, slots=True, init=False)
class Config:
    """The whole configuration. `Config()` has the defaults and an embedded store in memory.

    Args:
        settings: by name, in camelCase or snake_case; sections as mappings.

    Attributes:
        warnings: what was corrected or ignored.
        given_limits: the settings of `skill_sandbox` that a source gave, by name; the others are defaults.

    Raises:
        CortexError: `config_invalid`, with all faults in `details["errors"]`.
    """

    cortex: ServerSettings = ServerSettings()
    store: str | Mapping[str, Any] = field(
        default="memory:", metadata=marked(PathSetting("private", may_be_address=True))
    )
    agent_namespace: str = "mayros"
    hot_reload: bool = False
    strict_declarations: bool = True
    vocabularies: tuple[str, ...] = ()
    base_iri: str = "urn:cortex:"
    file: Path | None = field(default=None, compare=False)  # which `load` read; it is private, as tokens are in it
    skill_sandbox: SkillSandbox = SkillSandbox()
    verification: Verification = Verification()
    proofs: Proofs = field(default_factory=Proofs)
    registry: Registry = Registry()
    tools: ToolSettings = ToolSettings()
    graph: GraphSettings = GraphSettings()
    finder: FinderSettings = FinderSettings()
    audit: AuditSettings = AuditSettings()
    learning: Learning = Learning()
    actions: ActionSettings = field(default_factory=ActionSettings)
    approvals: ApprovalSettings = ApprovalSettings()
    secrets: SecretSettings = SecretSettings()
    artifacts: ArtifactSettings = field(default_factory=ArtifactSettings)
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

        Without a `store` in any of them, the store is in the user's data folder. Without `registry.folders`, these are
        `.cortex/skills` in the working folder and `skills` in the user's data folder.

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
        config._fill(sources, env, tuple(unknown_variables(env)))
        object.__setattr__(config, "file", None if path is None else Path(given).absolute())
        if not any((source.data or {}).get("store") for source in sources):
            object.__setattr__(config, "store", _user_store())
        if not any("folders" in ((source.data or {}).get("registry") or {}) for source in sources):
            folders = (".cortex/skills", str(_user_folder() / "skills"))
            object.__setattr__(config, "registry", replace(config.registry, folders=folders))
        return config

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
        return self.store == _user_store()

    @property
    def store_folder(self) -> Path | None:
        """The folder of the store; None for a store in memory or on a server."""
        from cortex_graph.stores.location import folder_of

        return None if self.asks_cortex else folder_of(self.store)

    def to_json(self) -> dict[str, Any]:
        """The settings in the form of `cortex.yaml`, without the token."""
        given = ((name, value) for name, value in asdict(self).items() if name != "file")
        settings: dict[str, Any] = {camel(name): value for name, value in given}
        for key, value in settings.items():
            if isinstance(value, dict) and key != "store":
                parts = {camel(name): part for name, part in value.items()}
                settings[key] = {name: list(part) if isinstance(part, tuple) else part for name, part in parts.items()}
        del settings["cortex"]["authToken"], settings["warnings"], settings["givenLimits"]
        return settings | {"vocabularies": list(self.vocabularies)}

    def _fill(self, sources: list[LocatedDocument], env: Mapping[str, str], warnings: tuple[str, ...]) -> None:
        read = [renamed(source) for source in sources]
        sources = [source for source, _ in read]
        warnings += tuple(warning for _, found in read for warning in found)
        document = merged(sources)
        warnings += tuple(_clamp(document))
        problems = _expand_paths(document, env) + _expand_token(document, env)
        problems += _check_store(document, env) + _check_host(document, sources)
        problems += check("config", document) if document.data else document.problems  # `Config()` needs no schema
        if problems:
            raise invalid(problems)
        values = {snake(key): value for key, value in document.data.items()}
        for item in fields(self):
            default: Any = item.default if item.default_factory is MISSING else item.default_factory()
            value = values.get(item.name, default)
            if isinstance(value, dict) and item.name != "store":
                parts = {snake(key): tuple(part) if isinstance(part, list) else part for key, part in value.items()}
                value = replace(default, **parts)
            object.__setattr__(self, item.name, tuple(value) if isinstance(value, list) else value)
        object.__setattr__(self, "warnings", warnings)
        object.__setattr__(self, "given_limits", frozenset(map(snake, document.data.get("skillSandbox") or ())))


def _clamp(document: LocatedDocument) -> list[str]:
    """Clamp the numbers of `document` to their ranges; return the warnings."""
    warnings = []
    for setting, rule in all_settings().items() if document.data else ():
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

    for setting, mark in path_marks(Config) if document.data else ():
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


def _user_store() -> str:
    return str(_user_folder() / "store")


def _user_folder() -> Path:
    from platformdirs import user_data_path

    return user_data_path("cortex-skills", appauthor=False)
