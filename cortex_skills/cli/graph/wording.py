"""Numbers of things, in words."""

from __future__ import annotations


def counted(number: int, thing: str) -> str:
    """`1 statement`, `2 statements`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def are(number: int) -> str:
    """`is` of one, `are` of several."""
    return "is" if number == 1 else "are"
