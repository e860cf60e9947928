"""`proof commit`, `take`, `openings`, `forget` and `request`: commitments, what opens them, and proofs about them.

Rules kept here:
- a value to commit to is asked for on a terminal without being shown, or read from standard input: a command line is
  seen by every process, and kept by shells;
- no command writes a value or a blinding, but into a file that is handed out to the holder;
- a proof is asked for through the gate, on behalf of a skill, like everywhere else.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.cli.call import read_value
from cortex_skills.cli.commands import Command
from cortex_skills.cli.options import SKILL, Choice, Common
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_skills.proofs.zk import Opening
    from cortex_skills.proofs.zk.openings import OpeningStore

_LABEL = click.option("--label", metavar="TEXT", default="", help="What you call it; sealed as well.")
_FOR = click.option(
    "--for-skill",
    "for_skills",
    metavar="NAME",
    multiple=True,
    help="A skill that proofs may be made for [all]. Repeatable.",
)
_MAX_BYTES = 8192


@click.command(cls=Command)
@click.option("--text", "is_text", is_flag=True, help="Take the value as a text, not as a whole number.")
@click.option("--hand-out", metavar="FILE", type=click.Path(path_type=Path), help="Write the opening for its holder.")
@click.option("--subject", metavar="NAME", help="Write the commitment into the graph: of what it is a value …")
@click.option("--predicate", metavar="NAME", help="… and which.")
@_LABEL
@_FOR
@click.pass_obj
def commit(
    common: Common,
    is_text: bool,
    hand_out: Path | None,
    subject: str | None,
    predicate: str | None,
    label: str,
    for_skills: tuple[str, ...],
) -> None:
    """Commit to a value, which is asked for or read from standard input.

    The commitment is written out. What opens it is sealed in your store, or with --hand-out written into a file, for
    the holder to `take`. With --subject and --predicate the commitment becomes a statement of the namespace, which
    `proof sign` signs.
    """
    from cortex_skills.proofs.zk import NotCanonicalError, Opening
    from cortex_skills.proofs.zk.handing import hand_out as write_out

    if (subject is None) != (predicate is None):
        raise click.UsageError("--subject and --predicate go together")
    given = _value()
    try:
        opening = Opening(given if is_text else int(given))
    except NotCanonicalError as error:
        raise CortexError("invalid_arguments", str(error), hint="say --text for a text") from None
    except ValueError:
        hint = "say --text for a text"
        raise CortexError("invalid_arguments", "the value is no whole number", hint=hint) from None
    if hand_out is not None:
        write_out(opening, hand_out)
    else:
        _store(common).add(opening, label=label, skills=for_skills)
    document: dict[str, Any] = {"commitment": opening.commitment}
    if subject is not None:
        with common.plugin() as plugin:
            triple = {"subject": subject, "predicate": predicate, "object": opening.commitment}
            document["tripleHash"] = plugin.graph.create_triple(triple)["id"]
    common.out.answer(document, lambda: common.out.line(document.get("tripleHash", opening.commitment)))


@click.command(cls=Command)
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_LABEL
@_FOR
@click.pass_obj
def take(common: Common, file: Path, label: str, for_skills: tuple[str, ...]) -> None:
    """Take in the opening that an issuer handed out, and seal it. Remove the file then."""
    from cortex_skills.proofs.zk.handing import take_in

    opening: Opening = take_in(file)
    is_new = _store(common).add(opening, label=label, skills=for_skills)
    common.out.answer({"commitment": opening.commitment, "new": is_new}, lambda: common.out.line(opening.commitment))
    if not common.out.as_json:
        common.out.note(f"it is sealed: remove {file}" if is_new else "it was there already, and stays as it was")


@click.command(cls=Command)
@click.pass_obj
def openings(common: Common) -> None:
    """List the commitments that can be opened here, without what they open to."""
    infos = _store(common).infos()
    rows = [(info.commitment, info.label, ", ".join(info.skills) or "all", info.added) for info in infos]
    columns = ("commitment", "label", "for", "added")
    common.out.answer([info.to_json() for info in infos], lambda: common.out.table(columns, rows))


@click.command(cls=Command)
@click.argument("commitment", metavar="COMMITMENT")
@click.pass_obj
def forget(common: Common, commitment: str) -> None:
    """Forget what opens a commitment: nothing can be proved about it any more."""
    if not _store(common).remove(commitment):
        hint = "`cortex-skills proof openings` lists those that there are"
        raise CortexError("invalid_arguments", "no opening of this commitment is here", hint=hint)
    common.out.answer({"forgotten": commitment}, lambda: common.out.line(f"{commitment} is forgotten"))


@click.command(cls=Command)
@click.argument("proof_type", metavar="TYPE", type=Choice(["schnorr", "equality", "membership", "range"]))
@click.argument("subject")
@click.argument("predicate")
@click.option("--object", "object_", metavar="VALUE", help="Of the statement that the proof is for.")
@click.option("--commitment", nargs=2, metavar="SUBJECT PREDICATE", help="Where the commitment stands [as above].")
@click.option("--equal-to", nargs=2, metavar="SUBJECT PREDICATE", help="Where the other one stands (equality).")
@click.option("--public-key", "publicKey", metavar="DID", help="A key of yours, not a commitment (schnorr).")
@click.option("--member", "members", metavar="VALUE", multiple=True, help="One of the set (membership). Repeatable.")
@click.option("--minimum", metavar="N", help="The least (range).")
@click.option("--maximum", metavar="N", help="The most (range).")
@click.option("--nonce", metavar="TEXT", help="What the verifier asked to be bound in.")
@click.option("--expires", metavar="TIME", help="Until when, such as 2030-01-31T12:00:00Z [for a day].")
@SKILL
@click.pass_obj
def request(
    common: Common,
    /,
    object_: str | None,
    commitment: tuple[str, str] | None,
    equal_to: tuple[str, str] | None,
    members: tuple[str, ...],
    skill: str | None,
    **given: Any,
) -> None:
    """Prove something of a committed value, in zero knowledge, for the statement SUBJECT PREDICATE.

    The proof is written as a file that `proof verify` takes, here or elsewhere; with --json with the credentials of its
    commitments. The same as `call skill_request_zk_proof`. The skills to load are named by --skills.
    """
    given["proofType"] = given.pop("proof_type")
    asked = {key: value for key, value in given.items() if value is not None}
    if object_ is not None:
        asked["object"] = read_value(object_)
    for key, place in (("commitment", commitment), ("equalTo", equal_to)):
        if place:
            asked[key] = {"subject": place[0], "predicate": place[1]}
    if members:
        asked["members"] = [read_value(member) for member in members]
    with common.loaded() as plugin:
        result = plugin.call("skill_request_zk_proof", asked, skill=skill)
    if result.is_error:
        error = result.details
        raise CortexError(error["code"], error["message"], hint=error["hint"], details=error["details"])
    common.out.answer(result.details, lambda: common.out.line(json.dumps(result.details["proof"])))


def _store(common: Common) -> OpeningStore:
    from cortex_skills.proofs.zk.service import openings_of

    return openings_of(common.settings())


def _value() -> str:
    """The value, unseen."""
    if sys.stdin.isatty():
        return str(click.prompt("value", hide_input=True, confirmation_prompt=True, err=True))
    try:
        text = sys.stdin.buffer.read(_MAX_BYTES + 1).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise click.UsageError("the value on standard input is not UTF-8") from None
    if len(text) > _MAX_BYTES:
        raise click.UsageError("the value on standard input is too long")
    return text.removesuffix("\n").removesuffix("\r")
