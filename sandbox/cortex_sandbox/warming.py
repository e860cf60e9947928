"""Compiles the guests for this machine before a skill needs them.

Rules kept here:
- what is compiled already is only opened; without a usable cache nothing is done, since nothing would be kept.
"""

from __future__ import annotations

from cortex_sandbox.engine.cache import cache_folder
from cortex_sandbox.engine.engine import engine_for
from cortex_sandbox.esbuild.bundling import prepare
from cortex_sandbox.limits import Limits
from cortex_sandbox.quickjs.guest import prepare_compiler
from cortex_sandbox.quickjs.image import image_for


def warm_up(limits: Limits) -> None:
    """Compile what a sandbox with these limits and the bundler need.

    Raises:
        SandboxError: named `SandboxUnavailable`: the compiler did not end its work.
    """
    if cache_folder() is None:
        return
    prepare_compiler(limits.memory_bytes)
    image_for(engine_for(limits.stack_bytes), limits.memory_bytes)
    prepare()
