"""The types of what `Plugin.call` returns, by the name of the tool.

Generated from the types of the tools by `python -m build_steps.typed_calls cortex_skills/features/typed_calls.py`. The
plugin does not import it; a program may, for the names of the types.
"""

from __future__ import annotations

from typing import Any, Literal, overload

from typing_extensions import TypedDict, Unpack

from cortex_skills.cancellation import CancelToken
from cortex_skills.features.actions.action_request import RequestStatus
from cortex_skills.features.graph.looking.description_text import DescribeDocument
from cortex_skills.features.graph.looking.entity_search import FindDocument
from cortex_skills.features.graph.looking.moment_difference import DifferenceDocument
from cortex_skills.features.graph.looking.schema_overview import OverviewDocument
from cortex_skills.features.graph.looking.sparql_text import SparqlDocument
from cortex_skills.features.graph.looking.statement_checks import VerifiedStatements
from cortex_skills.features.graph.tools.skill_assert import AssertDetails
from cortex_skills.features.graph.tools.skill_graph_query import GraphQueryDetails
from cortex_skills.features.graph.tools.skill_retract import RetractDetails
from cortex_skills.features.memory.tools.skill_memory_context import RecallDetails
from cortex_skills.features.memory.tools.skill_memory_reflect import ReflectDetails
from cortex_skills.features.memory.tools.skill_memory_remember import RememberDetails
from cortex_skills.features.proofs.tools.skill_request_zk_proof import ZkProofDetails
from cortex_skills.features.proofs.tools.skill_verify_zk_proof import ZkVerificationDetails
from cortex_skills.features.registry.dialects.ai_memory import PromotedReflection
from cortex_skills.features.registry.tools.memory_skills import (
    SkillExportDetails,
    SkillListDetails,
    SkillRegisterDetails,
    SkillResourceDetails,
)
from cortex_skills.features.registry.tools.registered_skills import (
    ShownSkillDetails,
    SkillFeedbackDetails,
    SkillFindDetails,
    SkillReadDetails,
)
from cortex_skills.features.registry.tools.skill_learn import SkillLearnDetails
from cortex_skills.features.registry.tools.skill_write import SkillWriteDetails
from cortex_skills.features.registry.tools.skills_of_reflections import SkillContextDetails
from cortex_skills.gate.result import Result
from cortex_skills.plugin import Plugin
from cortex_skills.tools.value_types import QueryCosts

__all__ = [
    "AssertDetails",
    "DescribeDocument",
    "DifferenceDocument",
    "FindDocument",
    "GraphDescribeDetails",
    "GraphDifferenceDetails",
    "GraphFindDetails",
    "GraphOverviewDetails",
    "GraphQueryDetails",
    "GraphSparqlDetails",
    "OverviewDocument",
    "PromotedReflection",
    "RecallDetails",
    "ReflectDetails",
    "RememberDetails",
    "RequestStatus",
    "RetractDetails",
    "ShownSkillDetails",
    "SkillContextDetails",
    "SkillExportDetails",
    "SkillFeedbackDetails",
    "SkillFindDetails",
    "SkillLearnDetails",
    "SkillListDetails",
    "SkillReadDetails",
    "SkillRegisterDetails",
    "SkillResourceDetails",
    "SkillWriteDetails",
    "SparqlDocument",
    "TypedCalls",
    "VerifiedStatements",
    "ZkProofDetails",
    "ZkVerificationDetails",
]


class _By(TypedDict, total=False):
    """What a call may name beside its arguments; see `Plugin.call`."""

    skill: str | None
    agent: str | None
    cancel: CancelToken | None
    session: str | None


Arguments = dict[str, Any]


class GraphOverviewDetails(OverviewDocument, QueryCosts):
    """The details of `graph_overview`."""


class GraphFindDetails(FindDocument, QueryCosts):
    """The details of `graph_find`."""


class GraphDescribeDetails(DescribeDocument, QueryCosts):
    """The details of `graph_describe`."""


class GraphSparqlDetails(SparqlDocument, QueryCosts):
    """The details of `graph_sparql`."""


class GraphDifferenceDetails(DifferenceDocument, QueryCosts):
    """The details of `graph_difference`."""


