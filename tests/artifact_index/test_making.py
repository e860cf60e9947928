"""Making an index from artifacts."""

import threading
from datetime import UTC, datetime, timedelta

import pytest

from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.index import FIRST_PAGE
from cortex_skills.features.artifacts.index.making import artifact_files, build_index, read_folder, verified_entry
from cortex_skills.features.artifacts.package import write_archive
from tests.artifact_index.samples import KEY, OTHER_KEY
from tests.artifacts.samples import MANIFEST, payload, signed

NOW = datetime(2026, 11, 24, 12, 0, tzinfo=UTC)
CAPABILITIES = '[capabilities]\nhttp_egress_allowlist = ["example.org"]\n[capabilities.graph]\nread = true\n'


def artifact(version="1.2.0", text=b"hello", more=""):
    """The bytes of an artifact."""
    content = {"modules/echo.wasm": bytes.fromhex("0061736d01000000"), "assets/prompt.txt": text}
    return write_archive(signed(payload(MANIFEST.replace("1.2.0", version) + more, content)))


def build(folder, *artifacts, key=KEY, now=NOW, days=30, yank=()):
    """Make the next snapshot in a folder."""
    return build_index(
        artifacts, folder, key=key, publisher="registry", now=now, lasts=timedelta(days=days), yank=frozenset(yank)
    )


def files(folder):
    """The files of an index by address, without its lock."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".lock"
    }


def test_an_entry_states_what_the_artifact_is_and_requests(tmp_path):
    data = artifact(more=CAPABILITIES)
    (entry,) = build(tmp_path, data).entries
    assert (entry.skill_id, entry.version, entry.publisher, entry.summary) == (
        "acme.echo_http",
        "1.2.0",
        "acme",
        "Echo",
    )
    assert entry.capabilities == ("graph.read", "http")
    assert entry.key_id == "ed25519:34750f98bd59fcfc"
    assert (tmp_path / entry.artifact).read_bytes() == data
    assert entry.artifact_bytes == len(data)


def test_the_same_artifacts_give_the_same_files(tmp_path):
    one, two = artifact("1.0.0"), artifact("1.1.0")
    build(tmp_path / "a", one, two)
    build(tmp_path / "b", two, one)
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_what_was_made_is_read_and_every_snapshot_has_the_next_number(tmp_path):
    first = build(tmp_path, artifact())
    assert read_folder(tmp_path) == first
    assert first.page.snapshot == 1
    assert first.page.expires_at_unix_ms == int((NOW + timedelta(days=30)).timestamp() * 1000)
    assert build(tmp_path, artifact()).page.snapshot == 2


def test_versions_are_listed_in_their_order(tmp_path):
    made = build(tmp_path, artifact("1.10.0"), artifact("1.2.0"), artifact("1.10.0-rc.1"))
    assert [entry.version for entry in made.entries] == ["1.2.0", "1.10.0-rc.1", "1.10.0"]


def test_a_version_keeps_its_contents(tmp_path):
    build(tmp_path, artifact(text=b"one"))
    before = files(tmp_path)
    with pytest.raises(CortexError, match="is listed with other contents"):
        build(tmp_path, artifact(text=b"two"))
    assert files(tmp_path) == before


def test_an_artifact_is_listed_once(tmp_path):
    with pytest.raises(CortexError, match=r"acme\.echo_http 1\.2\.0 is there twice"):
        build(tmp_path, artifact(), artifact())
    with pytest.raises(CortexError, match="other contents"):
        build(tmp_path, artifact(), artifact(text=b"two"))


def test_what_is_yanked_stays_yanked(tmp_path):
    one, two = artifact("1.0.0"), artifact("1.1.0")
    build(tmp_path, one, two, yank=[("acme.echo_http", "1.0.0")])
    assert [entry.yanked for entry in build(tmp_path, one, two).entries] == [True, False]


def test_only_a_listed_version_is_yanked(tmp_path):
    with pytest.raises(CortexError, match=r"acme\.echo_http 9\.9\.9 is not in the index"):
        build(tmp_path, artifact(), yank=[("acme.echo_http", "9.9.9")])


def test_an_artifact_that_is_not_valid_is_refused_and_nothing_changes(tmp_path):
    build(tmp_path, artifact())
    before = files(tmp_path)
    broken = bytearray(artifact("2.0.0"))
    broken[len(broken) // 2] ^= 1
    with pytest.raises(CortexError):
        build(tmp_path, artifact(), bytes(broken))
    assert files(tmp_path)[FIRST_PAGE] == before[FIRST_PAGE]


def test_an_artifact_for_a_later_host_is_listed():
    later = MANIFEST.replace('min_palyra_version = "0.1.0"', 'min_palyra_version = "99.0.0"')
    assert verified_entry(write_archive(signed(payload(later)))).version == "1.2.0"


def test_another_key_does_not_continue_an_index(tmp_path):
    build(tmp_path, artifact())
    with pytest.raises(CortexError, match="was signed with another key"):
        build(tmp_path, artifact(), key=OTHER_KEY)


def test_a_damaged_index_is_not_continued(tmp_path):
    build(tmp_path, artifact())
    (tmp_path / FIRST_PAGE).write_bytes(b"{}")
    with pytest.raises(CortexError, match="is not signed"):
        build(tmp_path, artifact())


def test_the_files_of_the_snapshot_before_stay_until_the_next(tmp_path):
    one, two = artifact("1.0.0"), artifact("1.1.0")
    (old,) = build(tmp_path, one).entries
    (tmp_path / "artifacts" / "notes.txt").write_text("mine")
    build(tmp_path, two)
    assert (tmp_path / old.artifact).read_bytes() == one
    build(tmp_path, two)
    assert not (tmp_path / old.artifact).exists()
    assert (tmp_path / "artifacts" / "notes.txt").read_text() == "mine"


def test_a_damaged_artifact_in_the_folder_is_written_again(tmp_path):
    (entry,) = build(tmp_path, artifact()).entries
    (tmp_path / entry.artifact).write_bytes(b"damaged")
    build(tmp_path, artifact())
    assert (tmp_path / entry.artifact).read_bytes() == artifact()


@pytest.mark.parametrize("days", [0, -1, 367])
def test_an_index_is_valid_for_a_year_at_most(tmp_path, days):
    with pytest.raises(CortexError, match="1 to 366 days"):
        build(tmp_path, artifact(), days=days)


def test_two_makers_take_turns(tmp_path):
    data = artifact()
    threads = [threading.Thread(target=build, args=(tmp_path, data)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read_folder(tmp_path).page.snapshot == 4


def test_artifacts_are_found_below_a_folder_and_links_are_not_followed(tmp_path):
    folder, outside = tmp_path / "in", tmp_path / "outside.palyra-skill"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.palyra-skill").write_bytes(b"a")
    (folder / "b.zip").write_bytes(b"b")
    outside.write_bytes(b"c")
    (folder / "c.palyra-skill").symlink_to(outside)
    assert artifact_files(folder) == [folder / "deep" / "a.palyra-skill"]
