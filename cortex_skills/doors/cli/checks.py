"""The checks of `doctor`.

Rules kept here:
- a check yields results and never raises; each result states what was found and, for a fault, how to correct it;
- engines are run, not only found;
- a check creates nothing but the code cache: a missing store stays missing. With `verification.owner` it accepts a new
  list of the owner, and with `audit.folder` this host gets its id, as any command does.
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

from cortex_skills.doors.cli.output import of_files
from cortex_skills.errors import CortexError
from cortex_skills.version import __version__

if TYPE_CHECKING:
    from cortex_graph import GraphStore
    from cortex_skills.config.settings import Config
    from cortex_skills.doors.cli.options import Common

_PYTHON = (3, 11)
_PACKAGES = ("pyoxigraph", "wasmtime", "tree-sitter", "jsonschema-rs")
_REINSTALL = "install cortex-skills again"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check."""

    status: Literal["ok", "warn", "fail"]
    subject: str
    message: str
    hint: str = ""

    def to_json(self) -> dict[str, Any]:
        """The result as JSON."""
        return asdict(self)


Check = Callable[["Common"], Iterator[CheckResult]]


def _named(subject: str, remedy: str) -> Callable[[Check], Check]:
    """Decorate a check so that an exception becomes a result about `subject`."""

    def decorate(check: Check) -> Check:
        @wraps(check)
        def checked(common: Common) -> Iterator[CheckResult]:
            try:
                yield from check(common)
            except CortexError as error:
                yield CheckResult("fail", subject, error.message, error.hint)
            except OSError as error:
                message, hint = of_files(error)
                yield CheckResult("fail", subject, message, hint or remedy)
            except Exception as error:
                yield CheckResult("fail", subject, f"{type(error).__name__}: {error}", remedy)

        return checked

    return decorate


@_named("versions", _REINSTALL)
def versions(_: Common) -> Iterator[CheckResult]:
    """The versions of Python and of the main packages."""
    running = platform.python_version()
    if sys.version_info >= _PYTHON:
        yield CheckResult("ok", "python", running)
    else:
        yield CheckResult("fail", "python", f"{running} is too old", "use Python 3.11 or newer")
    installed = [f"{name} {metadata.version(name)}" for name in _PACKAGES]
    yield CheckResult("ok", "packages", f"cortex-skills {__version__}, {', '.join(installed)}")


@_named("features", _REINSTALL)
def installed_features(_: Common) -> Iterator[CheckResult]:
    """What the installed features name can be imported."""
    from cortex_skills.feature import faults, features, import_everything

    import_everything()
    for name, fault in faults().items():
        yield CheckResult("fail", "features", f"{name} cannot be used: {fault}", "install its distribution again")
    usable = [feature.name for feature in features() if feature.name not in faults()]
    yield CheckResult("ok", "features", ", ".join(usable) or "none is installed")


@_named("sandbox", _REINSTALL)
def sandbox(_: Common) -> Iterator[CheckResult]:
    """The QuickJS guest runs."""
    from cortex_sandbox import Limits, Sandbox

    with Sandbox(Limits()) as box:
        answer = box.evaluate("1 + 1")
    if answer == 2:
        yield CheckResult("ok", "sandbox", "QuickJS runs (1 + 1 is 2)")
    else:
        yield CheckResult("fail", "sandbox", f"QuickJS evaluates 1 + 1 to {answer!r}", _REINSTALL)


@_named("bundler", _REINSTALL)
def bundler(_: Common) -> Iterator[CheckResult]:
    """The esbuild guest runs."""
    from cortex_sandbox import bundle

    code = bundle({"skill.ts": 'export default { name: "doctor" as string };'})
    if "as string" in code:
        yield CheckResult("fail", "bundler", "esbuild left types in the code", _REINSTALL)
    else:
        yield CheckResult("ok", "bundler", "esbuild runs (TypeScript became JavaScript)")


@_named("code cache", "set CORTEX_SANDBOX_CACHE to a folder of your own")
def code_cache(_: Common) -> Iterator[CheckResult]:
    """The folder for compiled guests exists, is private, and can be written to."""
    from cortex_sandbox.engine.cache import cache_folder

    folder = cache_folder()
    if folder is None:
        hint = "make the folder private (chmod 700), or set CORTEX_SANDBOX_CACHE to another"
        yield CheckResult("warn", "code cache", "not used: every start compiles for several seconds", hint)
        return
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        hint = "make it writable, or set CORTEX_SANDBOX_CACHE to another folder"
        yield CheckResult("warn", "code cache", f"{folder} cannot be written to: {error.strerror}", hint)
        return
    yield CheckResult("ok", "code cache", f"{folder} is private and writable")


