"""The typed configuration, out of four sources.

Rules kept here:
- later wins: the defaults, the YAML file, the environment, the arguments;
- the environment names a setting by its words with `_` between them and its levels with `__`:
  `CORTEX_AGENT_NAMESPACE`, `CORTEX_VERIFICATION__REQUIRE_SIGNATURE=false`; a list has commas; an empty variable
  is none; a `CORTEX_` variable that names no setting gets a warning;
- arguments may be in camelCase or snake_case, and sections are mappings; the file is in camelCase;
- a key without a value (`null`, None) is not set;
- a number outside its range is clamped to it, and `warnings` says so; every other fault is an error, and all
  are reported at once (`config_invalid`);
- `${NAME}` is expanded in `cortex.authToken` only; the token appears in no message, repr or JSON.

No file is looked for: the settings decide what is trusted, so a file that happens to lie in the current
directory (a skill's, perhaps) must not make them. A relative `store` is relative to the current directory.

>>> config = Config(agentNamespace="may", skill_sandbox={"maxAssertions": 5})
>>> config.agent_namespace, config.skill_sandbox.max_assertions, config.store
('may', 5, 'memory:')
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.schemas import Document, Mark, Problem, check, did_you_mean, schema, shown, summary

ENVIRONMENT_PREFIX = "CORTEX_"

# Variables of the plugin that are read elsewhere and are no settings.
OTHER_VARIABLES = frozenset({"CORTEX_UNSAFE_DIRECT_LOAD"})

_TOKEN_PATH = ("cortex", "authToken")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_FLAGS = {
    "true": True,
    "1": True,
    "yes": True,
    "on": True,
    "false": False,
    "0": False,
    "no": False,
    "off": False,
}
_INTEGER = re.compile(r"[-+]?[0-9]{1,15}", re.ASCII)

Setting = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Server:
    """The address of the server (`cortex`)."""

    host: str = "127.0.0.1"
    port: int = 19090
    auth_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SkillSandbox:
    """What a skill's code may use up (`skillSandbox`); sizes in bytes, times in milliseconds."""

    sandbox_enabled: bool = True
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
    """What is checked of a skill and of an assertion (`verification`).

    `require_signature` is off until skills can be signed.
    """

    require_signature: bool = False
    pol_validation: bool = True
    auto_scan: bool = True


@dataclass(frozen=True, slots=True, init=False)
class Config:
    """The whole configuration. `Config()` alone is an embedded store in memory, and the defaults.

    Args:
        settings: by name, in camelCase or snake_case; sections as mappings.

    Raises:
        CortexError: `config_invalid`, with every fault in `details["errors"]`.

    """

    cortex: Server = Server()
    store: str = "memory:"
    agent_namespace: str = "mayros"
    hot_reload: bool = False
    strict_declarations: bool = True
    vocabularies: tuple[str, ...] = ()
    base_iri: str = "urn:cortex:"
    skill_sandbox: SkillSandbox = SkillSandbox()
    verification: Verification = Verification()
    warnings: tuple[str, ...] = field(default=(), compare=False)

    def __init__(self, **settings: Any) -> None:
        self._fill([_arguments(settings)], os.environ, ())

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
        sources = [_environment(env), _arguments(overrides or {})]
        if path is not None:
            sources.insert(0, _file(Path(path)))
        config = cls.__new__(cls)
        config._fill(sources, env, tuple(_unknown_variables(env)))
        if not any((source.data or {}).get("store") for source in sources):
            object.__setattr__(config, "store", _user_store())
        return config

    def to_json(self) -> dict[str, Any]:
        """The settings as `cortex.yaml` writes them, without the token."""
        settings: dict[str, Any] = {_camel(name): value for name, value in asdict(self).items()}
        for key, value in settings.items():
            if isinstance(value, dict):
                settings[key] = {_camel(name): part for name, part in value.items()}
        del settings["cortex"]["authToken"], settings["warnings"]
        return settings | {"vocabularies": list(self.vocabularies)}

    def _fill(self, sources: list[Document], env: Mapping[str, str], warnings: tuple[str, ...]) -> None:
        document = _merged(sources)
        warnings += tuple(_clamp(document))
        problems = _expand_token(document, env)
        problems += check("config", document) if document.data else document.problems  # `Config()` needs no schema
        if problems:
            raise _invalid(problems)
        values = {_snake(key): value for key, value in document.data.items()}
        for item in fields(self):
            default: Any = item.default
            value = values.get(item.name, default)
            if isinstance(value, dict):
                value = replace(default, **{_snake(key): part for key, part in value.items()})
            object.__setattr__(self, item.name, tuple(value) if isinstance(value, list) else value)
        object.__setattr__(self, "warnings", warnings)


