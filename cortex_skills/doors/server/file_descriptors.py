"""How many connections the limit of the operating system on open files allows.

Rules kept here:
- each connection is an open file (RLIMIT_NOFILE); `SPARE` files are left for the store, the workers and the log,
  because a server that cannot open a file answers nobody, and cannot accept connections either;
- the soft limit of the process is raised as far as needed and permitted; it exists for programs that use `select`,
  and nothing here does.
"""

from __future__ import annotations

import logging
import sys

log = logging.getLogger(__name__)

SPARE = 512


def connections_within(wanted: int) -> int:
    """Raise the limit on open files if necessary; returns how many connections it allows, at most `wanted`."""
    if sys.platform == "win32":
        return wanted
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + SPARE
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return wanted
    raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    except (OSError, ValueError):  # macOS has a lower limit that `hard` does not tell
        raised = soft
    if raised >= needed:
        return wanted
    allowed = max(raised // 4, raised - SPARE)
    log.warning("only %d files may be open, so at most %d connections are served: raise `ulimit -n`", raised, allowed)
    return min(wanted, allowed)