@_named("explorer", _REINSTALL)
def explorer(_: Common) -> Iterator[CheckResult]:
    """The scripts and the style sheet of the explorer were built."""
    from cortex_skills.doors.explorer.assets import FOLDER, files

    missing = [name for name, file in files().items() if not (FOLDER / file).is_file()]
    if files() and not missing:
        yield CheckResult("ok", "explorer", f"{len(files())} assets, {', '.join(sorted(files()))}")
        return
    found = f"{', '.join(missing)} is missing" if missing else "its scripts and style sheet were not built"
    hint = "install the wheel, or run `python hatch_build.py` in a checkout, which needs Node.js 20 or newer"
    yield CheckResult("warn", "explorer", f"{found}: its pages work without them", hint)


@_named("isolation", "leave skillSandbox.isolation at in-process")
def isolation(common: Common) -> Iterator[CheckResult]:
    """The protections of worker processes that the kernel offers, when the configuration uses them."""
    try:
        wanted = common.settings().skill_sandbox.isolation == "process"
    except CortexError:
        return
    if not wanted:
        return
    from cortex_sandbox import protections

    for protection in protections():
        status: Literal["ok", "warn"] = "ok" if protection.in_force else "warn"
        yield CheckResult(status, "isolation", f"{protection.name}: {protection.detail}")


@_named("configuration", "correct the settings")
def configuration(common: Common) -> Iterator[CheckResult]:
    """The configuration is valid, and no value was clamped."""
    config = common.settings()
    for warning in config.warnings:
        yield CheckResult("warn", "configuration", warning)
    if not config.warnings:
        yield CheckResult("ok", "configuration", f"valid; namespace {config.agent_namespace}")


@_named("store", "see --store")
def store(common: Common) -> Iterator[CheckResult]:
    """The store can be opened and read."""
    from cortex_graph import GraphError, namespaces_of
    from cortex_graph.store import InFolder
    from cortex_skills.config.open_graph import configured_store
    from cortex_skills.errors import from_floor

    try:
        config = common.settings()
    except CortexError:
        yield CheckResult("warn", "store", "not checked, because the configuration is not valid")
        return
    folder = config.store_folder
    if folder is not None and _is_free(folder):
        yield _new_store(folder)
        return
    try:
        opened = configured_store(config)
        try:
            if isinstance(opened, InFolder) and opened.damage is not None:
                raise opened.damage
            count = len(namespaces_of(opened, config.base_iri))
            shared = _shared_trust(opened, config)
            is_read_only = isinstance(opened, InFolder) and opened.is_read_only
        finally:
            opened.close()
    except GraphError as error:
        raise from_floor(error) or error from error
    namespaces = f"{count} namespace{'' if count == 1 else 's'}"
    found = f"{config.store_name} can be opened and holds {namespaces}"
    if is_read_only:
        hint = "make its folder writable for this user, and free some disk space, if agents are to write"
        yield CheckResult("warn", "store", f"{found}, and cannot be written to", hint)
    else:
        yield CheckResult("ok", "store", found)
    if shared is not None:
        yield CheckResult("fail", "shared trust", f"every call is refused: {shared.message}", shared.hint)


def _shared_trust(opened: GraphStore, config: Config) -> CortexError | None:
    """Why the list of the owner in the store is not accepted."""
    from cortex_graph.naming.names import Names
    from cortex_skills.signatures.fleet_trust import FleetTrust
    from cortex_skills.signatures.trust_file import trust_of

    try:
        FleetTrust(opened, Names(config.agent_namespace, config.base_iri), trust_of(config)).look()
    except CortexError as error:
        return error if error.code == "signature_invalid" else None
    return None


@_named("store files", "see `cortex-skills graph check`")
def store_files(common: Common) -> Iterator[CheckResult]:
    """The files of the store are intact: every block is read, which takes about 25 s for a million triples."""
    from cortex_graph import GraphError
    from cortex_graph.transfer import check
    from cortex_skills.errors import from_floor

    config = common.settings()
    folder = config.store_folder
    if folder is None or _is_free(folder):
        yield CheckResult("ok", "store files", "none on this machine")
        return
    try:
        found = check(folder)
    except GraphError as error:
        raise from_floor(error) or error from error
    yield CheckResult(
        "ok", "store files", f"{found.triples:,} triples are intact, and no acknowledged write is missing"
    )


def _is_free(folder: Path) -> bool:
    """Whether opening the store would create it here; a check creates none."""
    try:
        return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    except PermissionError:
        return False


def _new_store(folder: Path) -> CheckResult:
    """The result for a store that does not exist yet."""
    place = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if place.is_dir() and os.access(place, os.W_OK | os.X_OK):
        return CheckResult(
            "ok", "store", f"{folder} does not exist yet; the first command that needs the store creates it"
        )
    hint = f"make {place} writable, or name another place with --store or CORTEX_STORE"
    return CheckResult("fail", "store", f"{folder} cannot be created: {place} is not a writable folder", hint)