def _snake(name: str) -> str:
    return re.sub(r"(?=[A-Z])", "_", name).lower()


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


@cache
def _settings() -> dict[Setting, dict[str, Any]]:
    """The schema of each setting, by its path."""
    settings: dict[Setting, dict[str, Any]] = {}
    for name, rule in schema("config")["properties"].items():
        inner = rule.get("properties")
        settings |= {(name, key): part for key, part in inner.items()} if inner else {(name,): rule}
    return settings


@cache
def _variables() -> dict[str, Setting]:
    """The setting of each environment variable."""
    return {
        ENVIRONMENT_PREFIX + "__".join(_snake(part).upper() for part in setting): setting for setting in _settings()
    }


def _file(path: Path) -> Document:
    from cortex_skills.safe_yaml import read

    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise _invalid([Problem((), "is not UTF-8", "", Mark(str(path)))]) from None
    except (OSError, ValueError) as error:  # a ValueError: a path that holds a NUL
        reason = getattr(error, "strerror", None) or error
        raise _invalid([Problem((), f"cannot be read: {reason}", "", Mark(str(path)))]) from None
    document = read(text, file=str(path))
    if document.data is None or isinstance(document.data, dict):
        return document
    raise _invalid([*document.problems, document.problem((), "must be a mapping of settings")])


def _environment(env: Mapping[str, str]) -> Document:
    data: dict[str, Any] = {}
    marks: dict[tuple[str | int, ...], Mark] = {}
    for variable, setting in _variables().items():
        if text := env.get(variable):
            *section, key = setting
            target = data.setdefault(section[0], {}) if section else data
            target[key] = _typed(text, _settings()[setting]["type"])
            marks[setting] = Mark(variable)
    return Document(data, marks)


def _typed(text: str, kind: str) -> Any:
    """The text of a variable as its setting's type has it; unchanged where it cannot be, for the schema to refuse."""
    match kind:
        case "boolean":
            return _FLAGS.get(text.strip().lower(), text)
        case "integer":
            return int(text) if _INTEGER.fullmatch(text.strip()) else text
        case "array":
            return [part.strip() for part in text.split(",")]
    return text


def _unknown_variables(env: Mapping[str, str]) -> Iterator[str]:
    known = {*_variables(), *OTHER_VARIABLES}
    for name in sorted(env):
        if name.startswith(ENVIRONMENT_PREFIX) and name not in known:
            hint = did_you_mean(name, known)
            yield f"the environment variable {name} is no setting{f'; {hint}' if hint else ''}"


def _arguments(settings: Mapping[str, Any]) -> Document:
    """Settings from Python, with their keys in camelCase."""
    problems: list[Problem] = []
    data: dict[str, Any] = {}
    for key, value in settings.items():
        name = _camel(key)
        if name in data:
            problems.append(Problem((name,), "is given twice, in camelCase and in snake_case"))
        try:
            data[name] = json.loads(json.dumps(value, default=_json_ready))
        except (TypeError, ValueError, RecursionError):
            problems.append(Problem((name,), f"holds what no setting can be: {type(value).__name__}"))
            continue
        if isinstance(data[name], dict):
            data[name] = {_camel(inner): part for inner, part in data[name].items()}
    return Document(data, problems=tuple(problems))


def _json_ready(value: object) -> Any:
    return dict(value) if isinstance(value, Mapping) else os.fspath(value)  # type: ignore[call-overload]


def _merged(sources: list[Document]) -> Document:
    """One document out of all sources; the later ones win, and what has no value is left out."""
    data: dict[str, Any] = {}
    for source in sources:
        for key, value in (source.data or {}).items():
            if isinstance(value, dict):
                section = data[key] if isinstance(data.get(key), dict) else {}
                data[key] = section | {inner: part for inner, part in value.items() if part is not None}
            elif value is not None:
                data[key] = value
    return Document(
        data,
        {path: mark for source in sources for path, mark in source.marks.items()},
        {path: text for source in sources for path, text in source.texts.items()},
        tuple(problem for source in sources for problem in source.problems),
    )


def _clamp(document: Document) -> list[str]:
    """Bring the numbers of `document` into their ranges; returns what there is to say about it."""
    warnings = []
    for setting, rule in _settings().items() if document.data else ():
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


def _user_store() -> str:
    from platformdirs import user_data_path

    return str(user_data_path("cortex-skills", appauthor=False) / "store")


def _invalid(problems: list[Problem]) -> CortexError:
    return CortexError(
        "config_invalid",
        summary("the configuration", problems),
        hint="correct the settings above",
        details={"errors": [problem.to_json() for problem in problems]},
    )
