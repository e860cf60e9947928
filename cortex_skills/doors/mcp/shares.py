"""`Shares`: how many of something each caller may use at once.

Rules kept here:
- a caller uses at most `of_owner`, and all callers together at most `most`; what comes beyond that is refused at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from cortex_skills.doors.http.http_errors import HttpError


class Shares:
    """Counts what is in use.

    Args:
        what: the noun of what is counted, for the error.
        most: the largest number.
        of_owner: the largest number of one caller.
    """

    def __init__(self, what: str, most: int, of_owner: int) -> None:
        self._what = what
        self._most = most
        self._of_owner = of_owner
        self._used: Counter[str] = Counter()

    @contextmanager
    def one(self, owner: str) -> Iterator[None]:
        """Use one for the block.

        Raises:
            HttpError: `server_busy`: too many are in use.
        """
        if self._used[owner] >= self._of_owner or self._used.total() >= self._most:
            raise HttpError("server_busy", f"too many {self._what} are under way", hint="end some of them")
        self._used[owner] += 1
        try:
            yield
        finally:
            self._used[owner] -= 1
            if not self._used[owner]:
                del self._used[owner]