@_named("keys", "see proofs.keys")
def keys(common: Common) -> Iterator[CheckResult]:
    """The signing keys are usable."""
    from cortex_skills.keys.folder import key_folder

    try:
        config = common.settings()
    except CortexError:
        return
    folder = key_folder(config)
    found = folder.list()
    for key in found:
        if key.problem:
            status: Literal["warn", "fail"] = "fail" if key.name == config.proofs.key else "warn"
            yield CheckResult(status, "keys", key.problem, key.hint)
    if not found:
        yield CheckResult("ok", "keys", f"{folder.path} holds no key yet; the first proof creates one")
    elif not any(key.problem for key in found):
        yield CheckResult("ok", "keys", f"{len(found)} in {folder.path}, all usable")


@_named("host", "see docs/scaling.md")
def host(common: Common) -> Iterator[CheckResult]:
    """The identity of the host and the trust store were made here."""
    from cortex_skills.audit.journal_host import other_host
    from cortex_skills.config.host_identity import HostIdentity, copied
    from cortex_skills.signatures.trust_file import trust_of

    try:
        config = common.settings()
    except CortexError:
        return
    hint = "`cortex-skills doctor --adopt` shows what differs, and uses it as it is"
    moved = trust_of(config).moved()
    if moved is not None:
        yield CheckResult("fail", "host", f"the trust store is not used: {moved.words()}", hint)
    unusable = trust_of(config).unusable_list()
    if unusable:
        yield CheckResult("fail", "host", f"the list of the owner is not used: {unusable}", hint)
    other = other_host(Path(config.audit.folder), HostIdentity.of(config)) if config.audit.folder else ""
    if other:
        yield CheckResult("fail", "host", f"the journal in audit.folder is that of {other}", hint)
    if problem := copied():
        yield CheckResult("warn", "host", f"its id is that of another host: {problem}", hint)
    elif moved is None and not unusable and not other:
        yield CheckResult("ok", "host", "its id and its trust store were made here, or at their first use")


@_named("graph", _REINSTALL)
def graph(_: Common) -> Iterator[CheckResult]:
    """The graph engine writes and reads a triple."""
    from cortex_graph import NamespacedGraph, open_store

    store = open_store("memory:")
    try:
        inside = NamespacedGraph(store, "doctor")
        inside.create_triple({"subject": "a", "predicate": "p", "object": 1})
        found = inside.list_triples({"predicate": "p"})["triples"]
    finally:
        store.close()
    if [triple["object"] for triple in found] == [1]:
        yield CheckResult("ok", "graph", "Oxigraph runs (a triple was written and read)")
    else:
        yield CheckResult("fail", "graph", f"Oxigraph returned {found!r} for the triple that was written", _REINSTALL)


@_named("port", "serve on another port: --port, or cortex.port")
def port(common: Common) -> Iterator[CheckResult]:
    """Whether `serve` could listen at the configured address."""
    try:
        settings = common.settings().serving
    except CortexError:
        return
    where = f"{settings.host}:{settings.port}"
    try:
        kind, *_, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        with socket.socket(kind, socket.SOCK_STREAM) as listener:
            if os.name == "posix":  # as a server does, so that a connection in TIME_WAIT does not count
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(1)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            hint = "if it is not `cortex-skills serve`, use another port: --port, or cortex.port"
            yield CheckResult("warn", "port", f"another process already listens on {where}", hint)
            return
        hint = "set cortex.host to an address of this machine, and cortex.port to a port that you may bind"
        yield CheckResult("warn", "port", f"`serve` cannot listen on {where}: {error.strerror}", hint)
        return
    yield CheckResult("ok", "port", f"{where} is free for `serve`")


@_named("node.js", "see nodejs.org")
def node(common: Common) -> Iterator[CheckResult]:
    """Node.js is installed, when the direct mode needs it."""
    from cortex_sandbox import SandboxError
    from cortex_sandbox.direct.node import find_node
    from cortex_sandbox.direct.opt_in import VARIABLES, check_allowed

    try:
        is_direct = not common.settings().skill_sandbox.sandbox_enabled
    except CortexError:
        is_direct = False
    if not is_direct:
        place = shutil.which("node")
        what = "needed only to build cortex-skills from source, and for the direct mode"
        yield CheckResult("ok", "node.js", f"{place} ({what})" if place else f"not installed ({what})")
        return
    leave = "or set skillSandbox.sandboxEnabled to true, which needs no Node.js"
    try:
        found = find_node()
        yield CheckResult("ok", "node.js", f"{found.path} {'.'.join(map(str, found.version))}, for the direct mode")
    except SandboxError as error:
        yield CheckResult("fail", "node.js", error.message, f"install Node.js 20 or newer, {leave}")
    try:
        check_allowed()
        yield CheckResult(
            "warn", "direct mode", "skills run WITHOUT A SANDBOX, with every right of your account", leave[3:]
        )
    except SandboxError as error:
        yield CheckResult("fail", "direct mode", error.message, f"set {VARIABLES[1]}=1, {leave}")


CHECKS: tuple[Check, ...] = (
    versions,
    installed_features,
    sandbox,
    bundler,
    graph,
    code_cache,
    explorer,
    isolation,
    configuration,
    store,
    keys,
    host,
    port,
    node,
)
