"""What an agent does outside the graph: actions with manifests, which only the gate runs."""
