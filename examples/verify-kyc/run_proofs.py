"""A chain of proofs from an issuer to a verifier that has no access to the holder or her graph.

An office (the issuer) signs commitments to the birth year and the country of residence of Alice (the holder). She
proves to a skill that she is of age and lives in one of three countries, without showing either. The skill asserts that
she is verified. A shop (the verifier) checks the whole chain with one command; then each link is broken in turn.

    python examples/verify-kyc/run_proofs.py [FOLDER]

Rules kept here:
- each party has a folder with its own keys, settings and graph. The parties exchange only files;
- a party only runs the command line, here in one process: README.md lists the same steps as shell commands;
- each link is broken in the file for the verifier, and the verifier is the real one.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from cortex_skills.doors.cli.app import program

SKILL = Path(__file__).parent
PUBLISHER = "kyc.example"
NONCE = "shop, order 4711"
REQUIRED = ("--require", "birthYear=1900..2008", "--require", "residence=BE,DE,NL")
ALICE = "customer:alice"

Bundle = dict[str, Any]
Break = Callable[[Bundle], None]


@dataclass(frozen=True)
class Party:
    """A party with its own folder."""

    folder: Path

    def try_to(self, *words: str, stdin: str | None = None, **settings: str) -> Result:
        """Run a command in this party's home."""
        self.folder.mkdir(parents=True, exist_ok=True)
        home = {"XDG_DATA_HOME": self.folder / "data", "XDG_CONFIG_HOME": self.folder / "config"}
        env = {name: str(path) for name, path in home.items()} | {"CORTEX_STORE": str(self.folder / "graph")} | settings
        return CliRunner(env=env).invoke(program, list(words), input=stdin)

    def run(self, *words: str, stdin: str | None = None, **settings: str) -> str:
        """Run a command that must succeed; returns its output."""
        done = self.try_to(*words, stdin=stdin, **settings)
        if done.exit_code:
            raise SystemExit(f"{self.folder.name}: cortex-skills {' '.join(words)}\n{done.stdout}{done.stderr}")
        return done.stdout.strip()

    def did(self, key: str) -> str:
        """The public part of a key, which the party gives to others over a channel that they trust."""
        return self.run("key", "export", key)


@dataclass(frozen=True)
class World:
    """The four parties."""

    issuer: Party
    publisher: Party
    holder: Party
    verifier: Party

    @classmethod
    def at(cls, folder: Path) -> World:
        """The parties in a folder."""
        return cls(*(Party(folder / name) for name in ("issuer", "publisher", "holder", "verifier")))

    def verify(self, bundle: Path, *more: str) -> Result:
        """Verify a bundle with one command."""
        trusted = self.issuer.did("office")
        words = ("proof", "verify", str(bundle), "--nonce", NONCE, *REQUIRED, *more)
        return self.verifier.try_to(*words, CORTEX_PROOFS__TRUSTED_ISSUERS=trusted)


def commit(issuer: Party) -> Path:
    """The issuer commits to two values, signs the commitments, and exports them."""
    issuer.run("key", "create", "office")
    for predicate, value, text in (("birthYear", "1990", ()), ("residence", "NL", ("--text",))):
        opening = str(issuer.folder / f"{predicate}.opening")
        place = ("--subject", ALICE, "--predicate", predicate, "--hand-out", opening)
        triple = issuer.run("proof", "commit", *text, *place, stdin=value)
        issuer.run("proof", "sign", triple, "--key", "office")
    signed = issuer.folder / "alice.nq"
    issuer.run("graph", "export", str(signed), "--with-provenance")
    return signed


def publish(publisher: Party) -> Path:
    """The publisher signs the skill."""
    folder = publisher.folder / "verify-kyc"
    folder.mkdir(parents=True)
    for name in ("SKILL.md", "skill.ts", "shapes.ttl"):
        shutil.copy(SKILL / name, folder)
    publisher.run("key", "create", "releases")
    publisher.run("sign", str(folder), "--key", "releases", "--publisher", PUBLISHER)
    return folder


def receive(world: World, signed: Path) -> None:
    """The holder imports the statements and openings of the issuer, and trusts the publisher of the skill."""
    holder = world.holder
    holder.run("graph", "import", str(signed), "--with-provenance")
    for predicate in ("birthYear", "residence"):
        opening = world.issuer.folder / f"{predicate}.opening"
        holder.run("proof", "take", str(opening), "--label", predicate, "--for-skill", "verify-kyc")
        opening.unlink()
    holder.run("trust", "add", PUBLISHER, world.publisher.did("releases"))


def prove(holder: Party, skill: Path) -> list[str]:
    """The holder proves to the skill that she is of age, and lives in one of three countries; returns the proofs."""
    proofs = []
    for kind, predicate, wanted in (
        ("range", "birthYear", ("--minimum", "1900", "--maximum", "2008")),
        ("membership", "residence", ("--member", "BE", "--member", "DE", "--member", "NL")),
    ):
        of = ("--object", "true", "--commitment", ALICE, predicate, "--nonce", NONCE)
        proofs.append(holder.run("proof", "request", kind, ALICE, "isVerified", *wanted, *of, "--skills", str(skill)))
    return proofs


