"""What a skill says, made into what a model may read. The rules are in `sanitize` and `context`."""

from cortex_skills.enrichment.context import context_block
from cortex_skills.enrichment.policy import Policy
from cortex_skills.enrichment.sanitize import Sanitized, sanitize_enrichment
from cortex_skills.enrichment.steps import Removal

__all__ = ["Policy", "Removal", "Sanitized", "context_block", "sanitize_enrichment"]
