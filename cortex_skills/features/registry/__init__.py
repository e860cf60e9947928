"""The skill registry: skills as versioned, content-addressed documents in the graph."""
