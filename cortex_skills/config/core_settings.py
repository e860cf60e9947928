"""The settings of the core: those at the top of a configuration, and the sections that no feature declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cortex_graph.naming.namespace_form import NAMESPACE
from cortex_skills.config.setting import PRIVATE, FormerName, PathSetting, setting


def user_data_folder() -> Path:
    """The folder of the user in which the plugin keeps data."""
    from platformdirs import user_data_path

    return user_data_path("cortex-skills", appauthor=False)


def user_store() -> str:
    """The store of the user."""
    return str(user_data_folder() / "store")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The address of the server."""

    host: str = setting(
        "127.0.0.1",
        "Where serve listens: a name or an address of this machine. With store: cortex, the Cortex to ask.",
        minLength=1,
        maxLength=255,
    )
    port: int = setting(19090, "The port of that: 1 to 65535.", minimum=1, maximum=65535)
    auth_token: str | None = setting(
        None,
        "The bearer token of a client, or for the Cortex to ask; ${NAME} is an environment variable.",
        minLength=1,
        writeOnly=True,
        shown=False,
    )
    token_file: str = setting(
        "",
        "The token file of the server; empty for tokens.json in the user's data folder.",
        path=PRIVATE,
        maxLength=4096,
    )
    allow_anonymous_reads: bool = setting(
        False, "Whether programs on this machine may read the namespace without a token: true or false."
    )
    allowed_hosts: tuple[str, ...] = setting(
        (),
        "The host names that the server accepts besides its address: a list of text.",
        items={
            "description": "A host name without a port, such as graph.example.org.",
            "maxLength": 255,
            "pattern": "^[A-Za-z0-9.:_-]+$",
        },
    )
    query_timeout_ms: int = setting(
        30_000, "How long a SPARQL request may take, in milliseconds: 100 to 3600000.", minimum=100, maximum=3600000
    )
    max_answer_bytes: int = setting(
        1 << 30,
        "How long the answer of a SPARQL query may be, in bytes: 1024 to 1099511627776.",
        minimum=1024,
        maximum=1099511627776,
    )


@dataclass(frozen=True, slots=True)
class HostSettings:
    """How other hosts of the same graph see this installation."""

    name: str = setting(
        "",
        "The name of this host in records; that of the machine when empty.",
        maxLength=64,
        pattern="^([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?$",
    )


@dataclass(frozen=True, slots=True)
class SkillSandbox:
    """The limits of a skill's code."""

    sandbox_enabled: bool = setting(True, "Whether skills run in the sandbox: true or false.")
    isolation: Literal["in-process", "process"] = setting(
        "in-process",
        "Where a sandbox runs: in-process, or process for a separate process that the kernel confines (Linux).",
    )
    inspect: str = setting(
        "",
        "Where a debugger may attach in the direct mode: a loopback address and port such as "
        "127.0.0.1:9229; empty for none.",
        maxLength=64,
    )
    memory_limit_bytes: int = setting(
        8 << 20, "The memory of a sandbox in bytes: 1048576 to 268435456.", minimum=1048576, maximum=268435456
    )
    max_stack_size_bytes: int = setting(
        512 << 10, "The stack of a sandbox in bytes: 65536 to 8388608.", minimum=65536, maximum=8388608
    )
    execution_timeout_ms: int = setting(
        10_000, "How long a call into a skill may take, in milliseconds: 100 to 60000.", minimum=100, maximum=60000
    )
    max_calls_per_minute: int = setting(
        60, "The maximum number of tool calls of a skill in a minute: 1 to 1000.", minimum=1, maximum=1000
    )
    max_graph_queries: int = setting(
        50, "The maximum number of queries of a skill in a session: 0 to 100000.", minimum=0, maximum=100000
    )
    max_assertions: int = setting(
        20, "The maximum number of assertions of a skill in a session: 0 to 100000.", minimum=0, maximum=100000
    )
    max_writes: int = setting(
        50, "The maximum number of writes by a skill's code in a session: 0 to 100000.", minimum=0, maximum=100000
    )
    proof_timeout_ms: int = setting(
        5_000, "How long a proof may take, in milliseconds: 100 to 60000.", minimum=100, maximum=60000
    )
    allow_zk_proofs: bool = setting(True, "Whether zero-knowledge proofs are created and verified: true or false.")


_KEY = r"^(did:key:z[1-9A-HJ-NP-Za-km-z]{1,100}|[0-9a-fA-F]{64})$"


@dataclass(frozen=True, slots=True)
class Verification:
    """The checks of skills and assertions."""

    require_signature: bool = setting(
        True, "Whether a skill needs the signature of a trusted publisher: true or false."
    )
    trust_on_first_use: bool = setting(
        False,
        "Whether an unknown publisher is trusted from its first skill, artifact or index on: true or false.",
        former=FormerName("artifacts", "allowFirstUse", "skills, artifacts and indexes"),
    )
    model_keys: tuple[str, ...] = setting(
        (),
        "The public keys (PEM) that verify a skill.oms.sig: a list of files or folders of them.",
        path=PRIVATE,
        maxItems=100,
        items={
            "description": "The path of a file, or of a folder with *.pem files.",
            "minLength": 1,
            "maxLength": 4096,
        },
    )
    trust_store: str = setting(
        "", "The file of the trusted publishers; empty for one in the user's data folder.", path=PRIVATE, maxLength=4096
    )
    publishers: Mapping[str, str] = setting(
        {},
        "Publishers that are trusted, by name with their keys, on every host with this configuration.",
        maxProperties=1000,
        propertyNames={"pattern": "^[a-z0-9._:-]{1,256}$"},
        additionalProperties={
            "description": "The key: did:key:z6Mk…, or 64 hexadecimal digits.",
            "type": "string",
            "pattern": _KEY,
        },
    )
    revoked: tuple[str, ...] = setting(
        (),
        "Keys that verify nothing, on every host with this configuration: a list of keys.",
        maxItems=1000,
        items={"description": "did:key:z6Mk…, or 64 hexadecimal digits.", "pattern": _KEY},
    )
    owner: str = setting(
        "",
        "The key (did:key) whose list of publishers and revoked keys in the store is accepted, see `trust share`.",
        pattern=r"^(did:key:z[1-9A-HJ-NP-Za-km-z]{1,100})?$",
    )
    pol_validation: bool = setting(True, "Whether Proof-of-Logic is checked: true or false.")
    auto_scan: bool = setting(True, "Whether a skill's source is scanned: true or false.")


