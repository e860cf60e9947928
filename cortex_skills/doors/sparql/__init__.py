"""`/sparql`: the SPARQL 1.1 Protocol."""

from cortex_skills.doors.sparql.endpoint import sparql_routes

__all__ = ["sparql_routes"]
