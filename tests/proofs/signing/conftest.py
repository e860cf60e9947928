"""A claim, and a credential of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_skills.features.proofs.signing import TripleClaim, issue
from cortex_skills.keys import Key

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def claim_of(object_: NamedNode | Literal, predicate: str = "urn:cortex:may:isVerified") -> TripleClaim:
    """A claim of something about alice."""
    triple = Quad(NamedNode("urn:cortex:may:alice"), NamedNode(predicate), object_, NamedNode("urn:cortex:may"))
    record = NamedNode(f"urn:cortex:may/triple/{'0' * 64}")
    return TripleClaim(triple, record, (NamedNode("urn:cortex:may:skill:kyc@1.0.0"),))


@pytest.fixture
def key() -> Key:
    return Key("issuer", bytes(range(32)))


@pytest.fixture
def claim() -> TripleClaim:
    return claim_of(Literal(True))


@pytest.fixture
def credential(claim: TripleClaim, key: Key) -> dict[str, Any]:
    return issue(claim, key, NOW)
