"""Who is asking, and what they may.

Rules kept here:
- a token is looked for in the `Authorization` header and nowhere else: never in a URL, which is logged;
- the file of tokens is asked each time, so that what was revoked or has expired is of no use from then on;
- `cortex.authToken` is a token of the configured namespace with every permission;
- without a token: nothing, unless the configuration allows reads, and then only of the configured namespace, and only
  from this machine and not through a proxy;
- the namespaces that somebody may not use and those that do not exist are refused alike.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cortex_graph.names import check_namespace
from cortex_skills.config import Config
from cortex_skills.errors import CortexError
from cortex_skills.server.errors import HttpError, unauthorized
from cortex_skills.tokens import ALL_NAMESPACES, PERMISSIONS, TokenFile, default_file, digest_of
from cortex_skills.tokens.model import find

log = logging.getLogger(__name__)

_MAX_TOKEN = 512
_FORWARDED = frozenset({b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip"})

Headers = Iterable[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody who was let in.

    Attributes:
        name: what the records call them.
        namespaces: those that they may use; `*` for every one.
        permissions: out of `cortex_skills.tokens.PERMISSIONS`.
        usual: the namespace that is meant when they name none, if it is theirs.
        has_token: whether they showed one.
        is_host: whether it was the one of the configuration, whose holder speaks for all agents.

    """

    name: str
    namespaces: tuple[str, ...]
    permissions: frozenset[str]
    usual: str
    has_token: bool = True
    is_host: bool = False

    def require(self, permission: str) -> None:
        """Do nothing if they have a permission.

        Raises:
            HttpError: `unauthorized` where a token would help, else `permission_denied`.

        """
        if permission in self.permissions:
            return
        if not self.has_token:
            raise unauthorized()
        hint = "ask for a token that has it"
        raise HttpError("permission_denied", f"this token has not the permission `{permission}`", hint=hint)

    def may_use(self, namespace: str) -> bool:
        """Whether a namespace is theirs."""
        return ALL_NAMESPACES in self.namespaces or namespace in self.namespaces

    def namespace(self, asked: str | None) -> str:
        """The namespace that a request is about.

        Args:
            asked: the one that it names, if it names one.

        Raises:
            HttpError: `permission_denied`: it is not theirs; `invalid_arguments`: it has to be named.
            InvalidArguments: it is none.

        """
        if asked is not None:
            if not self.may_use(check_namespace(asked)):
                hint = "leave `namespace` out for your own"
                raise HttpError("permission_denied", "this namespace is not yours to use", hint=hint)
            return asked
        if self.may_use(self.usual):
            return self.usual
        if len(self.namespaces) == 1:
            return self.namespaces[0]
        hint = f"namespace={self.namespaces[0]}"
        raise HttpError("invalid_arguments", "your token has several namespaces: say which one", hint=hint)


class Gate:
    """Lets in those who may.

    Args:
        config: whose token, file of tokens and rule for anonymous reads hold here.

    """

    def __init__(self, config: Config) -> None:
        self._usual = config.agent_namespace
        self._anonymous = config.cortex.allow_anonymous_reads
        given = config.cortex.token_file
        self.file = TokenFile(Path(given).expanduser() if given else default_file())
        secret = config.cortex.auth_token
        self._configured = None if secret is None else digest_of(_without_scheme(secret))

    def has_tokens(self) -> bool:
        """Whether there is any token to come in with."""
        return self._configured is not None or bool(self.file.tokens())

    def identify(self, headers: Headers, client: str | None) -> Principal:
        """Who sent a request.

        Args:
            headers: of the request, with their names in lower case.
            client: the address that it came from.

        Raises:
            HttpError: `unauthorized`.

        """
        headers = list(headers)
        shown = [value for name, value in headers if name == b"authorization"]
        if not shown:
            if self._anonymous and _is_loopback(client) and _FORWARDED.isdisjoint(name for name, _ in headers):
                return Principal("anonymous", (self._usual,), frozenset({"read"}), self._usual, has_token=False)
            raise unauthorized()
        text = _without_scheme(shown[0].decode("latin-1"))
        if len(shown) > 1 or not text or len(text) > _MAX_TOKEN:
            raise unauthorized()
        return self._holder(text)

    def _holder(self, text: str) -> Principal:
        try:
            tokens = self.file.tokens()
        except CortexError as error:  # then nobody but the configured token comes in
            log.error("%s", error.message)
            tokens = ()
        token = find(text, tokens)
        if self._configured is not None and hmac.compare_digest(self._configured, digest_of(text)):
            return Principal("configured", (self._usual,), frozenset(PERMISSIONS), self._usual, is_host=True)
        if token is None or not token.is_valid(datetime.now(UTC)):
            raise unauthorized()
        return Principal(token.name, token.namespaces, token.permissions, self._usual)


def _without_scheme(value: str) -> str:
    """The token of `Bearer TOKEN` (RFC 6750 §2.1), or of a value without a scheme, as some clients send it."""
    scheme, _, rest = value.strip().partition(" ")
    if not rest:
        return scheme
    return rest.strip() if scheme.lower() == "bearer" else ""


def _is_loopback(address: str | None) -> bool:
    try:
        found = ipaddress.ip_address(address or "")
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_loopback
