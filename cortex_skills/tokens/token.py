"""Tokens: creation, validation and lookup, without input or output.

Rules kept here:
- the text of a token has 256 random bits and is shown once; only its SHA-256 is stored. A slow hash is not needed,
  because 256 bits cannot be guessed;
- a token lists its namespaces (`*` is all), its permissions and its expiry; nothing is implied;
- `read` reads, `write` creates and deletes, `provenance` asserts on behalf of another agent; `memories` extends the
  others to the memories of all agents; `audit` reads the records of calls; `approve` decides on requests that wait for
  a person; `registry` changes where registered skills stand, and deletes them;
- it states who uses it, a person or an agent: what an agent registers is no skill of a person; and whom it belongs
  to, if that is given: what a person asked for with one of their tokens, they do not approve with another;
- digests are compared in constant time with every token.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, cast

from cortex_graph.checks.datetimes import date_time
from cortex_graph.naming.names import is_namespace
from cortex_skills.errors import CortexError

PERMISSIONS = ("read", "write", "provenance", "memories", "audit", "approve", "registry")
ALL_NAMESPACES = "*"

_PREFIX = "cortex_"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_LONGEST_NAMESPACE = 64
_DIGEST = re.compile(r"[0-9a-f]{64}")
_LIFETIME = re.compile(r"([1-9][0-9]{0,4})([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_KEYS = frozenset({"name", "digest", "namespaces", "permissions", "created", "expires"})
_LATER_KEYS = frozenset({"holder", "person"})

Holder = Literal["person", "agent"]
HOLDERS: tuple[Holder, ...] = ("person", "agent")


@dataclass(frozen=True, slots=True)
class Token:
    """A stored token.

    Attributes:
        name: the unique name.
        digest: the SHA-256 of its text, in hexadecimal.
        namespaces: the namespaces that it grants; `*` for all.
        permissions: a subset of `PERMISSIONS`.
        created: the time of creation.
        expires: the time of expiry; None for never.
        holder: who uses it, a person or an agent.
        person: whom it belongs to, who may have several, in lower case; empty when that is not stated.
    """

    name: str
    digest: str
    namespaces: tuple[str, ...]
    permissions: frozenset[str]
    created: datetime
    expires: datetime | None = None
    holder: Holder = "agent"
    person: str = ""

    @property
    def summary(self) -> str:
        """What it opens, to whom and how long, in one line."""
        shown = self.to_json()
        whose = f" of {self.person}" if self.person else ""
        opens = f"{', '.join(shown['permissions'])} in {', '.join(self.namespaces)}"
        return f"{self.holder}{whose}, {opens}, until {shown['expires'] or 'it is revoked'}"

    def is_valid(self, now: datetime) -> bool:
        """Whether the token has not expired."""
        return self.expires is None or now < self.expires

    def to_json(self) -> dict[str, Any]:
        """The token as a JSON object, without its digest."""
        return {
            "name": self.name,
            "namespaces": list(self.namespaces),
            "permissions": [permission for permission in PERMISSIONS if permission in self.permissions],
            "created": date_time(self.created),
            "expires": None if self.expires is None else date_time(self.expires),
            "holder": self.holder,
            "person": self.person or None,
        }

    def to_record(self) -> dict[str, Any]:
        """The token as a record of the file."""
        return self.to_json() | {"digest": self.digest}


def digest_of(text: str) -> str:
    """The SHA-256 of a token's text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def new_token(
    name: str,
    namespaces: Iterable[str],
    permissions: Iterable[str],
    lifetime: timedelta | None,
    now: datetime,
    holder: Holder | None = None,
    person: str = "",
) -> tuple[Token, str]:
    """A new token, and its text; by default a person's if it may approve what agents ask for, else an agent's.

    Raises:
        CortexError: `invalid_arguments`: a name, a namespace, a permission or the lifetime is invalid.
    """
    text = _PREFIX + secrets.token_urlsafe(32)
    created = now.astimezone(UTC).replace(microsecond=0)
    try:
        expires = None if lifetime is None else created + lifetime
    except OverflowError:
        raise _invalid("the lifetime is too long", "`never`, or for example 90d") from None
    granted = frozenset(permissions)
    whose = (holder or usual_holder(granted), person.casefold())
    token = Token(name, digest_of(text), tuple(namespaces), granted, created, expires, *whose)
    _check(token)
    return token, text


