"""Whether a text tells a model what to do, in whatever disguise."""

from cortex_skills.enrichment.detecting.detect import detect

__all__ = ["detect"]
