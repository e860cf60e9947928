"""What a tool is, and what it is handed.

Rules kept here:
- a tool holds no policy: when it runs, the gate has let the call through;
- it sees the graph as a `NamespacedGraph`, the skill as a `SkillRuntime`, what agents remember, the settings, and
  nothing else of the host;
- what it says is an `Outcome`: its text without any enrichment, which the gate cleans and adds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from cortex_skills.enrichment.policy import RULE, Policy
from cortex_skills.errors import CortexError
from cortex_skills.schemas import did_you_mean, errors_of

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

    from cortex_graph import NamespacedGraph
    from cortex_skills.config import Config
    from cortex_skills.memory import Memories
    from cortex_skills.proofs.logic.prover import Prover
    from cortex_skills.skill import Skill
    from cortex_skills.stopping import Stop

# The seconds of a skill's time that an enrichment may cost.
ENRICHMENT_S = 2.0
_MAX_ERRORS = 20


@dataclass(frozen=True, slots=True)
class Call:
    """One call that the gate has let through.

    Attributes:
        skill: the acting skill.
        arguments: validated against the tool's schema.
        agent: on whose behalf.
        graph: the namespace's graph.
        memories: what agents remember in it.
        config: the host's settings.
        prover: answers what makes proofs of logic in this namespace; None where nothing is proved.
        enrich: whether the skill is asked what it has to say.
        stop: ends the call early.
        cleaning: how much stricter than the rule what a model reads is cleaned.

    """

    skill: Skill
    arguments: dict[str, Any]
    agent: str
    graph: NamespacedGraph
    memories: Memories
    config: Config
    prover: Callable[[], Prover] | None = None
    enrich: bool = True
    stop: Stop | None = None
    cleaning: Policy = RULE


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a tool answers, before the gate adds the cleaned enrichment.

    Attributes:
        text: for a model.
        details: for a program; JSON-ready.
        enrichment: what the skill said, raw; None when it was not asked or said nothing.
        spent: False when the call changed nothing and its slot goes back.

    """

    text: str
    details: dict[str, Any]
    enrichment: Any = None
    spent: bool = True


@dataclass(frozen=True)
class Tool:
    """A tool.

    Attributes:
        name, description: for a model.
        input_schema: JSON Schema of its arguments.
        permissions: what the acting skill must have been granted.
        budget: which budget a call takes a slot from; None when it takes none.
        rate_limited: whether a call counts in the rate window.
        read_only: whether it changes nothing.
        output_schema: JSON Schema of the details of an answer that is no error.
        is_built: False when every call of it is refused, in this version.
        run: what it does.

    """

    name: str
    description: str
    input_schema: dict[str, Any]
    permissions: tuple[str, ...]
    budget: Literal["query", "assertion"] | None
    run: Callable[[Call], Outcome]
    rate_limited: bool = True
    read_only: bool = True
    output_schema: dict[str, Any] = field(default_factory=lambda: {"type": "object"})
    is_built: bool = True
    _validators: dict[str, Draft202012Validator] = field(default_factory=dict, repr=False, compare=False)

    def definition(self) -> dict[str, Any]:
        """The tool as a client is told of it."""
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.input_schema,
            "permissions": list(self.permissions),
        }

    def check_arguments(self, arguments: object) -> dict[str, Any]:
        """The arguments, when they are what the schema says.

        Raises:
            CortexError: `invalid_arguments`, naming every field that is wrong.

        """
        if not isinstance(arguments, dict):
            raise self._invalid([("arguments", f"must be an object, not {type(arguments).__name__}")])
        validator = self._validators.get("it")
        if validator is None:
            from jsonschema_rs import Draft202012Validator

            validator = self._validators["it"] = Draft202012Validator(self.input_schema)
        try:
            if validator.is_valid(arguments):
                return arguments
            errors = errors_of(validator, arguments, _MAX_ERRORS)
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            raise self._invalid([("arguments", f"are no JSON: {error}")]) from None
        problems = [(".".join(map(str, e.instance_path)) or "arguments", e.message) for e in errors]
        raise self._invalid(problems, tuple(arguments))

    def _invalid(self, problems: list[tuple[str, str]], given: tuple[object, ...] = ()) -> CortexError:
        told = [{"field": where, "message": what[:300]} for where, what in problems]
        required = self.input_schema.get("required", ())
        names = [name if name in required else f"{name}?" for name in self.input_schema["properties"]]
        return CortexError(
            "invalid_arguments",
            f"the arguments of {self.name} are not right: "
            + "; ".join(f"{e['field']}: {e['message']}" for e in told[:5]),
            hint=" ".join([*self._meant(given), f"{self.name} takes {', '.join(names)}"]),
            details={"errors": told},
        )

    def _meant(self, given: tuple[object, ...]) -> list[str]:
        """What a misspelt name of an argument was meant to be, when it is near to one."""
        known = self.input_schema["properties"]
        unknown = (name for name in given[:_MAX_ERRORS] if isinstance(name, str) and name not in known)
        return [near for name in unknown if (near := did_you_mean(name, known))][:1]