def read_record(record: Any) -> Token:
    """The token of a record of the file.

    Raises:
        CortexError: `invalid_arguments`: the record is invalid.
    """
    if not isinstance(record, Mapping) or set(record) - _LATER_KEYS != _KEYS:
        raise _invalid("a token in the file has other keys than expected", f"keys: {', '.join(sorted(_KEYS))}")
    texts = [record["name"], record["digest"], *_list(record["namespaces"]), *_list(record["permissions"])]
    if not all(isinstance(text, str) for text in texts) or not _DIGEST.fullmatch(record["digest"]):
        raise _invalid("a token in the file is damaged", "revoke it and create another")
    expires = record["expires"]
    holder = record["holder"] if "holder" in record else usual_holder(record["permissions"])
    if holder not in HOLDERS:
        raise _invalid("a token in the file has an unknown holder", f"one of {', '.join(HOLDERS)}")
    person = record.get("person") or ""
    if not isinstance(person, str):
        raise _invalid("a token in the file has no name of a person", "revoke it and create another")
    token = Token(
        record["name"],
        record["digest"],
        tuple(record["namespaces"]),
        frozenset(record["permissions"]),
        _read(record["created"]),
        None if expires is None else _read(expires),
        cast(Holder, holder),
        person,
    )
    _check(token)
    return token


def usual_holder(permissions: Iterable[str]) -> Holder:
    """Who uses a token that does not state it: the person who decides on requests, or else an agent."""
    return "person" if "approve" in permissions else "agent"


def find(digest: str, tokens: Iterable[Token]) -> Token | None:
    """The token with the text of this digest, valid or expired; the time does not depend on the digest."""
    found = None
    for token in tokens:
        if hmac.compare_digest(token.digest, digest):
            found = token
    return found


def parse_lifetime(text: str) -> timedelta | None:
    """The duration of `90d`, `12h`, `30m` or `4w`; None for `never`.

    Raises:
        CortexError: `invalid_arguments`: the text is neither.
    """
    if text == "never":
        return None
    found = _LIFETIME.fullmatch(text)
    if found is None:
        raise _invalid(f"{text[:40]!r} is not a lifetime", "for example 30m, 12h, 90d, 4w, or never")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _check(token: Token) -> None:
    if not _NAME.fullmatch(token.name):
        raise _invalid("the name of a token is not well-formed", "1 to 64 of letters, digits and . _ @ -")
    if token.person and not _NAME.fullmatch(token.person):
        raise _invalid("the name of a person is not well-formed", "1 to 64 of letters, digits and . _ @ -")
    if not token.namespaces:
        raise _invalid("a token needs a namespace", "give one, or * for all")
    for namespace in token.namespaces:
        if namespace != ALL_NAMESPACES and not (is_namespace(namespace) and len(namespace) <= _LONGEST_NAMESPACE):
            hint = "a letter, then letters, digits, _ or -, in parts with / or . between them; or *"
            raise _invalid(f"{namespace[:80]!r} is not a namespace", hint)
    unknown = token.permissions.difference(PERMISSIONS)
    if unknown or not token.permissions:
        raise _invalid("the permissions of a token are unknown", f"one or more of {', '.join(PERMISSIONS)}")


def _list(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [None]


def _read(text: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            return moment
    except (TypeError, ValueError):
        pass
    raise _invalid("a token in the file has an invalid time", "revoke it and create another")


def _invalid(message: str, hint: str) -> CortexError:
    return CortexError("invalid_arguments", message, hint=hint)
