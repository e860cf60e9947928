"""The checks of `doctor`.

Rules kept here:
- a check answers with verdicts and never raises; each says what it found and, if that is not well, how to mend it;
- the guests are not looked at but run.
"""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import wraps
from importlib import metadata
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
    from cortex_sandbox.code_cache import cache_folder

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
    from cortex_skills.errors import from_floor

    try:
        config = common.settings()
    except CortexError:
        yield Verdict("warn", "store", "not checked, since the configuration is not valid")
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


@_named("node.js", "see nodejs.org")
def node(_: Common) -> Iterator[Verdict]:
    """Whether Node.js is there, which nothing that is installed needs."""
    place = shutil.which("node")
    what = "only needed to build cortex-skills from its source, and for the direct mode"
    yield Verdict("ok", "node.js", f"{place} ({what})" if place else f"not there ({what})")


CHECKS: tuple[Check, ...] = (versions, sandbox, bundler, code_cache, isolation, configuration, store, node)
