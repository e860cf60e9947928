"""Memories of agents: stored as RDF beside the graph of the namespace, recalled by their words and meaning."""
