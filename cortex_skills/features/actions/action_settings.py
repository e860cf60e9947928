"""The settings of the feature: `actions` and `approvals`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from cortex_skills.config.setting import PUBLIC, FormerName, setting

if TYPE_CHECKING:
    from cortex_skills.config.settings import Config

_PROGRAM: dict[str, Any] = {
    "description": "A program.",
    "type": "object",
    "additionalProperties": False,
    "required": ["command"],
    "properties": {
        "command": {
            "description": "The program and its arguments: a list of text.",
            "type": "array",
            "minItems": 1,
            "maxItems": 100,
            "items": {"description": "One argument.", "type": "string", "maxLength": 4096},
        },
        "folder": {
            "description": "Where it runs, in the workspace; the workspace itself when left out.",
            "type": "string",
            "minLength": 1,
            "maxLength": 1024,
        },
        "environment": {
            "description": "The environment variables that it gets: a list of text.",
            "type": "array",
            "maxItems": 100,
            "items": {
                "description": "The name of a variable.",
                "type": "string",
                "pattern": "^[A-Za-z_][A-Za-z0-9_]*$",
                "maxLength": 128,
            },
        },
        "timeoutMs": {
            "description": "How long it may run, in milliseconds: 100 to 86400000.",
            "type": "integer",
            "minimum": 100,
            "maximum": 86400000,
        },
    },
}


@dataclass(frozen=True, slots=True)
class ActionSettings:
    """What agents may do outside the graph."""

    trust_level: Literal["observe", "suggest", "supervised_auto", "bounded_auto"] = setting(
        "observe",
        "How far agents are trusted until the owner sets another level: observe, suggest, supervised_auto "
        "or bounded_auto.",
    )
    allow_reads_without_approval: bool = setting(
        False, "Whether fs_read and search_index run at every trust level without approval: true or false."
    )
    workspace: str = setting(
        "",
        "The absolute path of the folder that actions work in; empty for none, then they are not offered.",
        path=PUBLIC,
        maxLength=4096,
    )
    read: tuple[str, ...] = setting(
        ("memory", "persona", "logs", "out", "etc", "docs"),
        "The folders of the workspace that may be read: a list of text.",
        maxItems=100,
        uniqueItems=True,
        items={"description": "A folder, such as docs or docs/public.", "minLength": 1, "maxLength": 1024},
    )
    write: tuple[str, ...] = setting(
        ("memory", "out", "logs"),
        "The folders of the workspace that may be written: a list of text.",
        maxItems=100,
        uniqueItems=True,
        items={"description": "A folder, such as out.", "minLength": 1, "maxLength": 1024},
    )
    never: tuple[str, ...] = setting(
        ("brain", "packages", "apps", "node_modules", ".git", ".env*", "logs/audit"),
        "What is neither read nor written, at any depth; it wins over read and write: a list of text.",
        maxItems=100,
        uniqueItems=True,
        items={
            "description": "A name, a name that ends in *, or a path such as logs/audit.",
            "minLength": 1,
            "maxLength": 1024,
        },
    )
    commands: tuple[str, ...] = setting(
        ("ls", "cat", "grep", "find"),
        "The commands of shell_safe: a list of ls, cat, grep, find, git, pnpm.",
        maxItems=6,
        uniqueItems=True,
        items={
            "description": "One of ls, cat, grep, find, git, pnpm.",
            "enum": ["ls", "cat", "grep", "find", "git", "pnpm"],
        },
    )
    agents: Mapping[str, Any] = setting(
        {},
        "The programs of run_agent, by name.",
        maxProperties=100,
        propertyNames={"pattern": "^[a-z0-9][a-z0-9_-]{0,63}$"},
        additionalProperties=_PROGRAM,
    )
    allow_unconfined: bool = setting(
        False, "Whether shell_safe runs where the kernel cannot confine it: true or false."
    )
    allowed_hosts: tuple[str, ...] = setting(
        (),
        "The hosts that http_get may read from; none by default, then it is not offered: a list of text.",
        maxItems=1000,
        uniqueItems=True,
        items={
            "description": "A host name such as example.org, or *.example.org for the names below it.",
            "maxLength": 255,
            "pattern": r"^(\*\.)?[A-Za-z0-9:.\[\]_-]+$",
        },
    )
    allow_loopback: bool = setting(
        False,
        "Whether http_get and indexes may be read from this machine, also without TLS: true or false.",
        former=FormerName("artifacts", "allowLoopback", "indexes, and the action http_get"),
    )
    cost_budget: int = setting(
        10_000,
        "What the actions of a skill may cost in a session, cheap ones 1 and expensive ones 10: 0 to 1000000.",
        minimum=0,
        maximum=1000000,
    )


def agents_may_act(config: Config) -> bool:
    """Whether there is a folder that actions work in."""
    return bool(config.section(ActionSettings).workspace)


@dataclass(frozen=True, slots=True)
class ApprovalSettings:
    """How actions wait for a person."""

    wait_ms: int = setting(
        0,
        "How long a call waits for a decision before it answers pending_approval; 0 for not at all.",
        minimum=0,
        maximum=300000,
    )
    lasts_minutes: int = setting(1440, "How long a request can be approved.", minimum=1, maximum=43200)
    hosts: tuple[str, ...] = setting(
        (),
        "The keys of the hosts whose requests and approvals run here; when empty, requests of this host that were "
        "approved on any: a list of text.",
        maxItems=1000,
        uniqueItems=True,
        items={
            "description": "A key as `cortex-skills key list` shows it there: did:key:z6Mk….",
            "pattern": "^did:key:z[1-9A-HJ-NP-Za-km-z]{1,100}$",
            "maxLength": 128,
        },
    )
    rules: bool = setting(
        False,
        "Whether a person may make rules that approve what an agent asks for within a folder until a day: true or "
        "false.",
    )
    ask: Literal["none", "client"] = setting(
        "none", "Whether an MCP client asks its user in place (elicitation): none or client."
    )
