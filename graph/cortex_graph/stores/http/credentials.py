"""The credentials for a server.

Rules kept here:
- secrets are not written in configurations or calls: `${VARIABLE}` names an environment variable, which is read when
  the store is opened;
- no message and no repr contains a secret.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from cortex_graph.exceptions import invalid

if TYPE_CHECKING:
    import httpx

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRETS = {"basic": "password", "digest": "password", "bearer": "token"}
_HINT = "`{type: basic | digest, user: …, password: ${VARIABLE}}` or `{type: bearer, token: ${VARIABLE}}`"


@dataclass(frozen=True)
class Credentials:
    """An authentication scheme with its user and secret."""

    kind: Literal["basic", "digest", "bearer"]
    user: str = ""
    secret: str = field(default="", repr=False)

    def auth(self) -> httpx.Auth:
        """Return the authentication of the requests."""
        import httpx

        match self.kind:
            case "basic":
                return httpx.BasicAuth(self.user, self.secret)
            case "digest":
                return httpx.DigestAuth(self.user, self.secret)
        return _bearer(self.secret)


def read_credentials(given: Mapping[str, Any], env: Mapping[str, str] = os.environ) -> Credentials:
    """Return the credentials of a mapping, with the form of `_HINT`."""
    kind = given.get("type")
    if not isinstance(kind, str) or kind not in _SECRETS:
        raise invalid("store.auth.type", "must be `basic`, `digest` or `bearer`", hint=_HINT)
    key = _SECRETS[kind]
    expected = {"type", key} | ({"user"} if key == "password" else set())
    if set(given) != expected or not all(isinstance(part, str) for part in given.values()):
        raise invalid("store.auth", f"of type {kind} needs exactly {', '.join(sorted(expected))}", hint=_HINT)
    secret = _expanded(given[key], f"store.auth.{key}", env)
    user = given.get("user", "")
    if _VARIABLE.fullmatch(user):
        user = _expanded(user, "store.auth.user", env)
    if (
        (kind == "basic" and ":" in user)
        or not (user + secret).isprintable()
        or (kind == "bearer" and not secret.isascii())
    ):
        raise invalid("store.auth", "has a user or a secret that HTTP cannot transmit", hint="see RFC 7617 and 6750")
    return Credentials(kind, user, secret)  # type: ignore[arg-type]


def _expanded(text: str, field_: str, env: Mapping[str, str]) -> str:
    found = _VARIABLE.fullmatch(text)
    if not found:
        raise invalid(field_, "is a secret in clear text", hint="put it into the environment and write `${VARIABLE}`")
    if not (value := env.get(found[1], "").rstrip("\r\n")):  # files and secret stores of services add one
        raise invalid(field_, f"is {text}, and that variable is not set", hint=f"set {found[1]} in the environment")
    return value


def _bearer(token: str) -> httpx.Auth:
    import httpx

    class Bearer(httpx.Auth):
        def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
            request.headers["Authorization"] = f"Bearer {token}"
            yield request

    return Bearer()
