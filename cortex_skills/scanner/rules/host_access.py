"""`child-process`, `file-access`, `network-access`, `host-access`: access to the host outside the sandbox.

Rules kept here:
- the import of a host module is reported; a module that another rule reports is left to that rule;
- a global that reaches processes, the network or files is reported where it is reached, under any name; a function
  called `fetch` that the source declares is not reported;
- an address as the name of a module is network access;
- a path as the name of a module is file access when it starts at the root or climbs above the skill's folder, also when
  it leads back; percent forms are decoded first, and a backslash counts as `/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from cortex_skills.scanner.parsed_source import ModuleUse, ParsedSource
from cortex_skills.scanner.rule import Hit, Rule
from cortex_skills.scanner.values import Path

_REMEDY = "Remove it: a skill has the graph (`graphClient`) and `logger`, and no other access to the host."

PROCESS = Rule(
    id="child-process",
    severity="critical",
    title="Processes and workers",
    finds="A module or a global that starts, stops or rebinds processes and workers, under any name and by any route. "
    "Types that are imported from such a module, and declarations of the source with such a name, are not reported.",
    remedy="Remove it: a skill runs alone in its sandbox and cannot start a process.",
    trips='import { exec } from "node:child_process";',
    passes='import type { ChildProcess } from "node:child_process";',
)
FILES = Rule(
    id="file-access",
    severity="critical",
    title="Files of the host",
    finds="A module or a global that reads, writes or watches files, or stores data in a browser; a `file:` address, "
    "an absolute path, or a path that climbs above the skill's folder, as the name of a module. A file of the skill "
    "called `fs` is not reported.",
    remedy=_REMEDY,
    trips='import { readFile } from "node:fs/promises";',
    passes='import { readFile } from "./fs";',
)
NETWORK = Rule(
    id="network-access",
    severity="critical",
    title="The network",
    finds="A module or a global that reaches the network, where it is reached and under any name; an address as the "
    "name of a module. A function called `fetch` that the source declares, and an address in a text, are not reported.",
    remedy=_REMEDY,
    trips='const answer = await fetch("https://example.org");',
    passes='const seeAlso = "https://example.org";',
)
HOST = Rule(
    id="host-access",
    severity="critical",
    title="Another part of the host",
    finds="A module of the host that no other rule reports, such as `os` or `crypto`.",
    remedy=_REMEDY,
    trips='import { hostname } from "os";',
    passes='import { hostname } from "./os";',
)
RULES = (PROCESS, FILES, NETWORK, HOST)

_CODE_MODULES = frozenset({"module", "repl", "v8", "vm"})  # `dynamic-code` and `dynamic-import` report these
_PROCESS_MODULES = frozenset({"child_process", "cluster", "worker_threads"})
_FILE_MODULES = frozenset({"fs", "sqlite"})
_NETWORK_MODULES = frozenset({"dgram", "dns", "http", "http2", "https", "net", "tls"})
_HOST_MODULES = frozenset({
    "assert", "async_hooks", "buffer", "console", "constants", "crypto", "diagnostics_channel", "domain", "events",
    "inspector", "os", "path", "perf_hooks", "process", "punycode", "querystring", "readline", "sea", "stream",
    "string_decoder", "sys", "test", "timers", "trace_events", "tty", "url", "util", "wasi", "zlib",
})  # fmt: skip
_PROCESS_GLOBALS = frozenset({
    ("Bun", "$"), ("Bun", "spawn"), ("Bun", "spawnSync"), ("Deno", "Command"), ("Deno", "dlopen"), ("Deno", "exit"),
    ("Deno", "kill"), ("Deno", "run"), ("SharedWorker",), ("Worker",), ("process", "_linkedBinding"),
    ("process", "abort"), ("process", "binding"), ("process", "chdir"), ("process", "dlopen"), ("process", "exit"),
    ("process", "kill"), ("process", "reallyExit"),
})  # fmt: skip
_NETWORK_GLOBALS = frozenset({
    ("Bun", "connect"), ("Bun", "listen"), ("Bun", "serve"), ("Deno", "connect"), ("Deno", "connectTls"),
    ("Deno", "listen"), ("Deno", "resolveDns"), ("Deno", "serve"), ("EventSource",), ("RTCPeerConnection",),
    ("WebSocket",), ("WebTransport",), ("XMLHttpRequest",), ("fetch",), ("navigator", "sendBeacon"),
})  # fmt: skip
_FILE_GLOBALS = frozenset({
    ("Bun", "file"), ("Bun", "write"), ("localStorage",), ("indexedDB",), ("caches",), ("navigator", "storage"),
})  # fmt: skip
_DENO_FILE_VERBS = (
    "copy", "create", "link", "lstat", "make", "mkdir", "open", "read", "remove", "rename", "stat", "symlink",
    "truncate", "watch", "write",
)  # fmt: skip


def find(source: ParsedSource) -> Iterator[Hit]:
    """Every place that reaches processes, files, the network or another part of the host."""
    for module in source.modules:
        rule = FILES if _leaves(source.tree.filename, module.specifier) else _rule_of_module(module)
        if rule is not None:
            yield Hit(rule, module.node, f"the module `{module.specifier[:60]}` reaches outside the sandbox")
    for use in source.uses:
        rule = _rule_of_global(use.path)
        if rule is not None and use.role != "inspected":
            yield Hit(rule, use.node, f"`{use.name}` reaches outside the sandbox")


def _leaves(filename: str, specifier: str) -> bool:
    """Whether a module that a file of the skill imports by a path is named by one outside of the folder."""
    path = unquote(specifier).replace("\\", "/")
    if path.startswith("/"):
        return not path.startswith("//")  # an address
    if not path.startswith("."):
        return False
    depth = filename.replace("\\", "/").count("/")
    for part in path.split("/"):
        depth += -1 if part == ".." else part not in ("", ".")
        if depth < 0:
            return True
    return False


def _rule_of_module(module: ModuleUse) -> Rule | None:
    specifier, name = module.specifier, module.name
    if name in _PROCESS_MODULES:
        return PROCESS
    name = name.split("/", 1)[0]
    if specifier.startswith(("http:", "https:", "//", "npm:", "jsr:")) or name in _NETWORK_MODULES:
        return NETWORK
    if specifier.startswith("file:") or name in _FILE_MODULES:
        return FILES
    if name in _CODE_MODULES or name in _PROCESS_MODULES:
        return None
    return HOST if specifier.startswith(("bun:", "node:")) or name in _HOST_MODULES else None


def _rule_of_global(path: Path) -> Rule | None:
    if path in _PROCESS_GLOBALS:
        return PROCESS
    if path in _NETWORK_GLOBALS:
        return NETWORK
    is_deno_file = len(path) == 2 and path[0] == "Deno" and str(path[1]).startswith(_DENO_FILE_VERBS)
    return FILES if path in _FILE_GLOBALS or is_deno_file else None
