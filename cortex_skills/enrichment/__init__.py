"""What a skill adds to an answer, cleaned for a model: see `sanitize` and `context`."""

from cortex_skills.enrichment.block import read_block
from cortex_skills.enrichment.context import context_block
from cortex_skills.enrichment.policy import Policy
from cortex_skills.enrichment.removal import Removal
from cortex_skills.enrichment.sanitize import Sanitized, sanitize_enrichment

__all__ = ["Policy", "Removal", "Sanitized", "context_block", "read_block", "sanitize_enrichment"]
