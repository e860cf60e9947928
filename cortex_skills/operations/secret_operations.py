"""The secrets that installed artifacts may read: set, listed by name, removed.

Rules kept here:
- they are the owner's: no token can list or change them;
- no operation returns a value, and no record has one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cortex_skills.errors import CortexError
from cortex_skills.operations.caller import OWNER
from cortex_skills.operations.operation import AS_IS, ObjectState, OperationCall, operation
from cortex_skills.secrets import SecretName, SecretStore


def secret_of(call: OperationCall) -> ObjectState | None:
    """The name of a secret that is set."""
    name = SecretName.of(call.about)
    return (str(name), "set") if name in _store(call).names() else None


@dataclass(frozen=True, slots=True)
class ListSecrets:
    """No arguments."""


@operation("secrets.list", effect="reads", permission=OWNER)
def list_secrets(call: OperationCall, given: ListSecrets) -> list[str]:  # noqa: ARG001 - there is none
    """List the names of the secrets."""
    return [str(name) for name in _store(call).names()]


@dataclass(frozen=True, slots=True)
class SetSecret:
    """A secret and its value."""

    secret: str
    value: Annotated[str, AS_IS]


@operation("secrets.set", effect="changes", permission=OWNER, object_="secret", state=secret_of)
def set_secret(call: OperationCall, given: SetSecret) -> bool:
    """Set a secret; whether it was set before."""
    replaced = _store(call).set(SecretName.of(given.secret), given.value)
    call.facts["replaced"] = replaced
    return replaced


@dataclass(frozen=True, slots=True)
class OneSecret:
    """A secret."""

    secret: str


@operation("secrets.remove", effect="changes", permission=OWNER, object_="secret", state=secret_of)
def remove_secret(call: OperationCall, given: OneSecret) -> None:
    """Remove a secret."""
    name = SecretName.of(given.secret)
    if not _store(call).remove(name):
        hint = "`cortex-skills secrets list` lists the names"
        raise CortexError("secret_not_found", f"there is no secret {name}", hint=hint)


def _store(call: OperationCall) -> SecretStore:
    return SecretStore.of(call.host.config.secrets)
