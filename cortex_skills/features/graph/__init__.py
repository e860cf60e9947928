"""What agents, programs and people do with the graph."""
