"""Clients name folders below a configured one, and reach nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortex_skills import Config
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.folders import export_folder, import_folder


@pytest.fixture
def config(tmp_path: Path) -> Config:
    root = tmp_path / "root"
    (root / "skills/fetch-data").mkdir(parents=True)
    (root / "file").write_text("")
    (tmp_path / "root-evil").mkdir()
    (tmp_path / "secret").mkdir()
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "skills/up").symlink_to("..")
    return Config(registry={"importRoot": str(root), "exportRoot": str(root)})


def exported(config: Config, given: str) -> Path:
    return export_folder(config, given, "fetch-data")


def refusal(call, *given) -> CortexError:
    with pytest.raises(CortexError) as caught:
        call(*given)
    return caught.value


def test_a_folder_below_the_root_is_found(config, tmp_path):
    assert import_folder(config, "skills/fetch-data") == tmp_path / "root/skills/fetch-data"
    assert import_folder(config, "skills/") == tmp_path / "root/skills"
    assert export_folder(config, "out/today", "x") == tmp_path / "root/out/today"
    assert export_folder(config, "", "x") == tmp_path / "root"


@pytest.mark.parametrize(
    "given",
    [
        *(
            "/etc",
            "//etc",
            "../secret",
            "skills/../../secret",
            "..",
            ".",
            "./skills",
            "skills//fetch-data",
            "~",
            "~root",
        ),
        *(
            "../root-evil",
            "link",
            "link/x",
            "skills/up",
            "skills/up/skills",
            "file",
            "file/x",
            ".hidden",
            "a\0b",
            "a\nb",
        ),
        *("C:\\x", "a\\b", "a:b", "NUL ", "a.", "\udcff", "x" * 300, "x/" * 600 + "x"),
    ],
)
def test_no_path_leads_out_and_no_refusal_names_the_root(config, tmp_path, given):
    for call in (import_folder, exported):
        if given in ("~", "~root") and call is exported:
            assert call(config, given) == tmp_path / "root" / given  # a name like any other
            continue
        error = refusal(call, config, given)
        assert error.code == "invalid_arguments"
        assert str(tmp_path) not in error.message + error.hint


def test_nothing_is_imported_from_what_does_not_exist(config):
    assert refusal(import_folder, config, "nowhere").message == "the folder 'nowhere' does not exist"
    assert refusal(import_folder, config, "").code == "invalid_arguments"


def test_without_a_configured_root_everything_is_refused():
    for call in (import_folder, exported):
        assert refusal(call, Config(), "skills").code == "permission_denied"


def test_what_is_private_in_the_root_is_neither_imported_nor_written_into(tmp_path):
    (tmp_path / "skills/fetch-data").mkdir(parents=True)
    (tmp_path / "skills/other").mkdir()
    private = {"secrets": {"key": str(tmp_path / "skills/fetch-data/key")}, "proofs": {"keys": str(tmp_path / "keys")}}
    roots = {"importRoot": str(tmp_path), "exportRoot": str(tmp_path)}
    config = Config(registry=roots, artifacts={"folder": str(tmp_path / "installed")}, **private)
    (tmp_path / "keys").mkdir()
    for given in ("keys", "skills/fetch-data", "skills"):
        assert "holds private data" in refusal(import_folder, config, given).message
    for given, name in (("keys", "x"), ("keys/deep", "x"), ("", "keys"), ("", "installed"), ("installed", "x")):
        assert "keeps private data" in refusal(export_folder, config, given, name).message
    assert import_folder(config, "skills/other") == tmp_path / "skills/other"
    assert export_folder(config, "skills", "fetch") == tmp_path / "skills"
