"""The tool of proofs that is not built: `skill_verify_assertion`.

Rules kept here:
- it passes the gate like any other: arguments, allow-list, permissions, rate;
- it says that it is not built, with the code `zk_disabled`, and says of nothing that it was verified.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from cortex_skills.errors import CortexError
from cortex_skills.tools.arguments import NAME, VALUE
from cortex_skills.tools.base import Call, Tool

_PROOF_ID: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 256}
_STATEMENT: dict[str, Any] = {
    "subject": {**NAME, "description": "What the statement is about."},
    "predicate": {**NAME, "description": "What it says of it."},
}


def _not_built(what: str) -> Callable[[Call], NoReturn]:
    def run(_: Call) -> NoReturn:
        raise CortexError(
            "zk_disabled",
            f"proofs are not built into this version: {what}",
            hint="ask skill_graph_query what is asserted and by whom, or wait for the version that proves",
        )

    return run


SKILL_VERIFY_ASSERTION = Tool(
    name="skill_verify_assertion",
    description="Check whether a statement is in the graph and whether a proof of it holds.",
    input_schema={
        "type": "object",
        "properties": {
            **_STATEMENT,
            "object": {**VALUE, "description": 'The value, or another thing: {"node": "name"}.'},
            "proofId": {**_PROOF_ID, "description": "The proof to check; any proof of it when left out."},
        },
        "required": ["subject", "predicate"],
        "additionalProperties": False,
    },
    permissions=("graph:read", "proofs:verify"),
    budget=None,
    run=_not_built("no assertion was verified"),
    is_built=False,
)

PROOF_TOOLS = (SKILL_VERIFY_ASSERTION,)
