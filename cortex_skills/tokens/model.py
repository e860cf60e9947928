"""What a token is, without any input or output.

Rules kept here:
- the text of a token holds 256 random bits and is shown once; what is kept is its SHA-256. That many bits need no slow
  hash: there is nothing to guess;
- a token names its namespaces (`*` is every one), its permissions and when it expires; nothing is implied;
- `read` is reading, `write` is creating and deleting, `provenance` is saying that somebody else asserted it;
- digests are compared in constant time, and with every token there is.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from cortex_graph.moments import date_time
from cortex_skills.errors import CortexError

PERMISSIONS = ("read", "write", "provenance")
ALL_NAMESPACES = "*"

_PREFIX = "cortex_"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_NAMESPACE = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,63}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_LIFETIME = re.compile(r"([1-9][0-9]{0,4})([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_KEYS = frozenset({"name", "digest", "namespaces", "permissions", "created", "expires"})


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is kept.

    Attributes:
        name: what people call it; no two have the same.
        digest: the SHA-256 of its text, in hexadecimal.
        namespaces: those that it opens; `*` for every one.
        permissions: out of `PERMISSIONS`.
        created: when it was made.
        expires: when it ends; None for never.

    """

    name: str
    digest: str
    namespaces: tuple[str, ...]
    permissions: frozenset[str]
    created: datetime
    expires: datetime | None = None

    def is_valid(self, now: datetime) -> bool:
        """Whether it has not expired."""
        return self.expires is None or now < self.expires

    def to_json(self) -> dict[str, Any]:
        """The token as a person may see it, without its digest."""
        return {
            "name": self.name,
            "namespaces": list(self.namespaces),
            "permissions": [permission for permission in PERMISSIONS if permission in self.permissions],
            "created": _written(self.created),
            "expires": None if self.expires is None else _written(self.expires),
        }

    def to_record(self) -> dict[str, Any]:
        """The token as the file keeps it."""
        return self.to_json() | {"digest": self.digest}


def digest_of(text: str) -> str:
    """The SHA-256 of a token's text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def new_token(
    name: str, namespaces: Iterable[str], permissions: Iterable[str], lifetime: timedelta | None, now: datetime
) -> tuple[Token, str]:
    """A new token, and its text.

    Raises:
        CortexError: `invalid_arguments`: a name, a namespace or a permission is none.

    """
    text = _PREFIX + secrets.token_urlsafe(32)
    created = now.astimezone(UTC).replace(microsecond=0)
    try:
        expires = None if lifetime is None else created + lifetime
    except OverflowError:
        raise _invalid("the lifetime is too long", "`never`, or for instance 90d") from None
    token = Token(name, digest_of(text), tuple(namespaces), frozenset(permissions), created, expires)
    _check(token)
    return token, text


def read_record(record: Any) -> Token:
    """A token as the file keeps it.

    Raises:
        CortexError: `invalid_arguments`: the record is none.

    """
    if not isinstance(record, Mapping) or set(record) != _KEYS:
        raise _invalid("a token in the file has not the keys of one", f"keys: {', '.join(sorted(_KEYS))}")
    texts = [record["name"], record["digest"], *_list(record["namespaces"]), *_list(record["permissions"])]
    if not all(isinstance(text, str) for text in texts) or not _DIGEST.fullmatch(record["digest"]):
        raise _invalid("a token in the file is damaged", "revoke it and create another")
    expires = record["expires"]
    token = Token(
        record["name"],
        record["digest"],
        tuple(record["namespaces"]),
        frozenset(record["permissions"]),
        _read(record["created"]),
        None if expires is None else _read(expires),
    )
    _check(token)
    return token


def find(text: str, tokens: Iterable[Token]) -> Token | None:
    """The token that has this text, valid or not; takes as long whichever it is."""
    digest = digest_of(text)
    found = None
    for token in tokens:
        if hmac.compare_digest(token.digest, digest):
            found = token
    return found


def parse_lifetime(text: str) -> timedelta | None:
    """`90d`, `12h`, `30m`, `4w` as a time; `never` as None.

    Raises:
        CortexError: `invalid_arguments`: it is neither.

    """
    if text == "never":
        return None
    found = _LIFETIME.fullmatch(text)
    if found is None:
        raise _invalid(f"{text[:40]!r} is no lifetime", "for instance 30m, 12h, 90d, 4w, or never")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _check(token: Token) -> None:
    if not _NAME.fullmatch(token.name):
        raise _invalid("the name of a token is not well-formed", "1 to 64 of letters, digits and . _ @ -")
    if not token.namespaces:
        raise _invalid("a token needs a namespace", "give one, or * for every one")
    for namespace in token.namespaces:
        if namespace != ALL_NAMESPACES and not _NAMESPACE.fullmatch(namespace):
            raise _invalid(f"{namespace[:80]!r} is no namespace", "a letter, then letters, digits, _ or -; or *")
    unknown = token.permissions.difference(PERMISSIONS)
    if unknown or not token.permissions:
        raise _invalid("the permissions of a token are not known", f"one or more of {', '.join(PERMISSIONS)}")


def _list(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [None]


def _written(moment: datetime) -> str:
    return date_time(moment)


def _read(text: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            return moment
    except (TypeError, ValueError):
        pass
    raise _invalid("a token in the file has a time that is none", "revoke it and create another")


def _invalid(message: str, hint: str) -> CortexError:
    return CortexError("invalid_arguments", message, hint=hint)