class TypedCalls(Plugin):
    """`call` and `acall` with the types of the details of their results."""

    @overload
    def call(
        self, tool: Literal["skill_graph_query"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[GraphQueryDetails]: ...
    @overload
    def call(self, tool: Literal["skill_assert"], arguments: Arguments, **by: Unpack[_By]) -> Result[AssertDetails]: ...
    @overload
    def call(
        self, tool: Literal["skill_retract"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[RetractDetails]: ...
    @overload
    def call(
        self, tool: Literal["graph_overview"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[GraphOverviewDetails]: ...
    @overload
    def call(
        self, tool: Literal["graph_find"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[GraphFindDetails]: ...
    @overload
    def call(
        self, tool: Literal["graph_describe"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[GraphDescribeDetails]: ...
    @overload
    def call(
        self, tool: Literal["graph_sparql"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[GraphSparqlDetails]: ...
    @overload
    def call(
        self, tool: Literal["graph_difference"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[GraphDifferenceDetails]: ...
    @overload
    def call(
        self, tool: Literal["skill_verify_assertion"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[VerifiedStatements]: ...
    @overload
    def call(
        self, tool: Literal["skill_memory_context"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[RecallDetails]: ...
    @overload
    def call(
        self, tool: Literal["skill_memory_remember"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[RememberDetails]: ...
    @overload
    def call(
        self, tool: Literal["skill_memory_reflect"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[ReflectDetails]: ...
    @overload
    def call(
        self, tool: Literal["skill_request_zk_proof"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[ZkProofDetails]: ...
    @overload
    def call(
        self, tool: Literal["skill_verify_zk_proof"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[ZkVerificationDetails]: ...
    @overload
    def call(
        self, tool: Literal["load_skill"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[ShownSkillDetails]: ...
    @overload
    def call(
        self, tool: Literal["skill_find"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[SkillFindDetails]: ...
    @overload
    def call(
        self, tool: Literal["skill_read"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[SkillReadDetails]: ...
    @overload
    def call(
        self, tool: Literal["skill_feedback"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[SkillFeedbackDetails]: ...
    @overload
    def call(
        self, tool: Literal["skill_write"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[SkillWriteDetails]: ...
    @overload
    def call(
        self, tool: Literal["memory_skill_register"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[SkillRegisterDetails]: ...
    @overload
    def call(
        self, tool: Literal["memory_skill_list"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[SkillListDetails]: ...
    @overload
    def call(
        self, tool: Literal["memory_skill_get"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[ShownSkillDetails]: ...
    @overload
    def call(
        self, tool: Literal["memory_skill_resource"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[SkillResourceDetails]: ...
    @overload
    def call(
        self, tool: Literal["memory_skill_export"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[SkillExportDetails]: ...
    @overload
    def call(
        self, tool: Literal["memory_skill_promote_from_reflection"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[PromotedReflection]: ...
    @overload
    def call(
        self, tool: Literal["memory_skill_compositional_context"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[SkillContextDetails]: ...
    @overload
    def call(
        self, tool: Literal["skill_learn"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[SkillLearnDetails]: ...
    @overload
    def call(
        self, tool: Literal["approval_status"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[RequestStatus]: ...
    @overload
    def call(self, tool: str, arguments: Arguments, **by: Unpack[_By]) -> Result[Any]: ...
    def call(self, tool: str, arguments: Arguments, **by: Unpack[_By]) -> Any:
        """See `Plugin.call`."""
        return super().call(tool, arguments, **by)

    @overload
    async def acall(
        self, tool: Literal["skill_graph_query"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[GraphQueryDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["skill_assert"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[AssertDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["skill_retract"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[RetractDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["graph_overview"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[GraphOverviewDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["graph_find"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[GraphFindDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["graph_describe"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[GraphDescribeDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["graph_sparql"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[GraphSparqlDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["graph_difference"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[GraphDifferenceDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["skill_verify_assertion"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[VerifiedStatements]: ...
    @overload
    async def acall(
        self, tool: Literal["skill_memory_context"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[RecallDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["skill_memory_remember"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[RememberDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["skill_memory_reflect"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[ReflectDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["skill_request_zk_proof"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[ZkProofDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["skill_verify_zk_proof"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[ZkVerificationDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["load_skill"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[ShownSkillDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["skill_find"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[SkillFindDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["skill_read"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[SkillReadDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["skill_feedback"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[SkillFeedbackDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["skill_write"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[SkillWriteDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["memory_skill_register"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[SkillRegisterDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["memory_skill_list"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[SkillListDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["memory_skill_get"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[ShownSkillDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["memory_skill_resource"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[SkillResourceDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["memory_skill_export"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[SkillExportDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["memory_skill_promote_from_reflection"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[PromotedReflection]: ...
    @overload
    async def acall(
        self, tool: Literal["memory_skill_compositional_context"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[SkillContextDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["skill_learn"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[SkillLearnDetails]: ...
    @overload
    async def acall(
        self, tool: Literal["approval_status"], arguments: Arguments, **by: Unpack[_By]
    ) -> Result[RequestStatus]: ...
    @overload
    async def acall(self, tool: str, arguments: Arguments, **by: Unpack[_By]) -> Result[Any]: ...
    async def acall(self, tool: str, arguments: Arguments, **by: Unpack[_By]) -> Any:
        """See `Plugin.acall`."""
        return await super().acall(tool, arguments, **by)
