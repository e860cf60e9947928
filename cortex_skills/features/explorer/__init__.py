"""The pages of the graph."""
