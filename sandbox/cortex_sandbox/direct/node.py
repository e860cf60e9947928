"""The installed Node.js: its path and version, the files that it loads without a bundle, and its command line.

Rules kept here:
- a Node.js that is missing or too old is an error, before anything is started;
- the skill's process gets the usual environment variables, and none that may hold a secret or change how Node.js runs;
- a debugger can attach on a loopback address only.
"""

from __future__ import annotations

import ipaddress
import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cortex_sandbox.errors import SandboxError

RUNNER = Path(__file__).with_name("runner.mjs")
MIN_VERSION = (20, 0)
_PROBE = "JSON.stringify([process.versions.node, Boolean(process.features.typescript)])"
_PROBE_S = 10.0
_NATIVE = frozenset({".js", ".mjs"})
_TYPED = frozenset({".ts", ".mts"})
_VARIABLES = frozenset({"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR"})


@dataclass(frozen=True, slots=True)
class NodeRuntime:
    """A Node.js: its path, its version, and whether it strips TypeScript types without a bundle."""

    path: str
    version: tuple[int, ...]
    strips_types: bool

    def loads(self, entry: str) -> bool:
        """Whether it can load this file without a bundle."""
        suffix = Path(entry).suffix
        return suffix in _NATIVE or (self.strips_types and suffix in _TYPED)

    def command(self, program: Path, pipes: Sequence[int], inspect: str | None) -> list[str]:
        """The command that runs the runner, then a program.

        Args:
            program: the module that is loaded.
            pipes: the open descriptors for the runner.
            inspect: the address for a debugger, from `inspector_address`.
        """
        debugger = [] if inspect is None else [f"--inspect-brk={inspect}"]
        flags = ["--enable-source-maps", "--stack-trace-limit=50", "--no-warnings", "--import", RUNNER.as_uri()]
        return [self.path, *debugger, *flags, str(program), *map(str, pipes)]


def find_node() -> NodeRuntime:
    """The Node.js on the `PATH`.

    Raises:
        SandboxError: `DirectModeUnavailable` when there is none, it does not run, or it is older than `MIN_VERSION`.
    """
    path = shutil.which("node")
    if path is None:
        raise SandboxError(
            "the direct mode needs Node.js, and there is no `node` on the PATH: install Node.js 20 or newer, or keep "
            "the sandbox on, which does not need it",
            "DirectModeUnavailable",
        )
    node = _probed(path)
    if node.version < MIN_VERSION:
        raise SandboxError(
            f"the direct mode needs Node.js {MIN_VERSION[0]} or newer; {path} is {'.'.join(map(str, node.version))}",
            "DirectModeUnavailable",
        )
    return node


@cache
def _probed(path: str) -> NodeRuntime:
    try:
        probe = subprocess.run(  # noqa: S603 - the path is the user's `node`
            [path, "-p", _PROBE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_S,
            check=True,
            env=child_environment(),
        )
        version, strips_types = json.loads(probe.stdout)
        return NodeRuntime(path, tuple(int(part) for part in version.split("-")[0].split(".")), strips_types)
    except (OSError, ValueError, TypeError, AttributeError, subprocess.SubprocessError) as error:
        raise SandboxError(f"{path} does not run as Node.js: {error}", "DirectModeUnavailable") from None


def child_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The part of the host's environment that the skill's process gets."""
    return {name: value for name, value in environment.items() if name in _VARIABLES or name.startswith("LC_")}


def inspector_address(text: str) -> str:
    """The address for a debugger, in the format of Node.js.

    Args:
        text: for example `127.0.0.1:9229` or `[::1]:9229`.

    Raises:
        ValueError: when it is not a loopback address with a port.
    """
    host, _, port = text.rpartition(":")
    try:
        address = ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
        if address.is_loopback and port.isascii() and port.isdigit() and 0 < int(port) < 1 << 16:
            return f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"
    except ValueError:
        pass
    raise ValueError(f"a debugger needs a loopback address with a port, such as 127.0.0.1:9229, not {text!r}")
