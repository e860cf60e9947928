"""Cortex Skills: semantic skills for AI agents on an RDF knowledge graph."""
