"""`proof bundle`, and `proof verify` of a bundle: a whole chain in one file, checked elsewhere with one command.

Rules kept here:
- whom to trust is what the settings say (`proofs.trustedIssuers`) and the trust store of publishers; a bundle names
  nobody to be trusted;
- each link is told with its verdict, what it means and what not, in the order from the issuer to the assertion;
- the first link that does not hold is the error.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.cli.commands import Command
from cortex_skills.cli.options import Common
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cortex_skills.proofs.bundle import Link
    from cortex_skills.proofs.kinds import Asked

STYLES: dict[str, Any] = {"verified": "green", "refuted": "red", "not_evaluated": "yellow"}


@click.command(cls=Command)
@click.argument("triple_id", metavar="HASH")
@click.pass_obj
def bundle(common: Common, triple_id: str) -> None:
    """Put everything into one file that somebody elsewhere needs to check an assertion.

    HASH is what the assertion answered with. In the file are the signed assertion, its zero-knowledge proofs with
    their issuers' credentials, its Proof of Logic with the statements that it rests on, and the skill, whose folder
    --skills names. Look at what it tells before you hand it on. `proof verify` checks it.
    """
    from cortex_skills.proofs.bundle import make_bundle
    from cortex_skills.reading import skill_folders

    if not common.skills:
        raise click.UsageError("no skill is named: give its folder with --skills FOLDER")
    folders = [folder for path in common.skills for folder in skill_folders(path)]
    with common.plugin() as plugin:
        document = make_bundle(plugin.graph, triple_id, folders)
    common.out.answer(document, lambda: common.out.line(json.dumps(document)))


def verify_bundle(common: Common, content: str, asked: Asked, required: Sequence[str]) -> None:
    """Check a bundle and show it, link by link.

    Args:
        common: the options of all commands.
        content: the file's.
        asked: what it is checked against.
        required: what has to be proved, as `read_requirement` takes it.

    Raises:
        CortexError: `proof_failed`: it is not verified; `invalid_arguments`; `config_invalid`.

    """
    from cortex_skills.proofs.bundle import Trusted, check_bundle, read_bundle, read_requirement
    from cortex_skills.proofs.bundle.links import broken
    from cortex_skills.proofs.verdict import Verdict
    from cortex_skills.signatures import Verifier

    settings = asked.config
    publishers = Verifier.of(settings).trust.trust()
    trusted = Trusted(frozenset(settings.proofs.trusted_issuers), publishers)
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
        message = f"the chain breaks at {bad.name} ({bad.about}): {bad.why()}"
        raise CortexError("proof_failed", message, hint="believe nothing of it; the links above say what holds")


def _show(common: Common, verdict: str, statement: str, links: Sequence[Link]) -> None:
    common.out.line((verdict.replace("_", " ").upper(), STYLES[verdict]), " (bundle)")
    common.out.line(f"  {statement}")
    for link in links:
        common.out.line(_told(link.verdict.value), f" {link.name}: {link.about}")
        for check in link.checks:
            common.out.line("      ", _told(check.verdict.value), f" {check.part}")
            for reason in check.reasons:
                common.out.line(f"          because: {reason}")
            common.out.line(f"          means: {check.establishes}")
            common.out.line(f"          does not mean: {check.does_not_establish}")


def _told(verdict: str) -> tuple[str, Any]:
    return verdict.replace("_", " "), STYLES[verdict]
