"""The entry points of installed distributions, in an order that does not depend on the installation."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

log = logging.getLogger(__name__)


def added_entries(group: str, what: str) -> list[EntryPoint]:
    """The entry points of a group by name and value; none, with a warning, when their metadata cannot be read.

    Args:
        group: such as `cortex_skills.tools`.
        what: the things that they add, for the warning.
    """
    from importlib.metadata import entry_points  # which takes a tenth of the start of a command

    try:
        return sorted(entry_points(group=group), key=lambda entry: (entry.name, entry.value))
    except Exception as error:  # unreadable metadata of any distribution
        log.warning("%s of other distributions are skipped: their metadata cannot be read: %s", what, error)
        return []
