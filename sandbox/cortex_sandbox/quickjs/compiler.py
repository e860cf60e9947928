"""Source text → bytecode, in a guest that only compiles, with a cache.

Rules kept here:
- source is compiled in an instance that runs nothing and is discarded: sandboxes themselves have no compiler;
- the cache is limited in number and in bytes; its key is everything that the bytecode depends on;
- the time limit of the load includes the compilation.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict

from cortex_sandbox.errors import SandboxTimeout
from cortex_sandbox.quickjs.guest import compiler

_MAX_ENTRIES = 512
_MAX_BYTES = 32 << 20

_Key = tuple[int, str, str]
_lock = threading.Lock()
_cache: OrderedDict[_Key, bytes] = OrderedDict()
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def compiled(source: str, filename: str, kind: int, *, memory_bytes: int, deadline: float) -> bytes:
    """The bytecode of a source text.

    Args:
        source: JavaScript.
        filename: the name in stack traces.
        kind: `guest.SCRIPT` or `guest.MODULE`.
        memory_bytes: the memory limit of the compiler.
        deadline: when compilation is stopped, in monotonic seconds.

    Raises:
        ThrownError: a SyntaxError, with its place.
        SandboxTimeout, SandboxMemoryError: past a limit.
    """
    key = (kind, filename, source)
    with _lock:
        if key in _cache:
            _cache.move_to_end(key)
            return _cache[key]
    if time.monotonic() >= deadline:
        raise SandboxTimeout("stopped: the time limit was reached", "Timeout")
    guest = compiler(memory_bytes)
    try:
        code = guest.instance.run(lambda: guest.compile(source, filename, kind), deadline)
    finally:
        guest.instance.close()
    with _lock:
        _cache[key] = code
        while len(_cache) > _MAX_ENTRIES or sum(len(k[2]) + len(v) for k, v in _cache.items()) > _MAX_BYTES:
            _cache.popitem(last=False)
    return code
