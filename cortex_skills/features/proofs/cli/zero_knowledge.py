"""`proof commit`, `take`, `openings`, `forget` and `request`: commitments, their openings, and proofs about them.

Rules kept here:
- a value is read from a hidden prompt or from standard input: a command line is visible to every process, and shells
  store it;
- no command writes a value or a blinding, except into the file that is given to the holder;
- a proof is requested through the gate, on behalf of a skill.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from cortex_skills.doors.cli.call import read_value
from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import SKILL, Choice, Common
from cortex_skills.doors.cli.path_types import GivenPath
from cortex_skills.doors.cli.standard_input import is_interactive, standard_input
from cortex_skills.errors import CortexError

_LABEL = click.option("--label", metavar="TEXT", default="", help="A label, which is sealed with the opening.")
_FOR = click.option(
    "--for-skill",
    "for_skills",
    metavar="NAME",
    multiple=True,
    help="A skill that may prove statements about the value [all]. Repeatable.",
)
_MAX_BYTES = 8192


@click.command(cls=Command)
@click.option("--text", "is_text", is_flag=True, help="The value is a text, not an integer.")
@click.option(
    "--hand-out", metavar="FILE", type=GivenPath(path_type=Path), help="Write the opening to a file for its holder."
)
@click.option("--subject", metavar="NAME", help="Also assert the commitment: the subject …")
@click.option("--predicate", metavar="NAME", help="… and the predicate.")
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
    """Commit to a value, from a prompt or from standard input.

    Prints the commitment. Its opening is sealed in your opening store, or with --hand-out written to a file, for the
    holder to `take`. With --subject and --predicate the commitment becomes a statement of the namespace, which
    `proof sign` signs.
    """
    from cortex_skills.features.proofs import opening_operations
    from cortex_skills.operations.operation import all_operations

    if (subject is None) != (predicate is None):
        raise click.UsageError("--subject and --predicate belong together")
    commitment = common.operate(
        opening_operations.commit, value=_value(), is_text=is_text, hand_out=hand_out, label=label, skills=for_skills
    )
    document: dict[str, Any] = {"commitment": commitment}
    if subject is not None:
        triple = {"subject": subject, "predicate": predicate, "object": commitment}
        with common.plugin() as plugin:
            (row,) = plugin.operate(all_operations()["graph.assert"], door="command", statements=[triple])
        document["tripleHash"] = row["id"]
    common.out.answer(document, lambda: common.out.line(document.get("tripleHash", commitment)))


@click.command(cls=Command)
@click.argument("file", metavar="FILE", type=GivenPath(exists=True, dir_okay=False, path_type=Path))
@_LABEL
@_FOR
@click.pass_obj
def take(common: Common, file: Path, label: str, for_skills: tuple[str, ...]) -> None:
    """Import the opening that an issuer handed out, and seal it. Delete the file afterwards."""
    from cortex_skills.features.proofs import opening_operations

    taken = common.operate(opening_operations.take, file=file, label=label, skills=for_skills)
    common.out.answer(taken, lambda: common.out.line(taken["commitment"]))
    if not common.out.as_json:
        common.out.note(
            f"the opening is sealed: delete {file}"
            if taken["new"]
            else "the opening was stored already, and is unchanged"
        )


@click.command(cls=Command)
@click.pass_obj
def openings(common: Common) -> None:
    """List the commitments with a stored opening, without their values."""
    from cortex_skills.features.proofs.opening_operations import list_openings

    found = common.operate(list_openings)
    rows = [(each.commitment, each.label, ", ".join(each.skills) or "all", each.added) for each in found]
    columns = ("commitment", "label", "for", "added")
    common.out.answer(list_openings.to_json(found), lambda: common.out.table(columns, rows))


@click.command(cls=Command)
@click.argument("commitment", metavar="COMMITMENT")
@click.pass_obj
def forget(common: Common, commitment: str) -> None:
    """Delete the opening of a commitment: nothing can be proved about it afterwards."""
    from cortex_skills.features.proofs import opening_operations

    common.operate(opening_operations.forget, commitment=commitment)
    common.out.answer({"forgotten": commitment}, lambda: common.out.line(f"{commitment} is forgotten"))


@click.command(cls=Command)
@click.argument("proof_type", metavar="TYPE", type=Choice(["schnorr", "equality", "membership", "range"]))
@click.argument("subject")
@click.argument("predicate")
@click.option("--object", "object_", metavar="VALUE", help="The object of the statement.")
@click.option(
    "--commitment", nargs=2, metavar="SUBJECT PREDICATE", help="The statement with the commitment [SUBJECT PREDICATE]."
)
@click.option(
    "--equal-to", nargs=2, metavar="SUBJECT PREDICATE", help="The statement with the second commitment (equality)."
)
@click.option("--public-key", "publicKey", metavar="DID", help="One of your keys, instead of a commitment (schnorr).")
@click.option(
    "--member", "members", metavar="VALUE", multiple=True, help="An element of the set (membership). Repeatable."
)
@click.option("--minimum", metavar="N", help="The minimum (range).")
@click.option("--maximum", metavar="N", help="The maximum (range).")
@click.option("--nonce", metavar="TEXT", help="The nonce of the verifier.")
@click.option("--expires", metavar="TIME", help="When the proof expires, such as 2030-01-31T12:00:00Z [in one day].")
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
    """Prove a property of a committed value in zero knowledge, for the statement SUBJECT PREDICATE.

    Prints the proof in the format that `proof verify` reads; with --json also the credentials of its commitments. The
    same as `call skill_request_zk_proof`. --skills names the skills to load.
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
        result = common.call(plugin, "skill_request_zk_proof", asked, skill)
    if result.is_error:
        error = result.details
        raise CortexError(error["code"], error["message"], hint=error["hint"], details=error["details"])
    common.out.answer(result.details, lambda: common.out.line(json.dumps(result.details["proof"])))


def _value() -> str:
    """The value, from a hidden prompt or from standard input."""
    if is_interactive():
        return str(click.prompt("value", hide_input=True, confirmation_prompt=True, err=True))
    try:
        text = standard_input().read(_MAX_BYTES + 1).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise click.UsageError("the value on standard input is not UTF-8") from None
    if len(text) > _MAX_BYTES:
        raise click.UsageError("the value on standard input is too long")
    return text.removesuffix("\n").removesuffix("\r")
