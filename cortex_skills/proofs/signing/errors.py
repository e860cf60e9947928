"""Why a signed document is not good, in the two ways that a verdict tells apart."""

from __future__ import annotations


class MalformedError(Exception):
    """The document is not what the standard says, so whatever its proof says is refuted."""


class UnsupportedError(Exception):
    """The document may be good for somebody else; here it cannot be checked, so nothing is said of it."""
