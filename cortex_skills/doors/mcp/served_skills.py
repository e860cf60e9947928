"""`ServedSkills`: the skills that a server lists and calls, also while they are still loading.

Rules kept here:
- until the skills are loaded, those are listed whose manifests and signatures are in order; clients are notified when
  the lists differ afterwards (`list_changes`);
- a list waits until the skills are loaded or something is compiled for this machine, which takes long; everything
  else waits until they are loaded.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from cortex_sandbox import compiling

if TYPE_CHECKING:
    from cortex_skills.plugin import Plugin
    from cortex_skills.runtime.skill import Skill

_LOOK_S = 0.02


class ServedSkills:
    """The skills of a plugin.

    Args:
        plugin: the plugin.
        expected: the skills that `load` will load; empty when they are loaded.

    Attributes:
        error: why `load` failed.
    """

    def __init__(self, plugin: Plugin, expected: Mapping[str, Skill] = MappingProxyType({})) -> None:
        self._plugin = plugin
        self._expected = expected
        self._loaded = asyncio.Event()
        self.error: BaseException | None = None
        if not expected:
            self._loaded.set()

    @property
    def skills(self) -> Mapping[str, Skill]:
        """The active skills; until they are loaded, the expected ones."""
        return self._plugin.skills if self._loaded.is_set() else self._expected

    @property
    def is_loading(self) -> bool:
        """Whether they are being loaded."""
        return not self._loaded.is_set()

    async def loaded(self) -> None:
        """Wait until they are loaded."""
        await self._loaded.wait()

    async def known(self) -> None:
        """Wait until they are loaded, or will be so only after something was compiled."""
        while not self._loaded.is_set() and compiling.under_way() is None:
            await asyncio.sleep(_LOOK_S)

    def load(self, load: Callable[[], None], ended: Callable[[], None]) -> None:
        """Load them in a thread, and call `ended` on the event loop.

        The thread is a daemon: a compiler must not delay the end of the process.
        """
        loop = asyncio.get_running_loop()

        def end() -> None:
            self._loaded.set()
            ended()

        def run() -> None:
            try:
                load()
            except BaseException as error:
                self.error = error
            try:
                loop.call_soon_threadsafe(end)
            except RuntimeError:  # the loop is closed
                return

        threading.Thread(target=run, name="cortex-loading", daemon=True).start()
