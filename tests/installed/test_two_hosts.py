"""What one host installs on a server's store, seen by another host with another folder."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from uuid import uuid4

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import GraphStore, open_store
from cortex_graph.naming.names import Names, kept_beside
from cortex_graph.naming.vocabulary import RDF
from cortex_graph.store import Pattern
from cortex_skills import CortexError
from cortex_skills.features.artifacts.installed import InstalledArtifacts
from cortex_skills.features.artifacts.installed import artifact_bytes as module
from cortex_skills.features.artifacts.installed.artifact_bytes import SIZE
from cortex_skills.features.artifacts.installed.host_findings import stopping
from cortex_skills.features.artifacts.installed.installed_artifact import ArtifactVersions
from cortex_skills.features.artifacts.installed.installed_audit import (
    audit_all,
    audit_if_due,
    audit_installed,
    check_files,
)
from cortex_skills.features.graph.copied_parts import StorePair, compare_parts, copy_parts
from cortex_skills.signatures import RevokedKey, TrustFile
from tests.artifacts.samples import KEY, OTHER_KEY
from tests.configs import config
from tests.installed.samples import MODULE, artifact, install, judge, place
from tests.installed.test_security_audit import events, feed, record
from tests.services.oxigraph import oxigraph

ID = "acme.echo_http"
SEMANTIC = '[operator.plugin]\nkind = "semantic"\n'
SKILL = {
    "assets/skill/SKILL.md": b"---\nname: echo-http\ndescription: Echoes.\n---\nEchoes.\n",
    "assets/skill/skill.ts": b"export default { name: 'echo-http' };",
}
NOISE = Random(1).randbytes(2 * module.PIECE)
Host = Callable[..., InstalledArtifacts]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with oxigraph() as running:
        yield running.url


@pytest.fixture
def host(server: str, tmp_path: Path) -> Iterator[Host]:
    """Makes a host by its name, on the store of the server, in a namespace of the test."""
    stores: list[GraphStore] = []
    namespace = f"n{uuid4().hex}"

    def made(name: str, **settings: object) -> InstalledArtifacts:
        stores.append(open_store(server))
        folder = str(tmp_path / name / "artifacts")
        return place(tmp_path, stores[-1], namespace, artifacts={"folder": folder, **settings})

    yield made
    for store in stores:
        store.close()


def code_of(function: Callable[..., object], *arguments: object, **named: object) -> str:
    with pytest.raises(CortexError) as caught:
        function(*arguments, **named)
    return caught.value.code


def files_of(installed: InstalledArtifacts) -> list[Path]:
    return [path for path in installed.files.folder.rglob("*") if path.is_file() and path.suffix != ".lock"]


def test_an_audit_on_a_host_without_the_bytes_quarantines_nothing(host: Host) -> None:
    first, second = host("a", inStore=False), host("b", inStore=False)
    install(first, artifact())
    assert audit_all(second, judge(second)) == []
    assert code_of(audit_installed, second, ID, actor="serve") == "not_on_this_host"
    assert code_of(second.open, ID) == "not_on_this_host"
    assert [each.status for each in second.list()] == ["active"]
    assert first.open(ID).installed.status == "active"
    assert [problem.partition(": ")[2][:9] for problem in check_files(second)] == ["the bytes"]


def test_what_one_host_installs_is_verified_and_runs_on_another(host: Host) -> None:
    first, second = host("a"), host("b")
    data = artifact(more=SEMANTIC, content=SKILL)
    installed = install(first, data)
    assert files_of(second) == []
    assert second.folder_of_skill(ID).is_dir()
    assert second.open(ID).entries == first.open(ID).entries
    assert second.files.read(installed.key) == data
    assert [audit.passed for audit in audit_all(second, judge(second))] == [True]
    assert check_files(second) == []
    again = host("b", inStore=False)
    again.shared.remove(installed.file_sha256)
    assert again.open(ID).installed == installed


@pytest.mark.parametrize("size", [1, 1000, module.PIECE, module.PIECE + 1, 3 * module.PIECE])
def test_bytes_of_any_size_come_back(host: Host, size: int) -> None:
    shared, data = host("a").shared, bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    digest = "0" * 64
    assert shared.get(digest) is None
    shared.put(data)
    (digest,) = shared.listed()
    assert shared.get(digest) == data
    shared.put(data)
    assert host("b").shared.get(digest) == data
    shared.remove(digest)
    assert (shared.get(digest), shared.listed()) == (None, set())


@pytest.mark.parametrize("attack", ["other bytes", "size", "huge", "no number", "missing", "surplus", "twice", "text"])
def test_bytes_of_a_hostile_server_are_refused_and_nothing_is_written(host: Host, attack: str) -> None:
    first, second = host("a"), host("b")
    data = artifact(content={"modules/echo.wasm": MODULE, "assets/noise.bin": NOISE})
    digest = install(first, data).file_sha256
    store, graph = second.shared._store, second.shared._graph
    node = second.shared._node(digest)
    (piece,) = store.quads(Pattern(graph, node, NamedNode(f"{RDF}_2")))
    (size,) = store.quads(Pattern(graph, node, SIZE))

    def quad(predicate: NamedNode, text: str) -> Quad:
        return Quad(node, predicate, Literal(text), graph)

    match attack:
        case "other bytes":
            text = piece.object.value
            store.apply([quad(piece.predicate, ("A" if text[0] != "A" else "B") + text[1:])], [piece])
        case "size":
            store.apply([quad(SIZE, str(len(data) - 1))], [size])
        case "huge":
            store.apply([quad(SIZE, str(1 << 40))], [size])
        case "no number":
            store.apply([quad(SIZE, "-1")], [size])
        case "missing":
            store.apply([], [piece])
        case "surplus":
            store.apply([quad(NamedNode(f"{RDF}_9"), "AAAA")])
        case "twice":
            store.apply([quad(SIZE, str(len(data) + 1))])
        case _:
            store.apply([quad(piece.predicate, "é" * len(piece.object.value))], [piece])
    assert code_of(second.open, ID) == "artifact_invalid"
    assert files_of(second) == []
    assert code_of(audit_installed, second, ID, actor="serve") == "artifact_invalid"
    assert [each.status for each in second.list()] == ["active"]
    assert first.open(ID).installed.status == "active"


def test_an_endless_transfer_ends(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = host("a"), host("b")
    install(first, artifact())
    monkeypatch.setattr(module, "_LONGEST_S", -1.0)
    assert code_of(second.open, ID) == "artifact_invalid"
    assert files_of(second) == []


def test_a_publisher_that_only_the_other_host_trusts_does_not_run_here_and_runs_on_there(
    host: Host, trust: TrustFile
) -> None:
    first, second = host("a"), host("b")
    install(first, artifact())
    known = trust.trust().publishers["acme"]
    trust.change(lambda state: state.without_publisher("acme"))
    assert code_of(second.open, ID) == "signature_invalid"
    assert files_of(second) == []
    assert code_of(audit_installed, second, ID, actor="serve") == "signature_invalid"
    trust.change(lambda state: state.with_publisher(known))
    assert second.open(ID).installed.status == "active"
    trust.change(lambda state: state.with_revoked(RevokedKey(KEY.did, "stolen", "2026-01-01T00:00:00Z")))
    assert audit_installed(second, ID, actor="serve").installed.status == "active"
    assert code_of(second.check_active, second.find(ID).key) == "artifact_quarantined"
    assert code_of(second.open, ID) == "artifact_quarantined"


def test_what_one_host_finds_because_of_its_settings_and_files_stops_an_artifact_there_only(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "feed").mkdir()
    found_by_feed = "vulnerability_feed:TEST-left-pad@pkg:npm/left-pad@1.3.0"
    known = feed(tmp_path / "feed", record("left-pad", events({"introduced": "0"})))
    first = host("a")
    key = install(first, artifact()).key
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "other"))
    second = host("b", vulnerabilityFeed=str(known))
    second.trust_file.change(lambda state: state.with_publisher(first.trust_file.trust().publishers["acme"]))
    assert first.host != second.host
    with caplog.at_level(logging.WARNING):
        assert [audit.passed for audit in audit_all(second, judge(second))] == [False]
    assert [record.message for record in caplog.records] == [
        f"{key} stops on this host, and not on others: {found_by_feed}"
    ]
    assert (code_of(second.check_active, key), code_of(second.open, ID)) == ("artifact_quarantined",) * 2
    assert (first.find(ID).status, second.runs(second.find(ID)), first.runs(first.find(ID))) == ("active", False, True)
    there, here = (each.as_here(each.find(ID)) for each in (first, second))
    assert (there.status, there.reason) == ("active", "")
    assert (here.status, here.reason) == ("quarantined", f"on this host: the security audit found {found_by_feed}")
    (first.files.place(key) / "more.txt").write_text("more")
    found = audit_installed(first, ID, actor="serve").installed.findings
    assert set(found) == {f"host/{first.host}/filesystem_safety", f"host/{second.host}/{found_by_feed}"}
    assert code_of(second.enable, ID, "1.2.0", actor="ada") == "state_conflict"
    assert set(stopping(first.find(ID), "")) == {"filesystem_safety", found_by_feed}  # in a copy of one host
    second.enable(ID, "1.2.0", actor="ada", override=True, reason="not reached")
    assert second.open(ID).installed.status == "active"
    assert code_of(first.open, ID) == "artifact_quarantined"


def test_what_was_accepted_without_trust_stays_on_its_host(host: Host) -> None:
    first, second = host("a"), host("b")
    data = artifact(name="other", key=OTHER_KEY)
    assert code_of(install, first, data) == "signature_invalid"
    first.trust_file.change(lambda state: state.without_publisher("acme"))
    assert install(first, data, allow_untrusted=True).trust == "untrusted"
    assert first.open("acme.other").installed.status == "active"
    assert code_of(second.open, "acme.other") == "signature_invalid"


def test_a_copy_of_a_store_takes_what_was_accepted_without_trust_to_this_host_only(server: str, tmp_path: Path) -> None:
    names, source = Names(f"n{uuid4().hex}"), open_store("memory:")
    here = [config(artifacts={"folder": str(tmp_path / name)}) for name in ("source", "target", "back")]
    before = InstalledArtifacts(here[0], source, names)
    before.trust_file.change(lambda state: state.without_publisher("acme"))
    install(before, artifact(), allow_untrusted=True)
    with closing(open_store(server)) as target, closing(open_store("memory:")) as back:
        copy_parts(StorePair(source, target, here[0], here[1]), names, replace=False)
        assert InstalledArtifacts(here[1], target, names).open(ID).installed.trust == "untrusted"
        other = InstalledArtifacts(config(artifacts={"folder": str(tmp_path / "other")}), target, names)
        assert code_of(other.open, ID) == "signature_invalid"
        pair = StorePair(target, back, other.config, here[2])
        (part,) = compare_parts(pair, names)
        assert part.files == 0
        assert part.notes == (f"the bytes of {ID} 1.2.0 stay there: {ID} is signed by acme, whom you do not trust",)
        copy_parts(pair, names, replace=False)
        assert code_of(InstalledArtifacts(here[2], back, names).open, ID) == "not_on_this_host"


def test_a_server_that_states_that_an_artifact_was_accepted_without_trust_is_not_believed(host: Host) -> None:
    first, second = host("a"), host("b")
    install(first, artifact())
    assert second.open(ID).installed.trust == "allowlisted"

    def untrusted(versions: ArtifactVersions) -> ArtifactVersions:
        return replace(versions, versions=tuple(replace(each, trust="untrusted") for each in versions.versions))

    second.trust_file.change(lambda state: state.without_publisher("acme"))
    second.index.change(ID, untrusted, {"what": "forged"})
    assert code_of(second.open, ID) == "signature_invalid"


def test_bytes_that_were_installed_before_are_shared_and_what_nothing_names_is_removed(host: Host) -> None:
    first, second = host("a", inStore=False), host("b")
    found = install(first, artifact())
    host("a").share()
    assert second.shared.listed() == {found.file_sha256}
    second.open(ID)
    second.shared.put(b"left by a killed process")
    first.remove(ID, actor="ada")
    assert len(files_of(second)) == 1
    second.share()
    assert (second.shared.listed(), files_of(second)) == (set(), [])


def test_each_host_audits_its_own_files(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, hours = host("a"), timedelta(hours=6)
    install(first, artifact())
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "other"))
    second = host("b", inStore=False)
    assert second.index.take_audit(hours)
    assert len(audit_if_due(first, hours, judge(first)) or ()) == 1
    assert audit_if_due(first, hours, judge(first)) is None
    assert second.index.take_audit(hours) is None


def test_each_quarantine_is_a_warning_in_the_log(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    first = host("a")
    key = install(first, artifact()).key
    (first.files.place(key) / "more.txt").write_text("more")
    with caplog.at_level(logging.WARNING):
        audit_installed(first, ID, actor="serve")
        audit_installed(first, ID, actor="serve")
    assert [record.message for record in caplog.records] == [
        f"{ID} 1.2.0 stops on this host, and not on others: filesystem_safety"
    ]
    first.quarantine(ID, "1.2.0", actor="ada", reason="odd")
    assert caplog.records[-1].message == f"{ID} 1.2.0 is quarantined, and stops on every host of the store: odd"


def test_the_bytes_are_in_no_namespace() -> None:
    assert kept_beside(Names("mayros").artifact_bytes_graph.value, "urn:cortex:")
