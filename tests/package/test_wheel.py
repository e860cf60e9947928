"""A wheel works in a new environment, without Node.js and without this checkout."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.extended, pytest.mark.slow, pytest.mark.timeout(850)]


COMPILING_S = 12  # of processor time: fewer than compiling esbuild takes, and more than a first answer does


def build(out: Path, **settings: str) -> Path:
    """Build a wheel as `make wheel` does, but with the packages that are installed here."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **settings})
    (built,) = out.glob("*.whl")
    return built


def spare() -> None:
    """End this process, and each that it starts, when it compiles."""
    resource.setrlimit(resource.RLIMIT_CPU, (COMPILING_S, COMPILING_S))


def install(wheel: Path, folder: Path) -> Path:
    """Install a wheel into a new environment, whose folder of programs is returned."""
    venv.create(folder)
    # Installed by the pip of the tests, and compiled when it is imported.
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--no-compile", str(wheel)], check=True)
    return folder / "bin"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("dist"))


def test_the_wheel_contains_the_guests_the_schemas_and_the_types(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "cortex_sandbox/guests/quickjs.wasm",
        "cortex_sandbox/guests/esbuild.wasm.xz",
        "cortex_sandbox/guests/bootstrap.js",
        "cortex_sandbox/guests/guests.json",
        "cortex_sandbox/direct/runner.mjs",
        "cortex_skills/injection/look_alikes.json",
        "cortex_skills/doors/explorer/templates/base.html",
        "cortex_skills/doors/explorer/static/assets.json",
        "cortex_skills/injection/signatures.txt",
        "cortex_skills/injection/lexicon/en.txt",
        "cortex_skills/safe_io/schemas/skill.schema.json",
        "cortex_skills/skill_types/cortex-skill.d.ts",
        "cortex_skills/skill_types/cortex-test.d.ts",
        "cortex_skills/features/skill_testing/prelude.ts",
        "cortex_skills/features/skill_testing/vitest.ts",
        "cortex_skills/builtin_skills/notebook/SKILL.md",
        "cortex_skills/example_skills/verify-kyc/skill.ts",
        "cortex_skills/example_skills/license-audit/SKILL.md",
        "cortex_skills/sdk_files/c/palyra.h",
        "cortex_graph/py.typed",
        "cortex_graph/ontology_files/cortex.ttl",
        "cortex_graph/ontology_files/shapes.ttl",
        "cortex_graph/ontology_files/context.jsonld",
    } <= names
    files = (path for path in (ROOT / "cortex_skills").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    ours = {path.relative_to(ROOT).as_posix() for path in files}
    assert {name for name in ours if "/explorer/src/" not in name} - names == set()
    assert not [name for name in names if name.startswith(("tests/", "graph/", "sandbox/", "examples/"))]
    sources = [name for name in names if name.endswith((".c", ".h")) and "/sdk_files/" not in name]
    assert sources == []
    static = "cortex_skills/doors/explorer/static/"
    assets = json.loads(zipfile.ZipFile(wheel).read(f"{static}assets.json"))["files"]
    styles = ROOT / "cortex_skills/doors/explorer/src"
    scripts = {"app.js", "live.js", "map.js", "picture.js", "sparql.js", "suggest.js", "write.js", "zone.js"}
    assert set(assets) == scripts | {path.name for path in styles.glob("*.css")} | {"licences.txt"}
    assert {f"{static}{file}" for file in assets.values()} <= names
    assert not [name for name in names if "explorer/src" in name]


def test_a_skill_runs_from_the_wheel_without_nodejs(wheel: Path, tmp_path: Path) -> None:
    binaries = install(wheel, tmp_path / "env")
    environment = {
        "PATH": str(binaries),
        "HOME": str(tmp_path),
        # The guests are compiled for a new machine in tests/sandbox/test_code_cache.py.
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")),
        **{name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ},
    }
    program = str(binaries / "cortex-skills")
    for name in ("notebook", "verify-kyc", "license-audit"):
        subprocess.run([program, "init", "--from", name, f"a-{name}"], cwd=tmp_path, env=environment, check=True)
        assert (tmp_path / f"a-{name}" / "SKILL.md").is_file()
    skill = str(tmp_path / "a-verify-kyc")
    subprocess.run([program, "sign", skill], cwd=tmp_path, env=environment, check=True)
    command = [program, "query", "--json", "--store", "memory:", "--skills", skill]
    command += ["--predicate", "hasStatus", "--scope", "namespace"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert '"status": "ok"' in done.stdout


def test_a_first_answer_from_the_wheel_of_this_platform_compiles_nothing(tmp_path: Path) -> None:
    built = build(tmp_path / "dist", CORTEX_PLATFORM_WHEEL="1")
    assert not built.name.endswith("-any.whl")
    binaries = install(built, tmp_path / "env")
    environment = {"PATH": str(binaries), "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "empty"), "LANG": "C"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(binaries / "cortex-skills"), *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, preexec_fn=spare, check=True
        )

    run("init", "--from", "license-audit", "audit")
    run("init", "--from", "verify-kyc", "kyc")
    run("sign", "kyc")
    done = run(
        "query", "--json", "--store", "memory:", "--skills", "kyc", "--predicate", "hasStatus", "--scope", "namespace"
    )
    assert '"status": "ok"' in done.stdout
    assert [path.suffix for path in (tmp_path / "empty").rglob("*") if path.is_file()] != []
