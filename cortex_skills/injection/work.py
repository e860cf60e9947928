"""How much the detector may still read for one text.

Rules kept here:
- what is counted is characters, in every reading of the text and of what is decoded from it; so a text bounds its own
  time, however it is made;
- a time may end the work earlier; what was not read by then is not judged.
"""

from __future__ import annotations

import math
import time

# A text without disguises is read once or twice; one with many at once is read a few times more.
READINGS, _FLOOR = 12, 1 << 12


class OutOfWork(Exception):
    """There is nothing left to read with."""


class Work:
    """What may be read for a text of so many characters.

    Args:
        characters: of the text.
        until: when the work ends, on the clock of `time.monotonic`.
    """

    def __init__(self, characters: int, until: float = math.inf) -> None:
        self.left = READINGS * characters + _FLOOR
        self._until = until

    def read(self, characters: int) -> None:
        """Count a reading.

        Raises:
            OutOfWork: before the reading, when it is more than is left.
        """
        self.left -= characters
        if self.left < 0 or (self._until != math.inf and time.monotonic() >= self._until):
            self.left = -1
            raise OutOfWork
