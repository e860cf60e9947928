"""Typed contracts of artifacts: the kinds, their schemas, and which of them this host accepts. Everything is pure."""

from cortex_skills.features.artifacts.contracts.contract_kinds import (
    CHANNELS,
    HTTP,
    KINDS,
    SECRETS,
    STORAGE,
    VERSION,
    ContractKind,
)
from cortex_skills.features.artifacts.contracts.contract_schemas import SCHEMAS
from cortex_skills.features.artifacts.contracts.lifecycle_decision import LifecycleDecision, decision_in, decision_of
from cortex_skills.features.artifacts.contracts.negotiation import NegotiatedContract, Negotiation, negotiate

__all__ = [
    "CHANNELS",
    "HTTP",
    "KINDS",
    "SCHEMAS",
    "SECRETS",
    "STORAGE",
    "VERSION",
    "ContractKind",
    "LifecycleDecision",
    "NegotiatedContract",
    "Negotiation",
    "decision_in",
    "decision_of",
    "negotiate",
]
