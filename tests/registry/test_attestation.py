"""How far a signature is trusted: there is none, of a key, of a trusted publisher, or invalid."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyoxigraph import Literal, Quad

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_graph.store import Pattern
from cortex_skills import Config, Plugin
from cortex_skills.audit.chain import next_event
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.documents.document import SkillDocument, digest
from cortex_skills.features.registry.records import terms
from cortex_skills.features.registry.records.reading import signed_message
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey, VersionSignature
from cortex_skills.features.registry.views import record_view, version_view
from cortex_skills.keys import Key
from cortex_skills.signatures import Publisher, TrustFile

OWN, ACME = Key("local", b"\1" * 32), Key("acme", b"\2" * 32)
KEY = SkillKey("mayros", "fetch-data")
DOCUMENT = SkillDocument.checked(namespace="mayros", name="fetch-data", description="Fetches data.")
NOW = datetime.now(UTC)


def signed(document: SkillDocument, key: Key) -> VersionSignature:
    return VersionSignature(key.did, key.sign(signed_message(digest(document))).hex())


def registry_of(publishers: list[str], signer: Key | None = OWN) -> SkillRegistry:
    return SkillRegistry(open_store("memory:"), Names("mayros"), lambda: signer, lambda: publishers)


def shown(registry: SkillRegistry) -> str:
    return record_view(registry, registry.record(KEY), NOW)["current"]["attest"]


@pytest.mark.parametrize(
    ("signer", "signature", "publishers", "level"),
    [
        (None, None, [ACME.did], "unsigned"),
        (OWN, None, [ACME.did], "self_signed"),
        (OWN, ACME, [], "unknown_key"),
        (OWN, ACME, [ACME.did], "publisher_signed"),
    ],
)
def test_a_signature_has_the_level_of_its_key(signer, signature, publishers, level):
    registry = registry_of(publishers, signer)
    given = None if signature is None else signed(DOCUMENT, signature)
    registry.register(DOCUMENT, actor="ada", origin="human", signature=given)
    assert shown(registry) == level
    assert registry.log.last().details["attest"] == level
    assert registry.verify_events() is None


def test_a_publisher_that_is_no_longer_trusted_is_a_key_again_and_the_chain_stays_whole():
    publishers = [ACME.did]
    registry = registry_of(publishers)
    registry.register(DOCUMENT, actor="ada", origin="human", signature=signed(DOCUMENT, ACME))
    publishers.clear()
    assert shown(registry) == "unknown_key"
    assert registry.verify_events() is None


def test_a_signature_of_something_else_is_refused_at_registration_and_shown_as_invalid():
    registry = registry_of([ACME.did])
    other = DOCUMENT.changed(description="Fetches more.")
    with pytest.raises(CortexError) as caught:
        registry.register(DOCUMENT, actor="ada", origin="human", signature=signed(other, ACME))
    assert caught.value.code == "signature_invalid"
    assert registry.log.count() == 0
    version = registry.register(DOCUMENT, actor="ada", origin="human").version
    node = registry.terms.version(version.id)
    (old,) = registry.store.quads(Pattern(registry.terms.graph, node, terms.PUBLIC_KEY))
    registry.store.apply([Quad(node, terms.PUBLIC_KEY, Literal(ACME.did), registry.terms.graph)], [old])
    assert shown(registry) == "invalid"  # the name of a publisher without its signature
    with pytest.raises(CortexError) as caught:
        registry.document(registry.current(KEY))
    assert caught.value.code == "signature_invalid"


def test_an_event_of_another_installation_on_the_same_store_is_no_fault():
    registry = registry_of([])
    registry.register(DOCUMENT, actor="ada", origin="human")
    other = SkillRegistry(registry.store, Names("mayros"), lambda: ACME)
    other.outcome(KEY, success=True, actor="bob")
    assert (registry.verify_events(), other.verify_events()) == (None, None)
    assert (shown(registry), shown(other)) == ("self_signed", "unknown_key")


def test_an_event_that_claims_the_level_of_a_publisher_is_forged():
    registry = registry_of([ACME.did])
    registry.register(DOCUMENT, actor="ada", origin="human")
    for key, problem in ((OWN, "claims an attest level that its key does not have"), (ACME, None)):
        event = next_event(
            registry.log.stream, registry.log.last(), "skill.used", "eve", {}, NOW, key=key, attest="publisher_signed"
        )
        quads = registry.log._quads(event)
        registry.store.insert([[quad] for quad in quads])
        fault = registry.verify_events()
        assert (fault and (fault.sequence, fault.problem)) == (problem and (2, problem))
        registry.store.apply([], quads)
        registry.log._known = 0


def test_the_plugin_asks_its_trust_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    trust = TrustFile(tmp_path / "data/cortex-skills/trust.json", tmp_path / "config/cortex-skills/trust.key")
    with Plugin.open(Config()) as plugin:
        document = replace(DOCUMENT)
        version = plugin.registry.register(
            document, actor="ada", origin="human", signature=signed(document, ACME)
        ).version
        assert version_view(version, plugin.registry.levels())["attest"] == "unknown_key"
        own = plugin.registry.register(document.changed(body="Mine.\n"), actor="ada", origin="human").version
        assert version_view(own, plugin.registry.levels())["attest"] == "self_signed"
        trust.change(lambda known: known.with_publisher(Publisher("acme", ACME.did, "listed", "2026-01-01T00:00:00Z")))
        assert version_view(version, plugin.registry.levels())["attest"] == "publisher_signed"
        trust.path.write_text("{}")
        with pytest.raises(CortexError) as caught:
            plugin.registry.levels()
        assert caught.value.code == "config_invalid"
