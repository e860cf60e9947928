"""The cache of bundles: an unchanged skill starts without esbuild, and a bad entry is built again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cortex_sandbox import Sandbox, SandboxError, TranspileError, bundle
from cortex_sandbox.engine.cache import cache_folder
from cortex_sandbox.esbuild import bundler, esbuild

FILES = {
    "skill.ts": "import { one } from './lib';\nexport default { run(): number { throw new Error(`${one}`) } }",
    "lib.ts": "export const one: number = 1;",
}
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX permissions")


@pytest.fixture
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The entries that esbuild was called for, with an empty cache of bundles."""
    compiled = cache_folder()
    monkeypatch.setenv("CORTEX_SANDBOX_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o700)
    for path in compiled.glob("*.cwasm") if compiled else ():
        _link_or_copy(path, tmp_path / "cache" / path.name)
    entries: list[str] = []
    build = esbuild.build

    def counted(files: dict[str, str], entry: str, **options: float) -> object:
        entries.append(entry)
        return build(files, entry, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(esbuild, "build", counted)
    return entries


def _link_or_copy(path: Path, new: Path) -> None:
    try:
        new.hardlink_to(path)
    except OSError:  # another file system
        shutil.copy(path, new)


def entry(tmp_path: Path) -> Path:
    (path,) = (tmp_path / "cache").glob("bundle-*.kept")
    return path


def test_the_same_files_are_bundled_once(builds: list[str]) -> None:
    first = bundle(FILES)
    second = bundle(dict(reversed(FILES.items())))
    assert builds == ["skill.ts"]
    assert (second, second.source_map, second.sources) == (str(first), first.source_map, FILES)


def test_an_error_in_a_cached_bundle_has_its_place_in_the_source(builds: list[str]) -> None:
    bundle(FILES)
    with Sandbox() as box:
        box.load_module(bundle(FILES))
        with pytest.raises(SandboxError) as caught:
            box.call("run")
    assert (caught.value.file, caught.value.line) == ("skill.ts", 2)
    assert "throw new Error" in caught.value.excerpt
    assert len(builds) == 1


def test_a_second_process_does_not_load_esbuild(builds: list[str]) -> None:
    first = bundle(FILES)
    source = (
        "import sys\n"
        "from cortex_sandbox import bundle\n"
        f"print(bundle({FILES!r}), end='')\n"
        "assert not {'wasmtime', 'cortex_sandbox.esbuild.esbuild'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (str(first), "")


@pytest.mark.parametrize(
    ("files", "main"),
    [
        ({**FILES, "lib.ts": "export const one: number = 2;"}, "skill.ts"),
        ({**FILES, "unused.ts": ""}, "skill.ts"),
        ({"skill.ts": FILES["skill.ts"], "lib/index.ts": FILES["lib.ts"]}, "skill.ts"),
        (FILES, "lib.ts"),
    ],
)
def test_other_files_or_another_entry_are_another_bundle(builds: list[str], files: dict[str, str], main: str) -> None:
    bundle(FILES)
    bundle(files, main)
    assert builds == ["skill.ts", main]


def test_other_options_are_another_bundle(builds: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    bundle(FILES)
    monkeypatch.setattr(bundler, "OPTIONS", (*bundler.OPTIONS, "--minify"))
    bundle(FILES)
    assert len(builds) == 2


@pytest.mark.parametrize(
    "change", [{"esbuild": "0.0.1"}, {"sha256": {"esbuild.wasm": "0" * 64}}], ids=["version", "digest"]
)
def test_another_compiler_is_another_bundle(
    builds: list[str], monkeypatch: pytest.MonkeyPatch, change: dict[str, object]
) -> None:
    bundle(FILES)
    manifest = {**bundler.manifest(), **change}
    monkeypatch.setattr(bundler, "manifest", lambda: manifest)
    bundle(FILES)
    assert len(builds) == 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:20],
        lambda content: content[:-1],
        lambda content: content.replace(b"number", b"nimber").replace(b"Error", b"error"),
        lambda content: b"\0" * len(content),
    ],
)
def test_a_tampered_entry_is_built_again(builds: list[str], tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    first = bundle(FILES)
    entry(tmp_path).write_bytes(damage(entry(tmp_path).read_bytes()))
    assert bundle(FILES) == first
    assert bundle(FILES) == first
    assert len(builds) == 2


def test_an_entry_of_another_bundle_is_not_used(builds: list[str], tmp_path: Path) -> None:
    first = bundle(FILES)
    path = entry(tmp_path)
    path.rename(tmp_path / "other")
    bundle({"skill.ts": "export default 'another skill'"})
    shutil.copy(entry(tmp_path), path)
    assert bundle(FILES) == first
    assert len(builds) == 3


@POSIX
def test_an_entry_that_others_may_write_to_is_not_used(builds: list[str], tmp_path: Path) -> None:
    first = bundle(FILES)
    entry(tmp_path).chmod(0o666)
    assert bundle(FILES) == first
    assert len(builds) == 2
    assert entry(tmp_path).stat().st_mode & 0o077 == 0


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can change the owner of a file")
def test_an_entry_of_another_user_is_not_used(builds: list[str], tmp_path: Path) -> None:
    bundle(FILES)
    os.chown(entry(tmp_path), 12345, -1)
    bundle(FILES)
    assert len(builds) == 2


def test_errors_are_not_cached(builds: list[str]) -> None:
    for _ in range(2):
        with pytest.raises(TranspileError):
            bundle({"skill.ts": "export default {"})
    assert len(builds) == 2


def test_concurrent_builds_of_the_same_files_leave_one_whole_entry(builds: list[str], tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as threads:
        modules = set(threads.map(lambda _: str(bundle(FILES)), range(8)))
    assert len(modules) == 1
    assert not list((tmp_path / "cache").glob(".new-*"))
    count = len(builds)
    assert str(bundle(FILES)) in modules
    assert (len(builds), entry(tmp_path).is_file()) == (count, True)


def test_the_oldest_bundles_are_deleted(builds: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundler, "_MAX_CACHED_BUNDLES", 2)
    sources = [f"export default {number}" for number in range(3)]
    for number, source in enumerate(sources):
        bundle({"skill.ts": source})
        newest = max((tmp_path / "cache").glob("bundle-*"), key=lambda path: path.stat().st_mtime_ns)
        os.utime(newest, ns=(number, number))
    assert len(list((tmp_path / "cache").glob("bundle-*"))) == 2
    del builds[:]
    for source in reversed(sources):
        bundle({"skill.ts": source})
    assert len(builds) == 1
