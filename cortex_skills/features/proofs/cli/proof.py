"""`proof show`, `proof verify` and `proof sign`. Bundles: see `cli.bundle`.

Rules kept here:
- nothing is decided here: each proof kind has its own module, whose checks are shown unchanged;
- a proof in a file is verified with the file alone; only a Proof of Logic is verified against the graph, which it is
  about;
- the exit code of `verify` is 0 only when every part is verified.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.doors.cli.commands import Command, Group
from cortex_skills.doors.cli.options import Common
from cortex_skills.doors.cli.path_types import GivenPath, PathOrName
from cortex_skills.doors.cli.standard_input import standard_input
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.cli.bundle import bundle, verify_bundle
from cortex_skills.features.proofs.cli.zero_knowledge import commit, forget, openings, request, take

if TYPE_CHECKING:
    from cortex_skills.features.proofs.kinds import CheckContext, ProofKind
    from cortex_skills.features.proofs.verdict import Check

_MAX_BYTES = 4 << 20
_FILE = GivenPath(exists=True, dir_okay=False, path_type=Path)


@click.command(cls=Command)
@click.argument("proof_id", metavar="ID")
@click.pass_obj
def show(common: Common, proof_id: str) -> None:
    """Print a proof of the namespace, in the format that `proof verify` reads.

    ID is shown by `graph show` and returned by an assertion with a proof; its first digits are enough. --json adds the
    kind of the proof, its time, the statements that it proves, and its premises.
    """
    import json

    from cortex_skills.features.proofs.proof_operations import show as show_proof

    with common.plugin(reads=True) as plugin:
        proof = plugin.operate(show_proof, door="command", proof=proof_id)
    document = {
        "id": proof.id,
        "kind": proof.kind,
        "time": proof.time,
        "proves": list(proof.proves),
        "premises": list(proof.premises),
        "proof": json.loads(proof.content),
    }
    common.out.answer(document, lambda: common.out.line(proof.content))


@click.command(cls=Command)
@click.argument("what", metavar="FILE|ID", type=PathOrName())
@click.option("--replay/--no-replay", default=True, help="Evaluate the rules of a Proof of Logic again [default].")
@click.option(
    "--credential",
    "credentials",
    metavar="FILE",
    type=_FILE,
    multiple=True,
    help="A credential that signs a commitment of a zero-knowledge proof. Repeatable.",
)
@click.option("--nonce", metavar="TEXT", help="The nonce that a zero-knowledge proof must be bound to.")
@click.option(
    "--require",
    "required",
    metavar="WHAT",
    multiple=True,
    help="What a bundle must prove: birthYear=1900..2008, or residence=BE,DE,NL. Repeatable.",
)
@click.pass_obj
def verify(
    common: Common,
    what: str,
    replay: bool,
    credentials: tuple[Path, ...],
    nonce: str | None,
    required: tuple[str, ...],
) -> None:
    """Verify a proof, and show for each part its verdict and what it establishes.

    FILE is a bundle, a verifiable credential, a Proof of Logic or a zero-knowledge proof, - is standard input; ID is a
    proof of the namespace. A bundle is verified without the graph; trusted issuers are in the settings
    (proofs.trustedIssuers), trusted publishers in `trust list`.
    """
    from datetime import UTC, datetime

    from cortex_skills.features.proofs import proof_operations as proofs
    from cortex_skills.features.proofs.bundle import is_bundle
    from cortex_skills.features.proofs.kinds import CheckContext, kind_of
    from cortex_skills.features.proofs.verdict import Verdict

    shown = tuple(map(_content, credentials))
    asked = CheckContext(datetime.now(UTC), common.settings(), replay=replay, credentials=shown, nonce=nonce)
    content = _content(None if what == "-" else Path(what)) if what == "-" or Path(what).exists() else None
    if content is not None and is_bundle(content):
        verify_bundle(common, content, asked, required)
        return
    if required:
        raise click.UsageError("--require needs the file of a bundle")
    if content is not None:
        kind = kind_of(content)
        if kind is None:
            hint = "a verifiable credential, a Proof of Logic, or a zero-knowledge proof"
            raise CortexError("invalid_arguments", "this is not a proof of a known kind", hint=hint)
        kind_name, checks = kind.name, _check_file(common, kind, content, asked)
    else:
        with common.plugin(reads=True) as plugin:
            given: dict[str, Any] = {"replay": replay, "credentials": shown, "nonce": nonce}
            (found,) = plugin.operate(proofs.verify, door="command", proofs=[what], **given)
            if found is None:
                raise proofs.no_such_proof(plugin.graph, what)
            kind_name, checks = found.proof.kind, list(found.checks)
    verdict = Verdict.of_all(check.verdict for check in checks)
    document = {"verdict": verdict.value, "kind": kind_name, "checks": [check.to_json() for check in checks]}
    common.out.answer(document, lambda: _show(common, verdict.value, kind_name, checks))
    if verdict is not Verdict.VERIFIED:
        bad = [check.part for check in checks if check.verdict is not Verdict.VERIFIED]
        raise CortexError(
            "proof_failed",
            f"the proof is not verified ({verdict.value}): {', '.join(bad)}",
            hint="the checks above give the reasons",
        )


@click.command(cls=Command)
@click.argument("triple_id", metavar="HASH")
@click.option("--key", metavar="NAME", help="The key to sign with (`key list`) [proofs.key of the configuration].")
@click.pass_obj
def sign(common: Common, triple_id: str, key: str | None) -> None:
    """Sign an assertion as a verifiable credential, and store the credential with it.

    HASH is the hash that the assertion returned, or its first digits. `proof show` prints the credential; any
    conforming verifier can check it.
    """
    from cortex_skills.features.proofs.proof_operations import sign as sign_assertion

    with common.plugin(reads=True) as plugin:  # what is signed exists already
        proof, issuer = plugin.operate(sign_assertion, door="command", assertion=triple_id, key=key)
    document = {"id": proof.id, "kind": proof.kind, "issuer": issuer, "tripleHash": proof.proves[0]}
    common.out.answer(document, lambda: common.out.line(proof.id))


def _content(path: Path | None) -> str:
    """The content of a file or of standard input."""
    try:
        if path is None:
            data = standard_input().read(_MAX_BYTES + 1)
        else:
            with path.open("rb") as file:
                data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise CortexError("invalid_arguments", "this is not a proof: it is larger than 4 MiB")
        return data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CortexError("invalid_arguments", f"{path or 'standard input'} cannot be read: {error}") from error


def _check_file(common: Common, kind: ProofKind, content: str, asked: CheckContext) -> list[Check]:
    from dataclasses import replace

    from cortex_skills.features.proofs.kinds import check_proof

    if not kind.reads_graph:
        return check_proof(kind.name, content, asked)
    with common.plugin(reads=True) as plugin:
        return check_proof(kind.name, content, replace(asked, graph=plugin.graph))


def _show(common: Common, verdict: str, kind: str, checks: list[Check]) -> None:
    common.out.line((verdict.upper(), _STYLES[verdict]), f" ({kind})")
    for check in checks:
        common.out.line("  ", (check.verdict.value, _STYLES[check.verdict.value]), f" {check.part}")
        for reason in check.reasons:
            common.out.line(f"      because: {reason}")
        common.out.line(f"      means: {check.establishes}")
        common.out.line(f"      does not mean: {check.does_not_establish}")


_STYLES: dict[str, Any] = {"verified": "green", "well-formed": "yellow", "not checked": "yellow", "refuted": "red"}

proof = Group(
    "proof",
    help="Show, verify and sign proofs; commit to values, and prove statements about them in zero knowledge.",
    sections={"Commands": [verify, show, sign, bundle], "Zero knowledge": [request, commit, take, openings, forget]},
)
