"""The form of the names of namespaces; settings and models state it without importing the graph."""

NAMESPACE = r"[a-zA-Z][a-zA-Z0-9_-]*([./][a-zA-Z0-9_-]+)*"
"""A regular expression without anchors."""
