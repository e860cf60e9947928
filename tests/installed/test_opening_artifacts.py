"""What is installed is listed, opened from verified bytes, stopped and removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortex_graph import open_store
from cortex_graph.naming.names import kept_beside
from cortex_graph.store import Pattern
from cortex_skills import CortexError, Plugin
from cortex_skills.features.artifacts.installed import Grant, InstalledArtifacts
from cortex_skills.features.artifacts.installed.grant_decisions import GrantAnswers
from cortex_skills.features.artifacts.installed.installed_index import VERSIONS
from cortex_skills.signatures import TrustFile
from tests.artifacts.samples import KEY, OTHER_KEY
from tests.configs import config
from tests.installed.samples import MODULE, NETWORK, artifact, install, place

ID = "acme.echo_http"


def code_of(call: object, *arguments: object, **named: object) -> str:
    with pytest.raises(CortexError) as caught:
        call(*arguments, **named)  # type: ignore[operator]
    return caught.value.code


def test_an_installed_artifact_is_opened_with_the_bytes_that_were_signed(installed: InstalledArtifacts) -> None:
    new = install(installed, artifact())
    opened = installed.open(ID)
    assert opened.installed == new == installed.find(ID, "1.2.0")
    assert opened.entries["modules/echo.wasm"] == MODULE
    assert (new.status, new.current, new.publisher, new.trust) == ("active", True, "acme", "allowlisted")
    assert installed.check_active(new.key) == new


def test_what_it_may_do_is_what_it_requests_and_was_granted(installed: InstalledArtifacts) -> None:
    answers = GrantAnswers(
        grant=frozenset({Grant("http", "*.example.org"), Grant("graph", "read"), Grant("secret", "global/other")}),
        rest=False,
    )
    install(installed, artifact(more=NETWORK), answers)
    found = installed.open(ID).capabilities
    assert found.http_hosts == ("api.example.org", "cdn.example.org")
    assert (found.graph_read, found.graph_write, found.graph_predicates, found.secrets) == (True, False, (), ())
    assert found.quotas.fuel_budget == 10_000_000


def test_a_new_version_becomes_the_current_one_and_the_old_one_stays(installed: InstalledArtifacts) -> None:
    old = install(installed, artifact())
    new = install(installed, artifact("1.3.0"))
    assert installed.open(ID).installed == new
    assert installed.open(ID, "1.2.0").installed.key == old.key
    assert [(each.key.version, each.current) for each in installed.list()] == [("1.2.0", False), ("1.3.0", True)]


def test_only_an_active_version_is_opened(installed: InstalledArtifacts) -> None:
    key = install(installed, artifact()).key
    assert code_of(installed.quarantine, ID, "1.2.0", actor="ada", reason=" ") == "invalid_arguments"
    installed.quarantine(ID, "1.2.0", actor="ada", reason="it misbehaves")
    assert code_of(installed.open, ID) == code_of(installed.check_active, key) == "artifact_quarantined"
    assert installed.disable(ID, "1.2.0", actor="ada").status == "quarantined"
    for given in ({}, {"override": True}, {"reason": "fine"}, {"override": True, "reason": " "}):
        assert code_of(installed.enable, ID, "1.2.0", actor="ada", **given) == "state_conflict"
    assert installed.enable(ID, "1.2.0", actor="ada", override=True, reason="looked at it").status == "active"
    assert installed.open(ID).installed.key == key
    installed.disable(ID, "1.2.0", actor="ada")
    assert code_of(installed.open, ID) == "artifact_disabled"
    assert installed.enable(ID, "1.2.0", actor="ada").status == "active"


def test_another_process_sees_a_quarantine_at_its_next_look(tmp_path: Path) -> None:
    store = open_store("memory:")
    here, there = place(tmp_path / "artifacts", store), place(tmp_path / "artifacts", store)
    key, before = install(here, artifact()).key, there.revision()
    assert there.check_active(key).status == "active"
    here.quarantine(ID, "1.2.0", actor="ada", reason="why")
    assert there.revision() != before
    assert code_of(there.check_active, key) == "artifact_quarantined"


def test_a_changed_file_is_not_opened(installed: InstalledArtifacts) -> None:
    key = install(installed, artifact()).key
    file = installed.files.place(key) / "artifact.palyra-skill"
    file.write_bytes(artifact("1.2.0", NETWORK))
    assert code_of(installed.open, ID) == "artifact_invalid"
    file.unlink()
    assert code_of(installed.open, ID) == "not_on_this_host"
    file.symlink_to("/dev/zero")
    assert code_of(installed.open, ID) == "artifact_unavailable"


def test_an_artifact_whose_publisher_is_trusted_no_more_is_not_opened(
    installed: InstalledArtifacts, trust: TrustFile
) -> None:
    install(installed, artifact())
    trust.change(lambda known: known.without_publisher("acme"))
    assert code_of(installed.open, ID) == "signature_invalid"


def test_an_unknown_publisher_is_installed_only_where_that_is_allowed(
    installed: InstalledArtifacts, trust: TrustFile
) -> None:
    trust.change(lambda known: known.without_publisher("acme"))
    data = artifact(key=OTHER_KEY)
    assert code_of(install, installed, data) == "signature_invalid"
    assert installed.list() == ()
    assert install(installed, data, allow_untrusted=True).trust == "untrusted"
    assert installed.open(ID).installed.status == "active"
    assert trust.trust().publishers == {}
    installed.remove(ID, actor="ada")
    assert install(installed, data, first_use=True).trust == "tofu_newly_pinned"
    assert trust.trust().publishers["acme"].key == OTHER_KEY.did
    assert code_of(install, installed, artifact("1.3.0", key=KEY)) == "signature_invalid"


def test_an_older_version_is_not_installed_over_a_newer_one(installed: InstalledArtifacts) -> None:
    install(installed, artifact("1.3.0"))
    assert code_of(install, installed, artifact("1.2.0")) == "signature_invalid"
    assert install(installed, artifact("1.2.0"), allow_downgrade=True).current


def test_other_contents_of_an_installed_version_are_refused(installed: InstalledArtifacts) -> None:
    old = install(installed, artifact())
    assert code_of(install, installed, artifact(more=NETWORK), allow_downgrade=True) == "skill_exists"
    assert installed.open(ID).installed == old


def test_an_expected_hash_is_compared(installed: InstalledArtifacts) -> None:
    assert code_of(install, installed, artifact(), sha256="00" * 32) == "artifact_invalid"
    assert installed.list() == ()


def test_the_index_is_in_no_namespace_and_damage_in_it_stops_only_that_artifact(tmp_path: Path) -> None:
    store = open_store("memory:")
    installed = place(tmp_path / "artifacts", store)
    install(installed, artifact())
    install(installed, artifact(name="other"))
    graph = installed.index._graph
    assert kept_beside(graph.value, "urn:cortex:")
    assert place(tmp_path / "artifacts", store, "other").list() == ()
    quad = next(quad for quad in store.quads(Pattern(graph)) if quad.predicate == VERSIONS and "other" in str(quad))
    changed = str(quad.object.value).replace('"active"', '"trusted"')
    store.apply([type(quad)(quad.subject, VERSIONS, type(quad.object)(changed), graph)], [quad])
    assert code_of(installed.open, "acme.other") == "artifact_invalid"
    assert [each.key.skill_id for each in installed.list()] == [ID]
    assert installed.index.everything().damaged == ("acme.other",)


def test_a_removed_artifact_has_no_files_and_keeps_its_quarantine(installed: InstalledArtifacts) -> None:
    data = artifact()
    key = install(installed, data).key
    opened = installed.open(ID)
    installed.quarantine(ID, "1.2.0", actor="ada", reason="why")
    installed.remove(ID, actor="ada")
    assert code_of(installed.open, ID) == code_of(installed.find, ID) == "artifact_not_found"
    assert code_of(installed.remove, ID, actor="ada") == "artifact_not_found"
    assert not installed.files.place(key).exists()
    assert list(installed.files.listed()) == []
    assert opened.entries["modules/echo.wasm"] == MODULE
    assert install(installed, data).status == "quarantined"


def test_a_plugin_has_what_is_installed_in_its_namespace(tmp_path: Path) -> None:
    with Plugin.open(config(store=str(tmp_path / "store"))) as plugin:
        installed = plugin.installed
        key = install(installed, artifact()).key
        assert installed.files.place(key).parents[2] == tmp_path / "store.artifacts"
    with Plugin.open(config(store=str(tmp_path / "store"), agentNamespace="other")) as plugin:
        assert plugin.installed.list() == ()
    with Plugin.open(config(store=str(tmp_path / "store"))) as plugin:
        assert plugin.installed.open(ID).installed.key == key
