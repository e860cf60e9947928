"""The commands of docs/signatures.md work, and its verification without this software too."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner
from nacl.signing import VerifyKey

from cortex_skills.doors.cli.app import program

PAGE = (Path(__file__).parents[2] / "docs/signatures.md").read_text(encoding="utf-8")
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def run(line: str) -> str:
    name, *words = shlex.split(line)
    assert name == "cortex-skills"
    done = CliRunner().invoke(program, words)
    assert done.exit_code == 0, done.stdout + done.stderr
    return done.stdout


def test_the_commands_of_the_page_work(
    skill: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = skill("stock-watch", "export default { name: 'stock-watch' };", files={"a/b.md": "b", "a.md": ""})
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            run(line)
    did = run("cortex-skills key export publishing").strip()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user/data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user/config"))
    shown = [line.strip().replace("did:key:z6Mk…", did) for line in PAGE.splitlines() if line.startswith("    cortex")]
    said = [run(line) for line in shown]
    assert len(said) == 5
    assert "signed by example.org" in said[1]
    assert did in said[2]
    assert [said[3].split()[0], did in said[3], said[4].strip()] == ["example.org", False, f"{did} is revoked"]

    signature = json.loads((folder / "SKILL.sig").read_text())
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    del files["SKILL.sig"]
    data = b"cortex-skill-files/1\0" + u64(len(files))
    for path in sorted(files, key=str.encode):
        data += b"f" + text(path) + u64(len(files[path])) + sha256(files[path]).digest()
    assert sha256(data).hexdigest() == signature["digest"]
    message = b"cortex-skill-signature/1\0"
    for part in ("publisher", "key", "skill", "version", "signed"):
        message += text(signature[part])
    public = decoded(signature["key"].removeprefix("did:key:z"))
    assert (public[:2], signature["key"]) == (b"\xed\x01", did)
    VerifyKey(public[2:]).verify(message + sha256(data).digest(), bytes.fromhex(signature["signature"]))


def u64(number: int) -> bytes:
    return number.to_bytes(8, "big")


def text(given: str) -> bytes:
    return u64(len(given.encode())) + given.encode()


def decoded(given: str) -> bytes:
    number = 0
    for letter in given:
        number = number * 58 + BASE58.index(letter)
    return number.to_bytes(34, "big")
