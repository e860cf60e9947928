"""Finding texts by their words and by their meaning: skills of the registry, memories of agents."""