def approve(world: World, skill: Path, proofs: list[str]) -> None:
    """The skill verifies the proofs; Alice is approved if they are valid and their issuer is trusted."""
    trusted = world.issuer.did("office")
    for proof in proofs:
        asked = json.dumps({"proof": json.loads(proof), "nonce": NONCE})
        words = ("call", "skill_verify_zk_proof", "-", "--skills", str(skill), "--json")
        answer = world.holder.run(*words, stdin=asked, CORTEX_PROOFS__TRUSTED_ISSUERS=trusted)
        if json.loads(answer)["details"]["verdict"] != "verified":
            raise SystemExit(f"Alice is not approved: {answer}")
    approved = '<urn:cortex:mayros:customer:alice> <urn:cortex:mayros:hasStatus> "approved" .'
    world.holder.run("graph", "import", "-", "--format", "n-triples", stdin=approved)


def assert_it(holder: Party, skill: Path) -> str:
    """The skill asserts that Alice is verified, if its rules allow it, and the holder's host signs that."""
    what = (f"subject={ALICE}", "predicate=isVerified", "object=true")
    words = [word for each in what for word in ("--arg", each)]
    asserted = json.loads(holder.run("call", "skill_assert", *words, "--skills", str(skill), "--json"))
    triple: str = asserted["details"]["tripleHash"]
    holder.run("proof", "sign", triple)
    return triple


def hand_on(holder: Party, triple: str, skill: Path, name: str = "bundle.json") -> Path:
    """Write everything that the verifier needs to one file."""
    bundle = holder.folder / name
    bundle.write_text(holder.run("proof", "bundle", triple, "--skills", str(skill)), encoding="utf-8")
    return bundle


def change_file(bundle: Bundle, path: str = "skill.ts") -> None:
    """Change a file of the skill."""
    files = bundle["skill"]["files"]
    files[path] = b64encode(b64decode(files[path]) + b"\n").decode()


def change_credential(bundle: Bundle) -> None:
    """Change the issuer's credential."""
    bundle["credentials"][0]["validFrom"] = "2020-01-01T00:00:00.000Z"


def leave_out_credential(bundle: Bundle) -> None:
    """Remove the credential of the commitment to the birth year."""
    del bundle["credentials"][0]


def change_commitment(bundle: Bundle) -> None:
    """Swap the commitment of a proof."""
    first, second = (proof["claim"]["commitment"] for proof in bundle["proofs"])
    first["commitment"] = second["commitment"]


def change_proof(bundle: Bundle) -> None:
    """Change one letter of a proof."""
    value = bundle["proofs"][0]["proofValue"]
    bundle["proofs"][0]["proofValue"] = value[:100] + ("A" if value[100] != "A" else "B") + value[101:]


def change_logic(bundle: Bundle) -> None:
    """Change the number of applied rules."""
    bundle["logic"]["rules"][1]["applied"] += 1


def withdraw(bundle: Bundle) -> None:
    """Remove a premise: that Alice is approved."""
    bundle["premises"] = [line for line in bundle["premises"] if "hasStatus" not in line]


def change_assertion(bundle: Bundle) -> None:
    """Change the subject of the assertion."""
    bundle["assertion"]["credentialSubject"]["id"] = "urn:cortex:mayros:customer:mallory"


BREAKS: dict[str, Break] = {
    "the issuer's credential is changed": change_credential,
    "the credential of a commitment is left out": leave_out_credential,
    "the commitment of a proof is swapped": change_commitment,
    "a letter of a proof is changed": change_proof,
    "a file of the skill is changed": change_file,
    "the Proof of Logic is changed": change_logic,
    "a premise is withdrawn": withdraw,
    "the assertion is changed": change_assertion,
}


def broken(bundle: Path, change: Break) -> Path:
    """A bundle with one link broken."""
    document = json.loads(bundle.read_text(encoding="utf-8"))
    change(document)
    path = bundle.with_name("broken.json")
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def run(folder: Path, say: Callable[[str], None] = print) -> None:
    """Run the whole example."""
    world = World.at(folder)
    say("1. The issuer commits to Alice's birth year and country, and signs the commitments.")
    signed = commit(world.issuer)
    say("2. The publisher signs the skill verify-kyc.")
    skill = publish(world.publisher)
    say("3. Alice imports the openings, and proves to the skill that she is of age and lives in BE, DE or NL.")
    receive(world, signed)
    proofs = prove(world.holder, skill)
    say(
        "4. The skill verifies that, and asserts that she is verified, by its rules. Everything is written to one file."
    )
    approve(world, skill, proofs)
    bundle = hand_on(world.holder, assert_it(world.holder, skill), skill)
    say(f"   {bundle} ({bundle.stat().st_size >> 10} KiB)")
    world.verifier.run("trust", "add", PUBLISHER, world.publisher.did("releases"))
    say("5. A verifier elsewhere, who has that file and trusts the issuer and the publisher:\n")
    done = world.verify(bundle)
    say(done.stdout)
    if done.exit_code:
        raise SystemExit(done.stderr)
    say("6. Each link broken in turn:")
    for name, change in BREAKS.items():
        refused = world.verify(broken(bundle, change))
        if refused.exit_code != 1:
            raise SystemExit(f"{name}: this should have been refused\n{refused.stdout}")
        say(f"   {name}:\n      {refused.stderr.splitlines()[0]}")


def main() -> None:
    """Run the example in the given folder, or in a temporary one."""
    if len(sys.argv) > 1:
        run(Path(sys.argv[1]).resolve())
        return
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder))


if __name__ == "__main__":
    main()
