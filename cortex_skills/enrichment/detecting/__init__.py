"""Whether a text tells a model what to do, in whatever disguise."""

from cortex_skills.enrichment.detecting.detect import detect
from cortex_skills.enrichment.detecting.screening import Screen

__all__ = ["Screen", "detect"]
