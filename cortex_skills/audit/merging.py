"""The journals of several hosts as one sequence of lines by time.

Rules kept here:
- lines are as they are, and those of one journal keep their order, so that each chain can be verified in the result;
- a record has the time at which its call began, and stands behind those that ended before: times of one journal may go
  back, and those of the others are placed by the latest time that was read of it.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator
from operator import itemgetter
from pathlib import Path

from cortex_skills.audit.journal_files import day_files, lines_in
from cortex_skills.audit.journal_head import NAME
from cortex_skills.audit.lines import BEGINNING, read_line

_TIME = re.compile(re.escape(BEGINNING) + rb'([0-9T:.+-]{1,40})"')


def is_journal(folder: Path) -> bool:
    """Whether a folder has a journal."""
    return folder.is_dir() and (bool(day_files(folder)) or (folder / NAME).exists())


def merged(folders: Iterable[Path]) -> Iterator[bytes]:
    """The lines of the journals in some folders by time; what is no record is left out.

    Raises:
        OSError: a file cannot be read.
    """
    return map(itemgetter(1), heapq.merge(*map(_timed, folders), key=itemgetter(0)))


def _timed(folder: Path) -> Iterator[tuple[bytes, bytes]]:
    latest = b""
    for path in day_files(folder):
        for line in lines_in(path):
            found = _TIME.match(line)
            if found is not None and read_line(line) is not None:
                latest = max(latest, found[1])
                yield latest, line
