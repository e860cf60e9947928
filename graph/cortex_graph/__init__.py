"""An RDF graph, shared out by namespace."""
