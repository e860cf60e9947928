"""Commitments, openings and proofs on the command line: an issuer, a holder, and a verifier elsewhere."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cortex_skills.doors.cli.app import program
from tests.plugin.skills import write_skill


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Separate folders of one user."""
    monkeypatch.setenv("CORTEX_VERIFICATION__REQUIRE_SIGNATURE", "false")
    for name, value in {
        "PROOFS__KEYS": "keys",
        "PROOFS__OPENINGS": "openings",
        "PROOFS__OPENINGS_KEY": "settings/key",
        "STORE": "store",
    }.items():
        monkeypatch.setenv(f"CORTEX_{name}", str(tmp_path / value))


def run(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(program, list(words), input=stdin)


def document(*words: str, stdin: str | None = None) -> Any:
    result = run(*words, "--json", stdin=stdin)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_an_issuer_commits_a_holder_proves_and_a_verifier_checks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed = tmp_path / "opening.json"
    place = ("--subject", "alice", "--predicate", "birthYear")
    made = document("proof", "commit", *place, "--hand-out", str(handed), stdin="1990\n")
    assert document("proof", "openings") == []
    signed = document("proof", "sign", made["tripleHash"])
    assert run("proof", "take", str(handed), "--label", "year").stdout.strip() == made["commitment"]
    assert document("proof", "take", str(handed))["new"] is False
    (info,) = document("proof", "openings")
    assert (info["commitment"], info["label"]) == (made["commitment"], "year")

    skill = write_skill(tmp_path / "kyc", permissions={"proofs": ["request"]}, assertions=[])
    asked = ("proof", "request", "range", "alice", "birthYear", "--minimum", "1900", "--maximum", "2008")
    answered = run(*asked, "--nonce", "n", "--skills", str(skill))
    assert answered.exit_code == 0, answered.stderr
    proof = tmp_path / "proof.json"
    proof.write_text(answered.stdout)
    credential = tmp_path / "credential.json"
    credential.write_text(run("proof", "show", signed["id"]).stdout)

    monkeypatch.setenv("CORTEX_STORE", str(tmp_path / "elsewhere"))
    check = ("proof", "verify", str(proof), "--credential", str(credential))
    unanchored = run(*check)
    assert unanchored.exit_code == 1
    assert "unanchored" in unanchored.stdout
    monkeypatch.setenv("CORTEX_PROOFS__TRUSTED_ISSUERS", signed["issuer"])
    verified = run(*check)
    assert verified.exit_code == 0, verified.stdout
    assert "the committed number lies between 1900 and 2008" in verified.stdout
    assert run("proof", "verify", str(proof)).exit_code == 1
    reported = answered.stdout + answered.stderr + verified.stdout + json.dumps(info)
    assert "1990" not in reported


def test_a_set_and_another_statement(tmp_path: Path) -> None:
    document("proof", "commit", "--text", "--subject", "alice", "--predicate", "lives", stdin="DE")
    skill = write_skill(tmp_path / "kyc", permissions={"proofs": ["request"]}, assertions=[])
    words = ["proof", "request", "membership", "alice", "isVerified", "--object", "true", "--skills", str(skill)]
    answered = document(*words, "--commitment", "alice", "lives", "--member", "AT", "--member", "DE")
    assert answered["status"] == "proved"
    assert answered["proof"]["statement"]["triple"].startswith(
        "<urn:cortex:mayros:alice> <urn:cortex:mayros:isVerified>"
    )
    refused = run(*words, "--commitment", "alice", "lives", "--member", "AT", "--member", "FR")
    assert refused.exit_code == 1
    assert "proof_failed" in refused.stderr


def test_an_opening_is_limited_to_skills_and_can_be_removed(tmp_path: Path) -> None:
    place = ("--subject", "alice", "--predicate", "lives")
    made = document("proof", "commit", "--text", *place, "--for-skill", "vote", stdin="DE")
    assert document("proof", "openings")[0]["skills"] == ["vote"]
    skill = write_skill(tmp_path / "kyc", permissions={"proofs": ["request"]}, assertions=[])
    refused = run("proof", "request", "schnorr", "alice", "lives", "--skills", str(skill))
    assert "for this skill" in refused.stderr
    assert document("proof", "forget", made["commitment"]) == {"forgotten": made["commitment"]}
    assert run("proof", "forget", made["commitment"]).exit_code == 1


@pytest.mark.parametrize(
    ("words", "stdin", "reported"),
    [
        ([], "nineteen", "not an integer"),
        ([], "1.5", "not an integer"),
        ([], "99999999999999999999", "whole number from"),
        (["--text"], "x" * 5000, "text of at most"),
        (["--text"], "x" * 9000, "too long"),
        (["--subject", "alice"], "5", "belong together"),
    ],
)
def test_an_invalid_value_is_refused_and_not_repeated(words: list[str], stdin: str, reported: str) -> None:
    refused = run("proof", "commit", *words, stdin=stdin)
    assert refused.exit_code in (1, 2)
    assert reported in refused.stderr
    assert stdin not in refused.stderr
    assert document("proof", "openings") == []


def test_a_terminal_does_not_show_the_value() -> None:
    controller, terminal = pty.openpty()
    command = [sys.executable, "-m", "cortex_skills", "proof", "commit"]
    running = subprocess.Popen(command, stdin=terminal, stdout=subprocess.PIPE, stderr=terminal, env=os.environ.copy())
    os.close(terminal)
    shown = b""
    try:
        for prompt in (b"value:", b"confirmation"):
            while prompt not in shown:
                shown += os.read(controller, 1024)
            os.write(controller, b"19901990\n")
        out, _ = running.communicate(timeout=100)
    finally:
        running.kill()
        running.communicate()
        os.close(controller)
    assert running.returncode == 0
    assert out.startswith(b"pedersen:")
    assert b"1990" not in shown + out
