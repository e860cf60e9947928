"""Finding texts by their words and by their meaning: skills of the registry, memories of agents."""

from cortex_skills.features.finder.embedder_choice import open_embedder
from cortex_skills.features.finder.embedders import Embedder, EmbedderError
from cortex_skills.features.finder.text_index import FoundTexts, MeaningProblem, TextHit, TextIndex

__all__ = ["Embedder", "EmbedderError", "FoundTexts", "MeaningProblem", "TextHit", "TextIndex", "open_embedder"]
