"""Looking at a graph: what it has, what something is, and queries; operations, and their texts for models."""