@dataclass(frozen=True, slots=True)
class KeySettings:
    """The signing key."""

    keys: str = setting(
        "", "The folder of the keys; empty for one in the user's data folder.", path=PRIVATE, maxLength=4096
    )
    key: str = setting(
        "local",
        "The name of the signing key; it is created when it is first needed.",
        pattern="^[a-z0-9][a-z0-9._-]{0,63}$",
    )


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """Which tools a model is offered."""

    profiles: tuple[str, ...] = setting(
        ("core",),
        "The profiles whose tools are offered: a list of core, proofs, registry, operator, full.",
        items={
            "description": "One of core, proofs, registry, operator, full.",
            "enum": ["core", "proofs", "registry", "operator", "full"],
        },
        maxItems=5,
        uniqueItems=True,
    )


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """What is kept about calls."""

    journal: Literal["auto", "on", "off"] = setting(
        "auto",
        "Whether calls are recorded on disk: auto (where agents are served or act, or a folder is set), on, or off.",
    )
    folder: str = setting(
        "",
        "The folder of the journal; when empty beside the folder of the store, with .audit behind its name, or "
        "in the user's data folder.",
        path=PRIVATE,
        maxLength=4096,
    )
    keep_days: int = setting(
        0, "How many days the files of the journal are kept; 0 for ever.", minimum=0, maximum=36500
    )
    fsync: Literal["never", "minute", "always"] = setting(
        "minute",
        "When records are flushed to the disk: never, minute (with each signed head), or always (each record).",
    )
    on_full: Literal["refuse-actions", "refuse-all", "warn"] = setting(
        "refuse-actions",
        "What is refused while the journal cannot be written: refuse-actions, refuse-all (calls too), or "
        "warn (nothing).",
    )
    keep_removed: bool = setting(
        False, "Whether texts that were removed from enrichments are kept, sealed, for seven days: true or false."
    )
    removed: str = setting(
        "",
        "The folder of the sealed file of removed texts; in the user's data folder when empty.",
        path=PRIVATE,
        maxLength=4096,
    )
    removed_key: str = setting(
        "",
        "The file of the key that seals removed texts; in the user's configuration folder when empty.",
        path=PRIVATE,
        maxLength=4096,
    )


@dataclass(frozen=True, slots=True)
class SecretSettings:
    """Where the secrets of the owner are kept."""

    store: Literal["auto", "keyring", "file"] = setting(
        "auto", "auto (the keyring of the system, where there is one), keyring, or file (sealed in the file)."
    )
    file: str = setting(
        "",
        "The file of the names and the sealed values; empty for one in the user's data folder.",
        path=PRIVATE,
        maxLength=4096,
    )
    key: str = setting(
        "",
        "The file of the key that seals them; empty for one in the user's configuration folder.",
        path=PRIVATE,
        maxLength=4096,
    )


@dataclass(frozen=True, slots=True)
class CoreSettings:
    """A mapping of settings."""

    store: str | Mapping[str, Any] = setting(
        "memory:",
        "Where the graph is: memory:, a path, a URL, cortex, or a mapping for a SPARQL or Cortex server.",
        path=PathSetting("private", may_be_address=True),
        loaded=user_store,
        minLength=1,
    )
    agent_namespace: str = setting(
        "mayros",
        "The namespace of the agents: a letter, then letters, digits, _ or -; parts with / or . between them.",
        maxLength=64,
        pattern=f"^{NAMESPACE}$",
    )
    hot_reload: bool = setting(False, "Whether a skill is loaded again when its files change: true or false.")
    strict_declarations: bool = setting(True, "Whether only declared predicates can be asserted: true or false.")
    vocabularies: tuple[str, ...] = setting(
        (),
        "The prefixes of external vocabularies for predicates: a list of text.",
        items={
            "description": "A prefix such as schema, or the beginning of an absolute IRI.",
            "minLength": 1,
            "maxLength": 1024,
            "pattern": r"^\S+$",
        },
    )
    base_iri: str = setting(
        "urn:cortex:",
        "The beginning of the IRI of every name: an absolute IRI that ends in :, / or #.",
        maxLength=1024,
        pattern='^[A-Za-z][A-Za-z0-9+.-]*:([^\\s<>\\"{}|\\\\^`\\u0000-\\u0020]*[:/#])?$',
    )
    cortex: ServerSettings = ServerSettings()
    host: HostSettings = HostSettings()
    skill_sandbox: SkillSandbox = SkillSandbox()
    verification: Verification = Verification()
    proofs: KeySettings = KeySettings()
    tools: ToolSettings = ToolSettings()
    audit: AuditSettings = AuditSettings()
    secrets: SecretSettings = SecretSettings()
