"""The access tokens of the server: created, listed, revoked.

Rules kept here:
- they are the owner's: no token can list, create or revoke one;
- the text of a token is in the answer that creates it, and nowhere else: no record has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.operations.caller import OWNER
from cortex_skills.operations.operation import ObjectState, OperationCall, operation
from cortex_skills.tokens import Holder, TokenFile, new_token, parse_lifetime


def token_of(call: OperationCall) -> ObjectState | None:
    """A token, and what it opens."""
    found = next((each for each in _file(call).tokens() if each.name == call.about), None)
    return None if found is None else (found.name, found.summary)


@dataclass(frozen=True, slots=True)
class ListTokens:
    """No arguments."""


@operation("tokens.list", effect="reads", permission=OWNER)
def list_tokens(call: OperationCall, given: ListTokens) -> list[dict[str, Any]]:  # noqa: ARG001 - there is none
    """List the tokens by name, without their texts."""
    now = datetime.now(UTC)
    return [token.to_json() | {"expired": not token.is_valid(now)} for token in _file(call).tokens()]


@dataclass(frozen=True, slots=True)
class CreateToken:
    """A token: its namespaces, by default that of the call, its permissions, who uses it, and how long it is valid."""

    token: str
    namespaces: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ("read",)
    holder: Holder | None = None
    person: str = ""
    expires: str = "90d"


@operation("tokens.create", effect="changes", permission=OWNER, object_="token", state=token_of)
def create_token(call: OperationCall, given: CreateToken) -> dict[str, Any]:
    """Create a token; its text is in the answer, and is not shown again."""
    token, text = new_token(
        given.token,
        given.namespaces or (call.host.graph.namespace,),
        given.permissions,
        parse_lifetime(given.expires),
        datetime.now(UTC),
        given.holder,
        given.person,
    )
    _file(call).add(token)
    return token.to_json() | {"token": text}


@dataclass(frozen=True, slots=True)
class OneToken:
    """A token."""

    token: str


@operation("tokens.revoke", effect="changes", permission=OWNER, object_="token", state=token_of)
def revoke_token(call: OperationCall, given: OneToken) -> None:
    """Revoke a token, from the next request on."""
    if not _file(call).remove(given.token):
        hint = "`cortex-skills token list` lists the tokens"
        raise CortexError("invalid_arguments", f"there is no token called {given.token}", hint=hint)


def _file(call: OperationCall) -> TokenFile:
    return TokenFile.at(call.host.config.cortex.token_file)
