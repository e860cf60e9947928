"""Who sends a request, and what they may do.

Rules kept here:
- a token is read from one header only, `Authorization`, or `X-API-Key` as clients of ai-memory send it: never from a
  URL, which is logged;
- a credential is `Bearer`, in any case (RFC 9110 §11.1), one space, and the token (RFC 6750 §2.1); or the token alone,
  because clients of Cortex send their `authToken` as it is, and their users configure both;
- the file of tokens is read for each request, so that a revoked or expired token is refused from then on;
- `cortex.authToken` is a token of a person for the configured namespace with every permission;
- without a token nothing is allowed, unless the configuration allows reads: then reads of the configured namespace,
  from this machine and not through a proxy;
- a namespace that the caller may not use and one that does not exist get the same error;
- the connection is told who has shown a valid token on it (`SHOWN`), so that it is kept when there are too many.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from starlette.types import Scope

from cortex_graph.naming.names import check_namespace
from cortex_skills.config.settings import Config
from cortex_skills.doors.http.http_errors import HttpError, unauthorized
from cortex_skills.errors import CortexError
from cortex_skills.tokens import ALL_NAMESPACES, PERMISSIONS, Holder, TokenFile, digest_of
from cortex_skills.tokens.token import find

log = logging.getLogger(__name__)

# A key of an ASGI scope's `state`: a function of the key of a caller with a valid token.
SHOWN = "cortex.shown"

TOKEN_HEADERS = frozenset({b"authorization", b"x-api-key"})
_MAX_TOKEN = 512
_B64TOKEN = r"[A-Za-z0-9._~+/-]+=*"
_CREDENTIAL = re.compile(rf"(?:(?i:bearer) )?({_B64TOKEN})")
_FORWARDED = frozenset({b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip"})

Headers = Iterable[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller.

    Attributes:
        name: the name in provenance records.
        namespaces: the namespaces that they may use; `*` for all.
        permissions: a subset of `cortex_skills.tokens.PERMISSIONS`.
        usual: the default namespace, if they may use it.
        has_token: whether they sent a token.
        is_host: whether it was the token of the configuration, whose holder acts for all agents.
        holder: who uses the token, a person or an agent.
        person: whom the token belongs to; empty where it states none.
    """

    name: str
    namespaces: tuple[str, ...]
    permissions: frozenset[str]
    usual: str
    has_token: bool = True
    is_host: bool = False
    holder: Holder = "agent"
    person: str = ""

    @property
    def key(self) -> str:
        """Tells callers apart, also those that have the same name."""
        kind = "host" if self.is_host else "token" if self.has_token else "anonymous"
        return f"{kind}:{self.name}"

    def require(self, permission: str) -> None:
        """Check a permission.

        Raises:
            HttpError: `unauthorized` without a token, else `permission_denied`.
        """
        if permission in self.permissions:
            return
        if not self.has_token:
            raise unauthorized()
        hint = f"use a token that has it: `cortex-skills token create NAME --permission {permission}` makes one"
        raise HttpError("permission_denied", f"this token does not have the permission `{permission}`", hint=hint)

    def may_use(self, namespace: str) -> bool:
        """Whether they may use a namespace."""
        return ALL_NAMESPACES in self.namespaces or namespace in self.namespaces

    def namespace(self, asked: str | None) -> str:
        """The namespace of a request.

        Args:
            asked: the namespace that the request names, if it names one.

        Raises:
            HttpError: `permission_denied`: they may not use it; `invalid_arguments`: the request must name one.
            InvalidArguments: it is not a valid name.
        """
        if asked is not None:
            if not self.may_use(check_namespace(asked)):
                hint = "leave `namespace` out for the default one"
                raise HttpError("permission_denied", "your token does not open this namespace", hint=hint)
            return asked
        if self.may_use(self.usual):
            return self.usual
        if len(self.namespaces) == 1:
            return self.namespaces[0]
        hint = f"namespace={self.namespaces[0]}"
        raise HttpError("invalid_arguments", "your token opens several namespaces: name one", hint=hint)


class AccessControl:
    """Authenticates requests.

    Args:
        config: its token, file of tokens and rule for anonymous reads are used.

    Raises:
        CortexError: `config_invalid`: no client could send the configured token.
    """

    def __init__(self, config: Config) -> None:
        self._usual = config.agent_namespace
        self._anonymous = config.cortex.allow_anonymous_reads
        self.file = TokenFile.at(config.cortex.token_file)
        secret = config.serving.auth_token
        self._configured = None if secret is None else digest_of(_configured(secret))

    def has_tokens(self) -> bool:
        """Whether there is any token."""
        return self._configured is not None or bool(self.file.tokens())

    def admit(self, scope: Scope, permission: str, instead: str = "") -> Principal:
        """The caller of an ASGI request, who has a permission, or another one instead.

        Raises:
            HttpError: `unauthorized` or `permission_denied`.
        """
        client = scope.get("client")
        principal = self.identify(scope["headers"], client[0] if client else None)
        if principal.has_token:
            shown = scope.get("state", {}).get(SHOWN)
            if shown is not None:
                shown(principal.key)
        principal.require(instead if instead in principal.permissions else permission)
        return principal

    def identify(self, headers: Headers, client: str | None) -> Principal:
        """The caller of a request.

        Args:
            headers: the headers, with their names in lower case.
            client: the address that the request came from.

        Raises:
            HttpError: `unauthorized`.
        """
        headers = list(headers)
        shown = [value for name, value in headers if name in TOKEN_HEADERS]
        if not shown:
            if self._anonymous and _is_loopback(client) and _FORWARDED.isdisjoint(name for name, _ in headers):
                return Principal("anonymous", (self._usual,), frozenset({"read"}), self._usual, has_token=False)
            raise unauthorized()
        found = _CREDENTIAL.fullmatch(shown[0].decode("latin-1"))
        if len(shown) > 1 or found is None or len(found[1]) > _MAX_TOKEN:
            raise unauthorized()
        principal = self.holder(digest_of(found[1]))
        if principal is None:
            raise unauthorized()
        return principal

    def grant_of(self, text: str) -> str | None:
        """The digest of a token that is valid now; None if it is not."""
        found = _CREDENTIAL.fullmatch(text.strip())
        if found is None or len(found[1]) > _MAX_TOKEN:
            return None
        digest = digest_of(found[1])
        return digest if self.holder(digest) is not None else None

    def holder(self, digest: str) -> Principal | None:
        """The holder of the token with this digest, if it is valid now."""
        if self._configured is not None and hmac.compare_digest(self._configured, digest):
            usual, everything = self._usual, frozenset(PERMISSIONS)
            return Principal("configured", (usual,), everything, usual, is_host=True, holder="person")
        try:
            tokens = self.file.tokens()
        except CortexError as error:  # then only the configured token is accepted
            log.error("%s", error.message)
            return None
        token = find(digest, tokens)
        if token is None or not token.is_valid(datetime.now(UTC)):
            return None
        whose = (True, False, token.holder, token.person)
        return Principal(token.name, token.namespaces, token.permissions, self._usual, *whose)


def _configured(value: str) -> str:
    """The token of `cortex.authToken`, which may be the whole credential, as in a configuration shared with clients."""
    found = _CREDENTIAL.fullmatch(value)
    if found is None or len(found[1]) > _MAX_TOKEN:
        hint = f"use up to {_MAX_TOKEN} letters, digits and - . _ ~ + /"
        raise CortexError("config_invalid", "no client could send the token in cortex.authToken", hint=hint)
    return found[1]


def _is_loopback(address: str | None) -> bool:
    try:
        found = ipaddress.ip_address(address or "")
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_loopback
