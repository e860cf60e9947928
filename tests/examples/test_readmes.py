"""The commands and samples in the READMEs of the examples work."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests import fork_server

from .conftest import EXAMPLES

pytestmark = pytest.mark.timeout(600)  # the commands run one after the other, each in a process

TESTED_ELSEWHERE = "examples/verify-kyc/run_proofs.py"  # by test_run_proofs.py


def commands(readme: Path) -> list[list[str]]:
    """The commands in a README, without the set-up and the script that has a separate test."""
    text = readme.read_text(encoding="utf-8").replace("\\\n", "")
    lines = [shlex.split(line, comments=True) for line in re.findall(r"^\$ (.*)", text, re.MULTILINE)]
    programs = {"cortex-skills": fork_server.command(), "python": sys.executable}
    return [
        [programs[program], *arguments]
        for program, *arguments in lines
        if program != "make" and TESTED_ELSEWHERE not in arguments
    ]


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CORTEX_")}
    environment = {**kept, "XDG_DATA_HOME": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / "config")}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A writable folder with a link to the examples."""
    (tmp_path / "examples").symlink_to(EXAMPLES, target_is_directory=True)
    return tmp_path


@pytest.mark.extended
@pytest.mark.slow
def test_the_commands_of_verify_kyc_print_the_documented_answers(checkout):
    readme = EXAMPLES / "verify-kyc" / "README.md"
    done = [run(command, checkout) for command in commands(readme)]
    _, _, asked, asserted, refused = done

    assert [finished.returncode for finished in done] == [0, 0, 0, 0, 1]
    assert '"toVerify":["mayros:customer:boris"]' in asked.stdout
    assert "\nproof " in asserted.stdout
    assert "proof_failed" in refused.stderr


def test_the_python_of_verify_kyc_prints_the_answer(checkout):
    text = (EXAMPLES / "verify-kyc" / "README.md").read_text(encoding="utf-8")
    [code] = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)

    run([fork_server.command(), "sign", "examples/verify-kyc"], checkout)
    assert run([sys.executable, "-c", code], checkout).stdout == "No matching triples.\n\n" + "\n".join(
        [
            '<skill-enrichment type="data">',
            '{"approved":[],"pending":[],"rejected":[],"toVerify":[]}',
            "</skill-enrichment>\n",
        ]
    )


@pytest.mark.extended
def test_the_proof_chain_of_verify_kyc_is_made_and_verified_by_commands(tmp_path):
    text = (EXAMPLES / "verify-kyc" / "README.md").read_text(encoding="utf-8")
    [block] = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CORTEX_", "XDG_"))}
    settings = {"PATH": fork_server.search_path(), "EXAMPLE": str(EXAMPLES / "verify-kyc")}
    command = ["bash", "-euo", "pipefail", "-c", block]
    done = subprocess.run(command, cwd=tmp_path, env=kept | settings, capture_output=True, text=True, timeout=500)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "\nVERIFIED (bundle)\n" in done.stdout
    assert "means: the committed number lies between 1900 and 2008, both included\n" in done.stdout
    assert not (tmp_path / "verifier" / "graph").exists()


@pytest.mark.extended
@pytest.mark.slow
def test_the_commands_of_supply_chain_work(checkout):
    done = [run(command, checkout) for command in commands(EXAMPLES / "supply-chain" / "README.md")]

    assert [finished.returncode for finished in done] == [0] * 6
    assert all(finished.stdout for finished in done)
