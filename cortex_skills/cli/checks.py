"""The checks of `doctor`.

Rules kept here:
- a check answers with verdicts and never raises; each says what it found and, if that is not well, how to mend it;
- the engines are not looked at but run;
- nothing is made that was not there, but the code cache: a store that is missing stays missing.
"""

from __future__ import annotations

import errno
import os
import platform
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import wraps
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cortex_skills import __version__
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_skills.cli.options import Common

_PYTHON = (3, 11)
_PACKAGES = ("pyoxigraph", "wasmtime", "tree-sitter", "jsonschema-rs")
_REINSTALL = "install cortex-skills again"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check found."""

    status: Literal["ok", "warn", "fail"]
    subject: str
    message: str
    hint: str = ""

    def to_json(self) -> dict[str, Any]:
        """The verdict as JSON."""
        return asdict(self)


Check = Callable[["Common"], Iterator[Verdict]]


def _named(subject: str, mend: str) -> Callable[[Check], Check]:
    """A check that turns whatever it meets into a verdict about `subject`."""

    def decorate(check: Check) -> Check:
        @wraps(check)
        def checked(common: Common) -> Iterator[Verdict]:
            try:
                yield from check(common)
            except CortexError as error:
                yield Verdict("fail", subject, error.message, error.hint)
            except Exception as error:
                yield Verdict("fail", subject, f"{type(error).__name__}: {error}", mend)

        return checked

    return decorate


@_named("versions", _REINSTALL)
def versions(_: Common) -> Iterator[Verdict]:
    """Python and the packages that matter."""
    running = platform.python_version()
    if sys.version_info >= _PYTHON:
        yield Verdict("ok", "python", running)
    else:
        yield Verdict("fail", "python", f"{running} is too old", "use Python 3.11 or newer")
    installed = [f"{name} {metadata.version(name)}" for name in _PACKAGES]
    yield Verdict("ok", "packages", f"cortex-skills {__version__}, {', '.join(installed)}")


@_named("sandbox", _REINSTALL)
def sandbox(_: Common) -> Iterator[Verdict]:
    """The QuickJS guest runs."""
    from cortex_sandbox import Limits, Sandbox

    with Sandbox(Limits()) as box:
        answer = box.evaluate("1 + 1")
    if answer == 2:
        yield Verdict("ok", "sandbox", "QuickJS runs (1 + 1 is 2)")
    else:
        yield Verdict("fail", "sandbox", f"QuickJS says that 1 + 1 is {answer!r}", _REINSTALL)


@_named("bundler", _REINSTALL)
def bundler(_: Common) -> Iterator[Verdict]:
    """The esbuild guest runs."""
    from cortex_sandbox import bundle

    code = bundle({"skill.ts": 'export default { name: "doctor" as string };'})
    if "as string" in code:
        yield Verdict("fail", "bundler", "esbuild left types in the code", _REINSTALL)
    else:
        yield Verdict("ok", "bundler", "esbuild runs (TypeScript became JavaScript)")


@_named("code cache", "set CORTEX_SANDBOX_CACHE to a folder of your own")
def code_cache(_: Common) -> Iterator[Verdict]:
    """The folder for compiled guests exists, is private, and can be written to."""
    from cortex_sandbox.cache import cache_folder

    folder = cache_folder()
    if folder is None:
        hint = "make its folder your own (chmod 700), or set CORTEX_SANDBOX_CACHE to another"
        yield Verdict("warn", "code cache", "not used: every start compiles for some seconds", hint)
        return
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        hint = "make it writable, or set CORTEX_SANDBOX_CACHE to another folder"
        yield Verdict("warn", "code cache", f"{folder} cannot be written to: {error.strerror}", hint)
        return
    yield Verdict("ok", "code cache", f"{folder} is private and writable")


@_named("isolation", "leave skillSandbox.isolation at in-process")
def isolation(common: Common) -> Iterator[Verdict]:
    """What the kernel gives the second ring; only looked at where the configuration asks for that."""
    try:
        wanted = common.settings().skill_sandbox.isolation == "process"
    except CortexError:
        return
    if not wanted:
        return
    from cortex_sandbox import protections

    for protection in protections():
        status: Literal["ok", "warn"] = "ok" if protection.in_force else "warn"
        yield Verdict(status, "isolation", f"{protection.name}: {protection.detail}")


@_named("configuration", "correct the settings")
def configuration(common: Common) -> Iterator[Verdict]:
    """The configuration is valid, and nothing in it was changed."""
    config = common.settings()
    for warning in config.warnings:
        yield Verdict("warn", "configuration", warning)
    if not config.warnings:
        yield Verdict("ok", "configuration", f"valid; namespace {config.agent_namespace}")


@_named("store", "see --store")
def store(common: Common) -> Iterator[Verdict]:
    """The store can be opened and read."""
    from cortex_graph import GraphError, namespaces_of, open_store
    from cortex_graph.stores.folders import folder_of
    from cortex_skills.errors import from_floor

    try:
        config = common.settings()
    except CortexError:
        yield Verdict("warn", "store", "not checked, since the configuration is not valid")
        return
    folder = folder_of(config.store) if isinstance(config.store, str) and config.store != "memory:" else None
    if folder is not None and _is_free(folder):
        yield _new_store(folder)
        return
    try:
        opened = open_store(config.store)
        try:
            count = len(namespaces_of(opened, config.base_iri))
        finally:
            opened.close()
    except GraphError as error:
        raise from_floor(error) or error from error
    namespaces = f"{count} namespace{'' if count == 1 else 's'}"
    yield Verdict("ok", "store", f"{config.store_name} can be opened and holds {namespaces}")


def _is_free(folder: Path) -> bool:
    """Whether a store would be made here by whoever opens it; a check makes none."""
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))


def _new_store(folder: Path) -> Verdict:
    """What there is to say of a store that is not there yet."""
    place = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if place.is_dir() and os.access(place, os.W_OK | os.X_OK):
        return Verdict("ok", "store", f"{folder} holds none yet; the first command that needs one makes it")
    hint = f"make {place} writable, or name another place with --store or CORTEX_STORE"
    return Verdict("fail", "store", f"{folder} cannot be made: {place} is not a folder that you may write to", hint)


@_named("keys", "see proofs.keys")
def keys(common: Common) -> Iterator[Verdict]:
    """The keys that sign can be used."""
    from cortex_skills.proofs.keys.local import key_folder

    try:
        config = common.settings()
    except CortexError:
        return
    folder = key_folder(config)
    found = folder.list()
    for key in found:
        if key.problem:
            status: Literal["warn", "fail"] = "fail" if key.name == config.proofs.key else "warn"
            yield Verdict(status, "keys", key.problem, f"`cortex-skills key --help`; the keys are in {folder.path}")
    if not found:
        yield Verdict("ok", "keys", f"{folder.path} holds none yet; the first proof makes one")
    elif not any(key.problem for key in found):
        yield Verdict("ok", "keys", f"{len(found)} in {folder.path} can be used")


@_named("graph", _REINSTALL)
def graph(_: Common) -> Iterator[Verdict]:
    """The graph engine writes, reads, and answers a query."""
    from cortex_graph import NamespacedGraph, open_store

    store = open_store("memory:")
    try:
        inside = NamespacedGraph(store, "doctor")
        inside.create_triple({"subject": "a", "predicate": "p", "object": 1})
        found = inside.list_triples({"predicate": "p"})["triples"]
    finally:
        store.close()
    if [triple["object"] for triple in found] == [1]:
        yield Verdict("ok", "graph", "Oxigraph runs (a triple was written and read)")
    else:
        yield Verdict("fail", "graph", f"Oxigraph gave {found!r} for the triple that was written", _REINSTALL)


@_named("port", "serve on another port: --port, or cortex.port")
def port(common: Common) -> Iterator[Verdict]:
    """Whether `serve` could listen where it is told to."""
    try:
        settings = common.settings().cortex
    except CortexError:
        return
    where = f"{settings.host}:{settings.port}"
    try:
        kind, *_, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        with socket.socket(kind, socket.SOCK_STREAM) as listener:
            if os.name == "posix":  # as a server does, so that one that ended just now is in nobody's way
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(1)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            hint = "if that is not `cortex-skills serve`, serve on another port: --port, or cortex.port"
            yield Verdict("warn", "port", f"something listens on {where} already", hint)
            return
        hint = "set cortex.host to an address of this machine, and cortex.port to a port that you may use"
        yield Verdict("warn", "port", f"`serve` cannot listen on {where}: {error.strerror}", hint)
        return
    yield Verdict("ok", "port", f"{where} is free for `serve`")


@_named("node.js", "see nodejs.org")
def node(common: Common) -> Iterator[Verdict]:
    """Whether Node.js is there, where the direct mode asks for it; else nothing that is installed needs it."""
    from cortex_sandbox import SandboxError
    from cortex_sandbox.direct.gate import VARIABLES, check_allowed
    from cortex_sandbox.direct.node import find_node

    try:
        is_direct = not common.settings().skill_sandbox.sandbox_enabled
    except CortexError:
        is_direct = False
    if not is_direct:
        place = shutil.which("node")
        what = "only needed to build cortex-skills from its source, and for the direct mode"
        yield Verdict("ok", "node.js", f"{place} ({what})" if place else f"not there ({what})")
        return
    leave = "or set skillSandbox.sandboxEnabled to true, which needs no Node.js"
    try:
        found = find_node()
        yield Verdict("ok", "node.js", f"{found.path} {'.'.join(map(str, found.version))}, for the direct mode")
    except SandboxError as error:
        yield Verdict("fail", "node.js", error.message, f"install Node.js 20 or newer, {leave}")
    try:
        check_allowed()
        yield Verdict(
            "warn", "direct mode", "skills run WITHOUT A SANDBOX, with every right of your account", leave[3:]
        )
    except SandboxError as error:
        yield Verdict("fail", "direct mode", error.message, f"set {VARIABLES[1]}=1, {leave}")


CHECKS: tuple[Check, ...] = (
    versions,
    sandbox,
    bundler,
    graph,
    code_cache,
    isolation,
    configuration,
    store,
    keys,
    port,
    node,
)
