"""`file-access`, `network-access`, `host-access`: what a skill would reach outside of its sandbox.

Rules kept here:
- a module of the host is a finding when it is imported; one that has a rule of its own is left to that rule;
- a global that reaches the network or the file system is a finding where it is reached, under any name; a function of
  the author's called `fetch` is theirs;
- an address as a module's name is network access.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cortex_skills.scanner.rule import Rule
from cortex_skills.scanner.rules import child_process
from cortex_skills.scanner.rules.hit import Hit

if TYPE_CHECKING:
    from cortex_skills.scanner.program import Program

_REMEDY = "Remove it: a skill has the graph (`graphClient`) and `logger`, and nothing else of the host."

FILES = Rule(
    id="file-access",
    severity="critical",
    title="Files of the host",
    finds="A module or a global that reads, writes or watches files, or keeps data in a browser; an address of a file "
    "as a module's name. A file of the skill's own called `fs` is left alone.",
    remedy=_REMEDY,
    trips='import { readFile } from "node:fs/promises";',
    passes='import { readFile } from "./fs";',
)
NETWORK = Rule(
    id="network-access",
    severity="critical",
    title="The network",
    finds="A module or a global that reaches the network, where it is reached and under any name; an address as a "
    "module's name. A function of the author's called `fetch` is theirs, and an address in a text is data.",
    remedy=_REMEDY,
    trips='const answer = await fetch("https://example.org");',
    passes='const seeAlso = "https://example.org";',
)
HOST = Rule(
    id="host-access",
    severity="critical",
    title="Another part of the host",
    finds="A module of the host that has no rule of its own, such as `os` or `crypto`.",
    remedy=_REMEDY,
    trips='import { hostname } from "os";',
    passes='import { hostname } from "./os";',
)
RULES = (FILES, NETWORK, HOST)

_ELSEWHERE = child_process.MODULES | {"module", "repl", "v8", "vm"}
_FILE_MODULES = frozenset({"fs", "sqlite"})
_NETWORK_MODULES = frozenset({"dgram", "dns", "http", "http2", "https", "net", "tls"})
_HOST_MODULES = frozenset(
    {
        "assert",
        "async_hooks",
        "buffer",
        "console",
        "constants",
        "crypto",
        "diagnostics_channel",
        "domain",
        "events",
        "inspector",
        "os",
        "path",
        "perf_hooks",
        "process",
        "punycode",
        "querystring",
        "readline",
        "sea",
        "stream",
        "string_decoder",
        "sys",
        "test",
        "timers",
        "trace_events",
        "tty",
        "url",
        "util",
        "wasi",
        "zlib",
    }
)
_NETWORK_GLOBALS = frozenset(
    {
        ("Bun", "connect"),
        ("Bun", "listen"),
        ("Bun", "serve"),
        ("Deno", "connect"),
        ("Deno", "connectTls"),
        ("Deno", "listen"),
        ("Deno", "resolveDns"),
        ("Deno", "serve"),
        ("EventSource",),
        ("RTCPeerConnection",),
        ("WebSocket",),
        ("WebTransport",),
        ("XMLHttpRequest",),
        ("fetch",),
        ("navigator", "sendBeacon"),
    }
)
_FILE_GLOBALS = frozenset(
    {("Bun", "file"), ("Bun", "write"), ("localStorage",), ("indexedDB",), ("caches",), ("navigator", "storage")}
)
_DENO_FILE_VERBS = ("copy", "create", "link", "lstat", "make", "mkdir", "open", "read", "remove", "rename", "stat")
_DENO_FILE_VERBS_TOO = ("symlink", "truncate", "watch", "write")


def find(program: Program) -> Iterator[Hit]:
    """Every place that reaches files, the network or another part of the host."""
    for module in program.modules:
        rule = _rule_of_module(module.specifier)
        if rule is not None:
            yield Hit(rule, module.node, f"the module `{module.specifier[:60]}` reaches outside of the sandbox")
    for use in program.facts.uses:
        rule = _rule_of_global(use.path)
        if rule is not None and program.role(use.node) != "inspected":
            yield Hit(rule, use.node, f"`{'.'.join(map(str, use.path))}` reaches outside of the sandbox")


def _rule_of_module(specifier: str) -> Rule | None:
    name = specifier.removeprefix("node:").split("/", 1)[0]
    if specifier.startswith(("http:", "https:", "//", "npm:", "jsr:")) or name in _NETWORK_MODULES:
        return NETWORK
    if specifier.startswith("file:") or name in _FILE_MODULES:
        return FILES
    if name in _ELSEWHERE:
        return None
    return HOST if specifier.startswith(("bun:", "node:")) or name in _HOST_MODULES else None


def _rule_of_global(path: tuple[str | None, ...]) -> Rule | None:
    if path in _NETWORK_GLOBALS:
        return NETWORK
    if path in _FILE_GLOBALS:
        return FILES
    is_deno_file = len(path) == 2 and path[0] == "Deno" and path[1] is not None
    return FILES if is_deno_file and str(path[1]).startswith(_DENO_FILE_VERBS + _DENO_FILE_VERBS_TOO) else None
