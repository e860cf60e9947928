"""Whom the hosts of one store trust together: by their configuration, and by the list of their owner in the store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, Quad

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_graph.store import Pattern
from cortex_skills import Config, CortexError, Plugin
from cortex_skills.features.artifacts.installed.installed_artifacts import installed_in
from cortex_skills.keys import Key
from cortex_skills.operations import trust_operations
from cortex_skills.signatures import Publisher, RevokedKey, Trust, TrustFile
from cortex_skills.signatures.fleet_trust import LIST, FleetTrust
from cortex_skills.signatures.shared_trust import SharedTrust, read_shared
from cortex_skills.signatures.trust_file import trust_of
from tests.artifact_tools.conftest import add
from tests.artifacts.samples import KEY
from tests.services.oxigraph import oxigraph
from tests.signatures.conftest import ACME, OTHER

SINCE = "2026-01-01T00:00:00Z"
OWNER = Key("owner", bytes(range(2, 34)))
NAMES = Names("mayros")
GRAPH = NAMES.publishers_graph
Signed = Callable[..., Path]


def code_of(function: Callable[..., object], *arguments: object, **named: object) -> str:
    with pytest.raises(CortexError) as caught:
        function(*arguments, **named)
    return caught.value.code


# By the configuration


@pytest.fixture
def configured() -> TrustFile:
    return trust_of(Config(verification={"publishers": {"acme": ACME.did}, "revoked": [OTHER.public.hex()]}))


def test_the_configuration_trusts_and_revokes_and_is_written_nowhere(configured: TrustFile, trust: TrustFile) -> None:
    assert configured.trust().publishers["acme"].keys == (ACME.did,)
    assert list(configured.trust().revoked) == [OTHER.did]
    assert not configured.path.exists()
    after = configured.change(lambda state: state.with_publisher(Publisher("more", OWNER.did, "listed", SINCE)))
    assert sorted(after.publishers) == sorted(configured.trust().publishers) == ["acme", "more"]
    assert (list(trust.trust().publishers), list(trust.trust().revoked)) == (["more"], [])


def test_what_is_configured_is_changed_there_only(configured: TrustFile, trust: TrustFile) -> None:
    trust.change(lambda state: state.with_publisher(Publisher("acme", OTHER.did, "listed", SINCE)))
    assert configured.trust().publishers["acme"].key == ACME.did
    assert code_of(configured.change, lambda state: state.without_publisher("acme")) == "state_conflict"
    configured.change(lambda state: state.with_revoked(RevokedKey(OWNER.did, "", SINCE)))
    assert trust.trust().publishers["acme"].key == OTHER.did
    assert list(trust.trust().revoked) == [OWNER.did]


@pytest.mark.parametrize("key", ["", "did:key:zzz", "12", "did:web:acme.example"])
def test_a_configured_key_that_is_none_is_an_error(key: str) -> None:
    assert code_of(lambda: trust_of(Config(verification={"publishers": {"acme": key}}))) == "config_invalid"
    assert code_of(lambda: trust_of(Config(verification={"revoked": [key]}))) == "config_invalid"


def test_a_skill_of_a_configured_publisher_loads(opened: Callable[..., Plugin], signed: Signed) -> None:
    folder = signed()
    assert code_of(opened().load, folder) == "signature_invalid"
    assert opened(publishers={"acme": ACME.did}).load(folder) == ["probe"]
    assert code_of(opened(publishers={"acme": ACME.did}, revoked=[ACME.did]).load, folder) == "signature_invalid"


# By the list of the owner


class Hosts:
    """Hosts with a trust store each, on one store in memory."""

    def __init__(self, folder: Path) -> None:
        self.store, self._folder = open_store("memory:"), folder

    def file(self, name: str, owner: str = OWNER.did) -> TrustFile:
        return TrustFile(self._folder / name / "trust.json", self._folder / name / "key/trust.key", owner=owner)

    def host(self, name: str, **given: Any) -> FleetTrust:
        return FleetTrust(self.store, NAMES, self.file(name, **given))

    def put(self, *texts: str) -> None:
        old = list(self.store.quads(Pattern(GRAPH, GRAPH, LIST)))
        self.store.apply([Quad(GRAPH, LIST, Literal(text), GRAPH) for text in texts], old)


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    found = Hosts(tmp_path)
    yield found
    found.store.close()


def listed(name: str = "acme", key: Key = ACME) -> Publisher:
    return Publisher(name, key.did, "listed", SINCE)


def test_a_list_is_accepted_at_the_next_look_and_replaced_by_the_next_one(hosts: Hosts) -> None:
    first, second = hosts.host("a"), hosts.host("b")
    second.look()
    first.file.change(lambda state: state.with_publisher(listed()))
    assert first.share(OWNER).number == 1
    second.look()
    assert second.file.trust().publishers["acme"].keys == (ACME.did,)
    assert code_of(second.file.change, lambda state: state.without_publisher("acme")) == "state_conflict"
    first.file.change(lambda state: state.with_revoked(RevokedKey(ACME.did, "stolen", SINCE)))
    assert first.share(OWNER).number == 2
    second.look()
    assert second.file.trust().revoked == {ACME.did: RevokedKey(ACME.did, "stolen", SINCE)}
    assert hosts.file("b").trust() == second.file.trust()
    assert second.file.own() == Trust()


def test_a_publisher_that_is_shared_no_more_is_trusted_no_more_and_a_revocation_stays(hosts: Hosts) -> None:
    first, second = hosts.host("a"), hosts.host("b")
    first.file.change(lambda state: state.with_publisher(listed()).with_revoked(RevokedKey(OTHER.did, "", SINCE)))
    first.share(OWNER)
    third = hosts.host("c")
    third.share(OWNER)
    second.look()
    assert (dict(second.file.trust().publishers), list(second.file.trust().revoked)) == ({}, [OTHER.did])


def test_the_owner_removes_and_replaces_what_it_has_shared(hosts: Hosts) -> None:
    first, second = hosts.host("a"), hosts.host("b")
    for publisher in (listed(), listed("other", OTHER)):
        first.file.change(lambda state, each=publisher: state.with_publisher(each))
    first.share(OWNER)
    first.file.change(lambda state: state.without_publisher("acme"))
    replaced = replace(listed("other", OWNER), former=(OTHER.did,))
    first.file.change(lambda state: replace(state, publishers={**state.publishers, "other": replaced}))
    assert first.file.trust().publishers["acme"].key == ACME.did  # until the next list
    first.share(OWNER)
    second.look()
    for host in (first, second):
        assert {each.name: each.keys for each in host.file.trust().publishers.values()} == {"other": (OWNER.did,)}
    assert first.file.own().publishers == {"other": replaced}


def test_without_an_owner_nothing_is_read_and_only_the_owner_shares(hosts: Hosts) -> None:
    hosts.host("a").share(OWNER)
    other = hosts.host("b", owner="")
    other.look()
    assert not other.file.shared_path.exists()
    assert code_of(other.share, OWNER) == code_of(hosts.host("c").share, OTHER) == "invalid_arguments"


ATTACKS: dict[str, Callable[[str, str], list[str]]] = {
    "missing": lambda first, second: [],
    "older": lambda first, second: [first],
    "two": lambda first, second: [first, second],
    "garbage": lambda first, second: ["{"],
    "unsigned": lambda first, second: [json.dumps({**json.loads(second), "signature": "00" * 64})],
    "another key": lambda first, second: [SharedTrust(GRAPH.value, OTHER.did, 9, SINCE).signed(OTHER)],
    "another namespace": lambda first, second: [SharedTrust("urn:cortex:b", OWNER.did, 9, SINCE).signed(OWNER)],
    "number": lambda first, second: [second.replace('"number": 2', '"number": 3')],
    "no publisher": lambda first, second: [json.dumps({**json.loads(second), "publishers": {}})],
    "the same number": lambda first, second: [SharedTrust(GRAPH.value, OWNER.did, 2, SINCE).signed(OWNER)],
    "deep": lambda first, second: ["[" * 100_000],
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_hostile_store_trusts_nobody_and_takes_no_revocation_back(hosts: Hosts, attack: str) -> None:
    first, second = hosts.host("a"), hosts.host("b")
    texts = []
    for change in (
        lambda state: state.with_publisher(listed()),
        lambda state: state.with_revoked(RevokedKey(ACME.did, "stolen", SINCE)),
    ):
        first.file.change(change)
        first.share(OWNER)
        second.look()
        texts += [quad.object.value for quad in hosts.store.quads(Pattern(GRAPH, GRAPH, LIST))]
    before = second.file.trust()
    hosts.put(*ATTACKS[attack](*texts))
    assert code_of(second.look) == code_of(second.look) == "signature_invalid"
    assert second.file.trust() == hosts.file("b").trust() == before
    if attack in ("missing", "older", "the same number"):
        assert first.share(OWNER).number == 3
        second.look()
        assert list(second.file.trust().revoked) == [ACME.did]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_changed_byte_of_a_list_is_read_as_another_list(data: st.DataObject) -> None:
    shared = SharedTrust(
        GRAPH.value, OWNER.did, 1, SINCE, {"acme": (ACME.did,)}, {OTHER.did: RevokedKey(OTHER.did, "", SINCE)}
    )
    text = shared.signed(OWNER)
    assert read_shared(text, OWNER.did, GRAPH.value) == shared
    position = data.draw(st.integers(0, len(text) - 1))
    changed = text[:position] + chr(data.draw(st.integers(1, 126))) + text[position + 1 :]
    with suppress(CortexError):
        assert read_shared(changed, OWNER.did, GRAPH.value) == shared  # white space, or a letter of the hexadecimal


def test_a_damaged_file_of_the_list_is_an_error(hosts: Hosts) -> None:
    first = hosts.host("a")
    first.share(OWNER)
    first.file.shared_path.write_text("{}")
    assert code_of(hosts.file("a").trust) == "config_invalid"


# With plugins


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with oxigraph() as running:
        yield running.url


@pytest.fixture
def host(server: str, tmp_path: Path, home: Path) -> Iterator[Callable[..., Plugin]]:
    """Opens the plugin of a host by its name, on the store of the server."""
    plugins: list[Plugin] = []

    def opened(name: str) -> Plugin:
        settings: dict[str, Any] = {
            "verification": {"owner": OWNER.did, "trustStore": str(tmp_path / name / "trust.json")},
            "artifacts": {"folder": str(tmp_path / name / "artifacts")},
            "actions": {"trustLevel": "bounded_auto"},
        }
        plugins.append(Plugin.open(Config(store=server, **settings)))
        return plugins[-1]

    yield opened
    for plugin in plugins:
        plugin.close()


def owner_key(home: Path) -> None:
    """Put the owner's key into the user's folder of keys."""
    folder = home / "data/cortex-skills/keys"
    folder.mkdir(parents=True, mode=0o700)
    (folder / "owner.seed").touch(0o600)
    (folder / "owner.seed").write_bytes(bytes(range(2, 34)))


def test_a_revocation_on_one_host_stops_a_skill_and_a_tool_on_another_at_their_next_call(
    host: Callable[..., Plugin], signed: Signed, home: Path
) -> None:
    owner_key(home)
    first, second, third = host("a"), host("b"), host("b")
    folder = signed(key=KEY)
    assert code_of(second.load, folder) == "signature_invalid"
    first.operate(trust_operations.add, publisher="acme", key=KEY.did)
    assert first.operate(trust_operations.share, key="owner")["publishers"] == ["acme"]
    assert second.load(folder) == ["probe"]
    add(first)
    assert not second.call("skill_graph_query", {"scope": "namespace"}).is_error
    assert third.call("acme.echo", {"text": "hi"}).details["outputs"] == {"text": "hi"}
    first.operate(trust_operations.revoke, key=KEY.did, reason="stolen")
    assert not second.call("skill_graph_query", {"scope": "namespace"}).is_error
    first.operate(trust_operations.share, key="owner")
    assert third.call("acme.echo", {"text": "hi"}).code == "signature_invalid"
    assert second.call("skill_graph_query", {"scope": "namespace"}).code == "signature_invalid"
    assert code_of(second.part(installed_in).open, "acme.echo_http") == "signature_invalid"
