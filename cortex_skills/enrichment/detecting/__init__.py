"""Whether a text tells a model what to do, in whatever disguise."""

# Before all others: it says of which files they are.
from cortex_skills.enrichment.detecting import sources as sources
from cortex_skills.enrichment.detecting.detect import detect, verdict
from cortex_skills.enrichment.detecting.screening import doubts, doubts_of

__all__ = ["detect", "doubts", "doubts_of", "verdict"]
