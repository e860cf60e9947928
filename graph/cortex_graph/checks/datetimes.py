"""Times as the graph stores them.

Rules kept here:
- a time is written as the canonical `xsd:dateTime` of its instant (XML Schema 1.1 Part 2, §3.3.7 and E.3.3): in UTC
  with `Z`, without trailing zeros in the fraction. A server that stores values instead of lexical forms
  (`stores/remote`) returns the same text.
"""

from __future__ import annotations

from datetime import UTC, datetime


def date_time(moment: datetime) -> str:
    """Return the text of an `xsd:dateTime`.

    Args:
        moment: with its time zone.

    Raises:
        ValueError: it has no time zone.
    """
    if moment.tzinfo is None:
        raise ValueError("a time without a time zone is not an instant")
    seconds, _, fraction = moment.astimezone(UTC).replace(tzinfo=None).isoformat().partition(".")
    fraction = fraction.rstrip("0")
    return f"{seconds}.{fraction}Z" if fraction else f"{seconds}Z"


def to_milliseconds(moment: datetime) -> datetime:
    """Return the time truncated to milliseconds."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
