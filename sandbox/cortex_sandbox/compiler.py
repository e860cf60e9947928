"""Source text → bytecode, in a guest that only compiles, remembered for the next sandbox with the same source.

Rules kept here:
- source is compiled in an instance that runs nothing and is thrown away: sandboxes themselves have no compiler;
- what is remembered is bounded in number and in bytes, and is keyed by everything that it depends on;
- the time limit of the load covers the compiling.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict

from .errors import SandboxTimeout
from .quickjs import compiler

_MAX_ENTRIES = 512
_MAX_BYTES = 32 << 20

_Key = tuple[int, str, str]
_lock = threading.Lock()
_known: OrderedDict[_Key, bytes] = OrderedDict()
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def compiled(source: str, filename: str, kind: int, *, memory_bytes: int, deadline: float) -> bytes:
    """The bytecode of a source text.

    Args:
        source: JavaScript.
        filename: as it shall stand in stacks.
        kind: `quickjs.SCRIPT` or `quickjs.MODULE`.
        memory_bytes: what compiling may use.
        deadline: when it must be done, in monotonic seconds.

    Raises:
        ThrownError: a SyntaxError, with its place.
        SandboxTimeout, SandboxMemoryError: past a limit.

    """
    key = (kind, filename, source)
    with _lock:
        if key in _known:
            _known.move_to_end(key)
            return _known[key]
    if time.monotonic() >= deadline:
        raise SandboxTimeout("stopped: the time limit was reached", "Timeout")
    guest = compiler(memory_bytes)
    try:
        code = guest.instance.run(lambda: guest.compile(source, filename, kind), deadline)
    finally:
        guest.instance.close()
    with _lock:
        _known[key] = code
        while len(_known) > _MAX_ENTRIES or sum(len(k[2]) + len(v) for k, v in _known.items()) > _MAX_BYTES:
            _known.popitem(last=False)
    return code
