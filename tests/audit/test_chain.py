"""A stream of events: a changed, missing, inserted, reordered or forged event is found."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime

import pytest

from cortex_skills.audit.chain import ChainEvent, ChainFault, first_fault, next_event
from cortex_skills.keys import Key
from cortex_skills.keys.did import public_of
from cortex_skills.keys.ed25519 import verify as verify_signature

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
KEY, OTHER = Key("a", b"\1" * 32), Key("b", b"\2" * 32)


def verify(did: str, message: bytes, signature: bytes) -> bool:
    return verify_signature(public_of(did), message, signature)


@pytest.fixture(scope="module")
def chain() -> list[ChainEvent]:
    events: list[ChainEvent] = []
    for number in range(6):
        key = None if number == 2 else KEY
        details = {"name": f"skill-{number}", "n": number}
        events.append(
            next_event("registry", events[-1] if events else None, "skill.registered", "ada", details, NOW, key=key)
        )
    return events


def fault(events: list[ChainEvent], **settings) -> ChainFault | None:
    return first_fault(events, "registry", verify, **settings)


def test_a_whole_chain_has_no_fault(chain):
    assert fault(chain) is None
    assert fault(chain[3:], since=4) is None
    assert [event.sequence for event in chain] == [1, 2, 3, 4, 5, 6]
    assert chain[1].prev_hash == chain[0].hash
    assert chain[2].attest == "unsigned"
    assert chain[3].details == {"name": "skill-3", "n": 3}


@pytest.mark.parametrize("name", [field.name for field in fields(ChainEvent)])
def test_a_change_of_any_field_is_found_at_its_event(chain, name):
    old = getattr(chain[3], name)
    new = 9 if name == "sequence" else ("0" if old[:1] != "0" else "1") + old[1:]
    found = fault([*chain[:3], replace(chain[3], **{name: new}), *chain[4:]])
    assert found is not None
    assert found.sequence == 4


def test_a_missing_inserted_or_reordered_event_is_found(chain):
    assert fault([*chain[:2], *chain[3:]]) == ChainFault(3, "is missing: the next event has the number 4")
    swapped = fault([*chain[:2], chain[3], chain[2], *chain[4:]])
    assert swapped is not None
    assert swapped.sequence == 3
    inserted = next_event("registry", chain[1], "skill.purged", "eve", {}, NOW, key=OTHER)
    found = fault([*chain[:2], inserted, *(replace(event, sequence=event.sequence + 1) for event in chain[2:])])
    assert found is not None
    assert found.sequence == 4


def test_a_rewritten_tail_needs_the_key(chain):
    forged = next_event("registry", chain[1], "skill.purged", "ada", {}, NOW, key=OTHER)
    stolen = replace(forged, key=KEY.did)
    found = fault([*chain[:2], stolen])
    assert found is not None
    assert found.problem.startswith("was changed")


def test_an_attest_level_above_that_of_the_key_is_forged():
    event = next_event("registry", None, "skill.registered", "eve", {}, NOW, key=OTHER, attest="publisher_signed")
    assert fault([event]) is None
    found = fault([event], level_of=lambda _: "self_signed")
    assert found == ChainFault(1, "claims an attest level that its key does not have")


def test_a_level_without_a_signature_is_found():
    unsigned = next_event("registry", None, "skill.registered", "eve", {}, NOW)
    assert fault([unsigned]) is None
    assert fault([replace(unsigned, attest="self_signed")]) is not None


def test_an_event_of_another_stream_is_found(chain):
    assert first_fault(chain, "audit", verify) == ChainFault(1, "belongs to another stream")
