"""What an artifact requests, what the user granted, and what it may do: pairs of a kind and a value.

Rules kept here:
- everything is pure; an artifact may do what its manifest requests and the user granted, and nothing else;
- a value with `*` covers the values that it matches, and a folder covers the folders below it: the narrower of the two
  is what an artifact may do;
- a secret is written `scope/key`, as in `global/api_token`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, get_args

from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.package.artifact_manifest import (
    ArtifactCapabilities,
    ArtifactManifest,
    SecretScope,
)
from cortex_skills.safe_io.schemas import did_you_mean, shown

GrantKind = Literal["read", "write", "http", "secret", "device", "node", "graph", "predicate"]
KINDS: tuple[GrantKind, ...] = get_args(GrantKind)
_ROOTS = ("read", "write")
NEVER_HERE = ("device",)  # capabilities of the node are the names of channels (`artifacts.channels`)

DifferenceKind = Literal["missing_grant", "excess_grant", "policy_restricted", "wildcard_risk", "unused"]


@dataclass(frozen=True, slots=True, order=True)
class Grant:
    """One thing that an artifact may do: its kind, and a folder, host, secret, capability, right or predicate."""

    kind: GrantKind
    value: str

    def __str__(self) -> str:
        return f"{self.kind}={self.value}"


@dataclass(frozen=True, slots=True)
class Granted:
    """What the user granted; the fields are those of `ArtifactCapabilities`."""

    read_roots: tuple[str, ...] = ()
    write_roots: tuple[str, ...] = ()
    http_hosts: tuple[str, ...] = ()
    secrets: tuple[SecretScope, ...] = ()
    device: tuple[str, ...] = ()
    node: tuple[str, ...] = ()
    graph_read: bool = False
    graph_write: bool = False
    graph_predicates: tuple[str, ...] = ()

    @classmethod
    def of(cls, grants: Iterable[Grant]) -> Granted:
        """The value with these grants."""
        by_kind: dict[str, list[str]] = {kind: [] for kind in KINDS}
        for grant in sorted(set(grants)):
            by_kind[grant.kind].append(grant.value)
        keys: dict[str, list[str]] = {}
        for secret in by_kind["secret"]:
            scope, _, key = secret.rpartition("/")
            keys.setdefault(scope, []).append(key)
        return cls(
            read_roots=tuple(by_kind["read"]),
            write_roots=tuple(by_kind["write"]),
            http_hosts=tuple(by_kind["http"]),
            secrets=tuple(SecretScope(scope, tuple(names)) for scope, names in keys.items()),
            device=tuple(by_kind["device"]),
            node=tuple(by_kind["node"]),
            graph_read="read" in by_kind["graph"],
            graph_write="write" in by_kind["graph"],
            graph_predicates=tuple(by_kind["predicate"]),
        )

    def grants(self) -> frozenset[Grant]:
        """The grants, one by one."""
        return frozenset(_grants(self))


@dataclass(frozen=True, slots=True)
class GrantDifference:
    """A grant that is not simply requested and granted.

    Attributes:
        kind: `missing_grant` (requested, not granted), `excess_grant` (granted, not requested), `policy_restricted`
            (this host never allows it), `wildcard_risk` (contains `*`), `unused` (requested, and no module can use it).
        grant: which one.
    """

    kind: DifferenceKind
    grant: Grant

    def to_json(self) -> dict[str, str]:
        """The difference as a JSON object."""
        return {"difference": self.kind, "kind": self.grant.kind, "value": self.grant.value}


def requested(manifest: ArtifactManifest) -> frozenset[Grant]:
    """What a manifest requests."""
    return frozenset(_grants(manifest.capabilities))


def effective(manifest: ArtifactManifest, granted: Granted) -> ArtifactCapabilities:
    """What an artifact may do: what its manifest requests and the user granted, with the quotas of the manifest.

    Without a predicate among `graph_predicates` nothing may be asserted.
    """
    both = Granted.of(common(requested(manifest), granted.grants()))
    return replace(manifest.capabilities, **{name: getattr(both, name) for name in Granted.__slots__})


def grant_differences(
    wanted: Iterable[Grant], granted: Iterable[Grant], used: frozenset[GrantKind] | None = None
) -> list[GrantDifference]:
    """How what is granted differs from what is requested, sorted.

    Args:
        wanted: what the manifest requests.
        granted: what the user granted, or would.
        used: the kinds that the modules can use; None if that is not known.
    """
    wanted, granted = frozenset(wanted), frozenset(granted)
    found: set[tuple[DifferenceKind, Grant]] = set()
    for grant in wanted:
        if grant.kind in NEVER_HERE:
            found.add(("policy_restricted", grant))
        elif not any(covers(each, grant) for each in granted):
            found.add(("missing_grant", grant))
        if used is not None and grant.kind not in used:
            found.add(("unused", grant))
    found |= {("excess_grant", each) for each in granted if not any(overlap(each, grant) for grant in wanted)}
    found |= {("wildcard_risk", grant) for grant in wanted | granted if "*" in grant.value}
    return [GrantDifference(kind, grant) for kind, grant in sorted(found)]


def covers(wide: Grant, narrow: Grant) -> bool:
    """Whether everything that the second allows is allowed by the first.

    >>> covers(Grant("http", "*.example.org"), Grant("http", "api.example.org"))
    True
    """
    if wide.kind != narrow.kind:
        return False
    if wide.value == narrow.value or ("*" in wide.value and bool(_pattern(wide.value).fullmatch(narrow.value))):
        return True
    return wide.kind in _ROOTS and narrow.value.startswith(f"{wide.value.rstrip('/')}/")


def overlap(first: Grant, second: Grant) -> bool:
    """Whether one of two grants covers the other."""
    return covers(first, second) or covers(second, first)


def common(wanted: Iterable[Grant], granted: Iterable[Grant]) -> set[Grant]:
    """What is both requested and granted, without what this host never allows."""
    granted, found = tuple(granted), set()
    for grant in wanted:
        if grant.kind not in NEVER_HERE:
            found |= {given if covers(grant, given) else grant for given in granted if overlap(grant, given)}
    return found


def read_grant(text: str) -> Grant:
    """The grant in a text such as `http=api.example.org`.

    Raises:
        CortexError: `invalid_arguments`.
    """
    kind, equals, value = text.partition("=")
    hint = "as in http=api.example.org, secret=global/api_token, graph=write, predicate=hasStatus"
    if not equals or not value or not value.isprintable() or len(value) > 1024:
        raise CortexError("invalid_arguments", f"{shown(text)} is not KIND=VALUE", hint=hint)
    known = next((each for each in KINDS if each == kind), None)
    if known is None:
        hint = did_you_mean(kind, KINDS) or f"one of {', '.join(KINDS)}"
        raise CortexError("invalid_arguments", f"there is no kind of grant {shown(kind)}", hint=hint)
    if known == "graph" and value not in ("read", "write"):
        raise CortexError("invalid_arguments", f"{shown(text)} is not graph=read or graph=write", hint=hint)
    if known == "secret" and not all(value.rpartition("/")[::2]):
        raise CortexError("invalid_arguments", f"{shown(value)} is not SCOPE/KEY", hint="as in global/api_token")
    return Grant(known, value)


def _grants(given: ArtifactCapabilities | Granted) -> Iterator[Grant]:
    plain: tuple[tuple[GrantKind, tuple[str, ...]], ...] = (
        ("read", given.read_roots),
        ("write", given.write_roots),
        ("http", given.http_hosts),
        ("device", given.device),
        ("node", given.node),
        ("predicate", given.graph_predicates),
    )
    for kind, values in plain:
        yield from (Grant(kind, value) for value in values)
    yield from (Grant("secret", f"{secret.scope}/{key}") for secret in given.secrets for key in secret.key_names)
    if given.graph_read:
        yield Grant("graph", "read")
    if given.graph_write:
        yield Grant("graph", "write")


@lru_cache(maxsize=1024)
def _pattern(value: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, value.split("*"))), re.DOTALL)
