"""The files of `deploy/`: by the schemas of those who read them, and the entry script as a container starts it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import httpx
import jsonschema_rs
import pytest
from check_jsonschema.builtin_schemas import get_builtin_schema
from ruamel.yaml import YAML

from build_steps.tools import ROOT
from cortex_skills.tokens import TokenFile, new_token

DEPLOY = ROOT / "deploy"
ENTRY = str(DEPLOY / "entry.sh")
USER = 10001
TOKEN = "t" * 32
WAIT_S = 100


def test_the_compose_file_follows_its_schema_and_needs_a_secret() -> None:
    value = YAML(typ="safe").load(DEPLOY / "compose.yaml")
    schema = jsonschema_rs.validator_for(get_builtin_schema("vendor.compose-spec"))
    assert [str(each) for each in schema.iter_errors(value)] == []
    cortex = value["services"]["cortex"]
    assert (cortex["read_only"], cortex["cap_drop"]) == (True, ["ALL"])
    assert cortex["environment"]["CORTEX_CORTEX__AUTH_TOKEN"].startswith("${CORTEX_TOKEN:?")


def test_the_manifests_of_kubernetes_probe_what_the_server_has() -> None:
    documents = list(YAML(typ="safe").load_all(DEPLOY / "kubernetes.yaml"))
    assert [each["kind"] for each in documents] == ["PersistentVolumeClaim", "Service", "Deployment"]
    (container,) = documents[-1]["spec"]["template"]["spec"]["containers"]
    probes = {name: container[name]["httpGet"]["path"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert probes == {"startupProbe": "/livez", "livenessProbe": "/livez", "readinessProbe": "/readyz"}
    assert container["securityContext"]["readOnlyRootFilesystem"]


def test_the_image_is_made_of_what_the_wheel_needs() -> None:
    named = re.findall(r"^!(\S+)$", (DEPLOY / "Dockerfile.dockerignore").read_text(), re.MULTILINE)
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert "USER 10001" in (DEPLOY / "Dockerfile").read_text()


@pytest.mark.extended
def test_the_validator_of_kubernetes_accepts_the_manifests() -> None:
    words = [Path(sys.executable).with_name("kubernetes-validate"), "--strict", DEPLOY / "kubernetes.yaml"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.extended
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_the_unit_is_understood_and_well_confined() -> None:
    unit = DEPLOY / "cortex-skills.service"
    read = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True)
    assert [line for line in read.stderr.splitlines() if "is not executable" not in line] == []
    said = subprocess.run(["systemd-analyze", "security", "--offline=true", unit], capture_output=True, text=True)
    level = re.search(r"exposure level for \S+: ([0-9.]+)", said.stdout)
    assert level is not None, said.stdout + said.stderr
    assert float(level[1]) <= 2.0


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The volume of the container."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    if os.geteuid() == 0:
        for above in (each for each in tmp_path.parents if each.is_relative_to(tempfile.gettempdir())):
            above.chmod(above.stat().st_mode | 0o055)
        tmp_path.chmod(0o755)
        os.chown(folder, USER, USER)
    return folder


def contained(scratch: Path, *words: str) -> list[str]:
    """The command that runs words as the user of the image, who can write to nothing of the checkout."""
    home, python = Path.home(), Path(sys.base_prefix)
    if os.geteuid() != 0 or shutil.which("unshare") is None or ROOT.is_relative_to(home):
        pytest.skip("needs root, who changes the user and mounts the checkout read-only")
    steps = [f"mount --bind {ROOT} {ROOT}", f"mount -o remount,ro,bind {ROOT}"]
    if python.is_relative_to(home):  # which other users do not read
        kept = scratch / "python"
        kept.mkdir()
        steps += [f"mount --bind {python} {kept}", f"mount -t tmpfs -o mode=755 tmpfs {home}"]
        steps += [f"mkdir -p {python}", f"mount --bind {kept} {python}"]
    change = f"exec setpriv --reuid {USER} --regid {USER} --clear-groups --no-new-privs --bounding-set=-all"
    return ["unshare", "--mount", "sh", "-c", f'{" && ".join(steps)} && {change} "$@"', "sh", *words]


@pytest.mark.extended
def test_the_entry_script_serves_as_another_user_below_a_read_only_root(tmp_path: Path, data: Path) -> None:
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "CORTEX_DATA": str(data),
        "CORTEX_CORTEX__AUTH_TOKEN": TOKEN,
        "CORTEX_CORTEX__ALLOWED_HOSTS": "cortex-skills",
    }
    words = contained(tmp_path, ENTRY, "serve", "--host", "0.0.0.0", "--port", "0", "--log-format", "json")
    server = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        listening = re.match(r"listening at http://0\.0\.0\.0:([0-9]+)", server.stdout.readline())
        assert listening is not None
        url = f"http://127.0.0.1:{listening[1]}"
        assert httpx.get(f"{url}/readyz", headers={"Host": "10.0.0.1"}, trust_env=False).status_code == 200
        assert httpx.get(f"{url}/api/v1/triples", trust_env=False).status_code == 401
        headers = {"Authorization": f"Bearer {TOKEN}", "Host": "cortex-skills"}
        body = {"subject": "ada", "predicate": "knows", "object": "bob"}
        made = httpx.post(f"{url}/api/v1/triples", json=body, headers=headers, trust_env=False)
        assert made.status_code == 201
        assert (data / "cortex-skills/store").is_dir()
        server.send_signal(signal.SIGTERM)
        assert server.wait(WAIT_S) == 0
    finally:
        if server.poll() is None:
            server.kill()
        server.communicate()


@pytest.mark.extended
def test_a_volume_that_the_user_cannot_write_to_is_named(tmp_path: Path) -> None:
    words = contained(tmp_path, ENTRY, "serve")
    done = subprocess.run(
        words, env={"PATH": os.environ["PATH"], "CORTEX_DATA": "/proc"}, capture_output=True, text=True
    )
    assert (done.returncode, "mount a volume that it owns" in done.stderr) == (1, True)


@pytest.mark.extended
def test_a_server_reads_the_tokens_of_another_host_from_a_folder_that_is_mounted_read_only(tmp_path: Path) -> None:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs root, who mounts a folder read-only")
    shared, file = tmp_path / "shared", tmp_path / "shared" / "tokens.json"
    token, text = new_token("fleet", ("mayros",), ("read",), None, datetime.now(UTC))
    TokenFile(file).add(token)
    program = Path(sys.executable).with_name("cortex-skills")
    steps = f'mount --bind {shared} {shared} && mount -o remount,ro,bind {shared} && exec "$@"'
    environment = os.environ | {
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "CORTEX_CORTEX__TOKEN_FILE": str(file),
        "CORTEX_STORE": str(tmp_path / "store"),
    }

    def mounted(*words: str) -> subprocess.Popen[str]:
        command = ["unshare", "--mount", "sh", "-c", steps, "sh", str(program), *words]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    server = mounted("serve", "--port", "0")
    try:
        assert server.stdout is not None
        listening = re.match(r"listening at (http://[^ ]+)", server.stdout.readline())
        assert listening is not None

        def status(shown: str) -> int:
            headers = {"Authorization": f"Bearer {shown}"}
            return httpx.get(f"{listening[1]}/api/v1/triples", headers=headers, trust_env=False).status_code

        assert status(text) == 200
        more, other = new_token("more", ("mayros",), ("read",), None, datetime.now(UTC))
        assert status(other) == 401
        TokenFile(file).add(more)
        TokenFile(file).remove("fleet")
        assert (status(other), status(text)) == (200, 401)
        refused = mounted("token", "create", "third", "--json")
        _, error = refused.communicate(timeout=WAIT_S)
        assert (refused.returncode, json.loads(error.splitlines()[-1])["code"]) == (2, "config_invalid")
        assert "cannot be written: Read-only file system" in error
        assert status(other) == 200
    finally:
        server.kill()
        server.communicate()
