"""`proof bundle`, and `proof verify` of a bundle: a chain of evidence in one file, verified with one command.

Rules kept here:
- trusted issuers come from the settings (`proofs.trustedIssuers`) and trusted publishers from the trust store, never
  from the bundle;
- each link is shown with its verdict, what it establishes and what it does not, from the issuer to the assertion;
- the error names the first link that does not hold.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Common
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.proof_settings import ProofSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cortex_skills.features.proofs.bundle import Link
    from cortex_skills.features.proofs.kinds import CheckContext

STYLES: dict[str, Any] = {"verified": "green", "well-formed": "yellow", "not checked": "yellow", "refuted": "red"}


@click.command(cls=Command)
@click.argument("triple_id", metavar="HASH")
@click.pass_obj
def bundle(common: Common, triple_id: str) -> None:
    """Write one file with everything that a verifier needs to check an assertion.

    HASH is the hash that the assertion returned, or its first digits. The file contains the signed assertion, its
    zero-knowledge proofs with the credentials of their issuers, its Proof of Logic with its premises, and the files of
    the skill, whose folder --skills names. Review what the file discloses before you share it. `proof verify` checks
    it.
    """
    from cortex_skills.features.proofs.proof_operations import Folders
    from cortex_skills.features.proofs.proof_operations import bundle as make_bundle
    from cortex_skills.skill_folder.snapshot import skill_folders

    if not common.skills:
        raise click.UsageError("no skill was given: name its folder with --skills FOLDER")
    folders = Folders(folder for path in common.skills for folder in skill_folders(path))
    with common.plugin(reads=True) as plugin:
        document = plugin.operate(make_bundle, door="command", assertion=triple_id, folders=folders)
    common.out.answer(document, lambda: common.out.line(json.dumps(document)))


def verify_bundle(common: Common, content: str, asked: CheckContext, required: Sequence[str]) -> None:
    """Verify a bundle and show the result link by link.

    Args:
        common: the common options.
        content: of the file.
        asked: the options of the verification.
        required: what must be proved, in the syntax of `read_requirement`.

    Raises:
        CortexError: `proof_failed`: a link is not verified; `invalid_arguments`; `config_invalid`.
    """
    from cortex_skills.features.proofs.bundle import Trusted, check_bundle, read_bundle, read_requirement
    from cortex_skills.features.proofs.bundle.links import broken
    from cortex_skills.features.proofs.verdict import Verdict
    from cortex_skills.signatures import Verifier

    settings = asked.config
    publishers = Verifier.of(settings).trust.trust()
    trusted = Trusted(frozenset(settings.section(ProofSettings).trusted_issuers), publishers)
    read = read_bundle(content)
    links = check_bundle(read, trusted, asked, [read_requirement(text) for text in required])
    verdict = Verdict.of_all(link.verdict for link in links)
    document = {
        "verdict": verdict.value,
        "kind": "bundle",
        "statement": str(read.statement),
        "links": [link.to_json() for link in links],
    }
    common.out.answer(document, lambda: _show(common, verdict.value, str(read.statement.triple), links))
    bad = broken(links)
    if bad is not None:
        place, hint = (
            f"{bad.name} ({bad.about}): {bad.why()}",
            "do not rely on the bundle; the links above show what holds",
        )
        if verdict is Verdict.REFUTED:
            raise CortexError("proof_failed", f"the chain breaks at {place}", hint=hint)
        hint = "nothing is refuted; state whom you trust (`trust add`, proofs.trustedIssuers) and verify again"
        raise CortexError("proof_failed", f"the chain is not fully verified, at {place}", hint=hint)


def _show(common: Common, verdict: str, statement: str, links: Sequence[Link]) -> None:
    common.out.line((verdict.upper(), STYLES[verdict]), " (bundle)")
    common.out.line(f"  {statement}")
    for link in links:
        common.out.line(_styled(link.verdict.value), f" {link.name}: {link.about}")
        for check in link.checks:
            common.out.line("      ", _styled(check.verdict.value), f" {check.part}")
            for reason in check.reasons:
                common.out.line(f"          because: {reason}")
            common.out.line(f"          means: {check.establishes}")
            common.out.line(f"          does not mean: {check.does_not_establish}")


def _styled(verdict: str) -> tuple[str, Any]:
    return verdict, STYLES[verdict]
