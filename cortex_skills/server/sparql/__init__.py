"""`/sparql`: the SPARQL 1.1 Protocol."""

from cortex_skills.server.sparql.door import sparql_route

__all__ = ["sparql_route"]
