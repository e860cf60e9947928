"""The typed configuration, out of four sources (`config_sources` reads them).

Rules kept here:
- later wins: the defaults, the YAML file, the environment, the arguments;
- a number outside its range is clamped to it, and `warnings` says so; every other fault is an error, and all
  are reported at once (`config_invalid`);
- `${NAME}` is expanded in `cortex.authToken` only; the token appears in no message, repr or JSON. The secrets of a
  `store` on a server stay `${NAME}` here, and one in the clear is refused without being repeated.

No file is looked for: the settings decide what is trusted, so a file that happens to lie in the current
directory (a skill's, perhaps) must not make them. A relative `store` is relative to the current directory.

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

from cortex_skills.config_sources import (
    all_settings,
    camel,
    from_arguments,
    from_environment,
    from_file,
    invalid,
    merged,
    snake,
    unknown_variables,
)
from cortex_skills.schemas import Document, Problem, check, shown

_TOKEN_PATH = ("cortex", "authToken")
_SERVER = re.compile(r"(https?|cortex)://", re.IGNORECASE)
_VARIABLE = re.compile(r"\$\{([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Server:
    """The address of the server, and who may come in (`cortex`)."""

    host: str = "127.0.0.1"
    port: int = 19090
    auth_token: str | None = field(default=None, repr=False)
    token_file: str = ""
    allow_anonymous_reads: bool = False
    allowed_hosts: tuple[str, ...] = ()
    query_timeout_ms: int = 30_000
    max_answer_bytes: int = 1 << 30


@dataclass(frozen=True, slots=True)
class SkillSandbox:
    """What a skill's code may use up (`skillSandbox`); sizes in bytes, times in milliseconds."""

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
    """What is checked of a skill and of an assertion (`verification`)."""

    require_signature: bool = True
    trust_on_first_use: bool = False
    trust_store: str = ""
    pol_validation: bool = True
    auto_scan: bool = True


@dataclass(frozen=True, slots=True)
class Proofs:
    """The rules that statements are proved by, the key that proofs are signed with, and whose commitments count."""

    shapes: Mapping[str, str] = field(default_factory=dict, hash=False)
    keys: str = ""
    key: str = "local"
    trusted_issuers: tuple[str, ...] = ()
    openings: str = ""
    openings_key: str = ""


@dataclass(frozen=True, slots=True, init=False)
class Config:
    """The whole configuration. `Config()` alone is an embedded store in memory, and the defaults.

    Args:
        settings: by name, in camelCase or snake_case; sections as mappings.

    Raises:
        CortexError: `config_invalid`, with every fault in `details["errors"]`.

    """

    cortex: Server = Server()
    store: str | Mapping[str, Any] = "memory:"
    agent_namespace: str = "mayros"
    hot_reload: bool = False
    strict_declarations: bool = True
    vocabularies: tuple[str, ...] = ()
    base_iri: str = "urn:cortex:"
    skill_sandbox: SkillSandbox = SkillSandbox()
    verification: Verification = Verification()
    proofs: Proofs = field(default_factory=Proofs)
    warnings: tuple[str, ...] = field(default=(), compare=False)

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
        """Put the configuration together from all its sources.

        Without a `store` in any of them, the store is in the user's data folder.

        Args:
            path: the YAML file; None for no file.
            env: the environment.
            overrides: settings as `Config` takes them, which win over all the rest.

        Raises:
            CortexError: `config_invalid`, also when the file cannot be read.

        """
        sources = [from_environment(env), from_arguments(overrides or {})]
        if path is not None:
            sources.insert(0, from_file(Path(path)))
        config = cls.__new__(cls)
        config._fill(sources, env, tuple(unknown_variables(env)))
        if not any((source.data or {}).get("store") for source in sources):
            object.__setattr__(config, "store", _user_store())
        return config

    @property
    def store_name(self) -> str:
        """The store as a message names it."""
        return self.store if isinstance(self.store, str) else str(self.store.get("query") or self.store.get("cortex"))

    @property
    def store_folder(self) -> Path | None:
        """The folder of the store; None when it is in none."""
        if not isinstance(self.store, str) or self.store == "memory:" or _SERVER.match(self.store):
            return None
        return Path(self.store)

    def to_json(self) -> dict[str, Any]:
        """The settings as `cortex.yaml` writes them, without the token."""
        settings: dict[str, Any] = {camel(name): value for name, value in asdict(self).items()}
        for key, value in settings.items():
            if isinstance(value, dict) and key != "store":
                parts = {camel(name): part for name, part in value.items()}
                settings[key] = {name: list(part) if isinstance(part, tuple) else part for name, part in parts.items()}
        del settings["cortex"]["authToken"], settings["warnings"]
        return settings | {"vocabularies": list(self.vocabularies)}

    def _fill(self, sources: list[Document], env: Mapping[str, str], warnings: tuple[str, ...]) -> None:
        document = merged(sources)
        warnings += tuple(_clamp(document))
        problems = _expand_token(document, env) + _check_store(document, env)
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


def _clamp(document: Document) -> list[str]:
    """Bring the numbers of `document` into their ranges; returns what there is to say about it."""
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


def _expand_token(document: Document, env: Mapping[str, str]) -> list[Problem]:
    """Put the environment's values into the token; returns the variables that are not set, as problems."""
    server = document.data.get("cortex")
    token = server.get("authToken") if isinstance(server, dict) else None
    if not isinstance(token, str):
        return []
    missing = [name for name in _VARIABLE.findall(token) if not env.get(name)]
    if not missing:
        server["authToken"] = _VARIABLE.sub(lambda match: env[match[1]], token)
    hint = "set the variable, or leave authToken out"
    return [
        document.problem(_TOKEN_PATH, f"the environment variable {shown(name)} is not set", hint) for name in missing
    ]


def _check_store(document: Document, env: Mapping[str, str]) -> list[Problem]:
    """What is wrong with a store on a server; it is taken out then, so that nothing repeats a secret."""
    store = document.data.get("store")
    if not isinstance(store, dict) and not (isinstance(store, str) and _SERVER.match(store)):
        return []
    from cortex_graph.errors import InvalidArguments
    from cortex_graph.stores.cortex import read_place
    from cortex_graph.stores.remote.endpoints import read_endpoints

    is_cortex = "cortex" in store if isinstance(store, dict) else store.lower().startswith("cortex:")
    try:
        read_place(store, env) if is_cortex else read_endpoints(store, env)
    except InvalidArguments as error:
        field_, _, problem = error.message.removeprefix("`").partition("` ")
        del document.data["store"]
        return [document.problem(tuple(field_.split(".")), problem, error.hint)]
    return []


def _user_store() -> str:
    from platformdirs import user_data_path

    return str(user_data_path("cortex-skills", appauthor=False) / "store")
