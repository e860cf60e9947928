"""The graph of one namespace, and what is asked of it."""
