"""Times as the graph holds them.

Rules kept here:
- a time is written as the canonical `xsd:dateTime` of its instant (XML Schema 1.1 Part 2, §3.3.7 and E.3.3): in UTC
  with `Z`, and no zero at the end of a fraction. A server that keeps values and not spellings (`stores/remote`) gives
  back the same text.
"""

from __future__ import annotations

from datetime import UTC, datetime


def date_time(moment: datetime) -> str:
    """The text of an `xsd:dateTime`.

    Args:
        moment: with its time zone.

    Raises:
        ValueError: it has no time zone, so that nobody knows when it is.

    """
    if moment.tzinfo is None:
        raise ValueError("a time without a time zone is no instant")
    seconds, _, fraction = moment.astimezone(UTC).replace(tzinfo=None).isoformat().partition(".")
    fraction = fraction.rstrip("0")
    return f"{seconds}.{fraction}Z" if fraction else f"{seconds}Z"


def to_milliseconds(moment: datetime) -> datetime:
    """The same time without what is finer than a millisecond."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
