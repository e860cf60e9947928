"""Commitments and their openings: made, taken from an issuer, listed and forgotten.

Rules kept here:
- they are the owner's: no token can make, list or forget them; who proves something about a value asks with
  `proofs.request`;
- no answer and no record has a value or a blinding; an opening that is handed out is in the file only.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from annotated_types import MaxLen
from typing_extensions import TypedDict

from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.zk.openings import OpeningInfo, OpeningStore
from cortex_skills.operations.caller import OWNER
from cortex_skills.operations.operation import AS_IS, ObjectState, OperationCall, operation

_Label = Annotated[str, MaxLen(256)]


def _store(call: OperationCall) -> OpeningStore:
    from cortex_skills.features.proofs.zk.service import openings_of

    return openings_of(call.host.config)


def opening_of(call: OperationCall) -> ObjectState | None:
    """A commitment whose opening is stored."""
    if not call.about:
        return None
    known = next((each for each in _store(call).infos() if each.commitment == call.about), None)
    return None if known is None else (known.commitment, f"its opening is stored since {known.added}")


@dataclass(frozen=True, slots=True)
class CommitToValue:
    """A value; a file to hand its opening out in, instead of storing it; and what is stored with it."""

    value: Annotated[str, AS_IS]
    is_text: bool = False
    hand_out: Annotated[Path | None, AS_IS] = None
    label: _Label = ""
    skills: tuple[str, ...] = ()

    @property
    def commitment(self) -> str:
        """It is not known before it is made."""
        return ""


@operation("openings.commit", effect="changes", permission=OWNER, object_="commitment", state=opening_of)
def commit(call: OperationCall, given: CommitToValue) -> str:
    """Commit to a value, and store its opening or write it to a new file; returns the commitment."""
    from cortex_skills.features.proofs.zk import NotCanonicalError, Opening
    from cortex_skills.features.proofs.zk.opening_transfer import export_opening

    try:
        opening = Opening(given.value if given.is_text else int(given.value))
    except NotCanonicalError as error:
        raise CortexError("invalid_arguments", str(error), hint="use --text for a text") from None
    except ValueError:
        hint = "use --text for a text"
        raise CortexError("invalid_arguments", "the value is not an integer", hint=hint) from None
    if given.hand_out is not None:
        export_opening(opening, given.hand_out)
    else:
        _store(call).add(opening, label=given.label, skills=given.skills)
    call.about = opening.commitment
    call.facts |= {"commitment": opening.commitment, "handedOut": given.hand_out is not None}
    return opening.commitment


@dataclass(frozen=True, slots=True)
class TakeOpening:
    """The file of an issuer, and what is stored with its opening."""

    file: Annotated[Path, AS_IS]
    label: _Label = ""
    skills: tuple[str, ...] = ()

    @property
    def commitment(self) -> str:
        """It is not known before the file was read."""
        return ""


class TakenOpening(TypedDict):
    """A commitment, and whether its opening was not stored before."""

    commitment: str
    new: bool


@operation("openings.take", effect="changes", permission=OWNER, object_="commitment", state=opening_of)
def take(call: OperationCall, given: TakeOpening) -> TakenOpening:
    """Import the opening that an issuer handed out, and seal it."""
    from cortex_skills.features.proofs.zk.opening_transfer import import_opening

    opening = import_opening(given.file)
    call.about = opening.commitment
    call.before = opening_of(call)
    return {
        "commitment": opening.commitment,
        "new": _store(call).add(opening, label=given.label, skills=given.skills),
    }


@dataclass(frozen=True, slots=True)
class ListOpenings:
    """No arguments."""


@operation("openings.list", effect="reads", permission=OWNER)
def list_openings(call: OperationCall, given: ListOpenings) -> list[OpeningInfo]:  # noqa: ARG001 - there is none
    """List the commitments with a stored opening, without their values."""
    return _store(call).infos()


@dataclass(frozen=True, slots=True)
class OneOpening:
    """A commitment."""

    commitment: Annotated[str, MaxLen(256)]


@operation("openings.forget", effect="changes", permission=OWNER, object_="commitment", state=opening_of)
def forget(call: OperationCall, given: OneOpening) -> None:
    """Delete the opening of a commitment: nothing can be proved about it afterwards."""
    if not _store(call).remove(given.commitment):
        hint = "`cortex-skills proof openings` lists the stored openings"
        raise CortexError("invalid_arguments", "there is no opening of this commitment", hint=hint)
