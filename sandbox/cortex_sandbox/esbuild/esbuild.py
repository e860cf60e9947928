"""esbuild in a process of its own: one request, one response (`program.py`, `bundling.py`).

Rules kept here:
- every run sees only the files of its request (`wasi.py`), and leaves nothing for the next one;
- the files are in a folder whose name no import can contain, a digest of them all: a path that climbs above the folder,
  or starts at the root, does not lead back to them;
- run time, memory and the size of the response are limited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cortex_sandbox.errors import SandboxTimeout
from cortex_sandbox.esbuild.bundling import answer
from cortex_sandbox.esbuild.program import LATE, OUTPUT, TOO_LONG
from cortex_sandbox.esbuild.protocol import decode_output


class ResponseTooLong(Exception):
    """The response exceeds its size limit."""


def build(
    files: Mapping[str, str],
    entry: str,
    *,
    packages: Mapping[str, str],
    options: Sequence[str],
    timeout_s: float,
    response_bytes: int,
) -> dict[str, Any]:
    """Esbuild's response to a request to bundle `entry`.

    Args:
        files: text by relative POSIX path.
        entry: one of these paths.
        packages: one of these paths by the name of the package that it stands for.
        options: of the command line of esbuild.
        timeout_s: wall-clock seconds, without the time to start esbuild, and to compile it, once per machine.
        response_bytes: the maximum size of the response.

    Raises:
        SandboxTimeout: past the time limit.
        SandboxError: no process of esbuild can be started.
        ResponseTooLong: more than `response_bytes`.
        ValueError: esbuild stopped before it responded: out of memory or stack.
    """
    request = [dict(files), entry, dict(packages), list(options)]
    kind, output = answer(request, timeout_s, response_bytes)
    if kind == LATE:
        raise SandboxTimeout("stopped: transpiling took longer than its time limit", "Timeout")
    if kind == TOO_LONG:
        raise ResponseTooLong
    if kind != OUTPUT:
        raise ValueError("esbuild stopped before it responded")
    return decode_output(output)
