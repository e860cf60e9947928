"""Checks of what callers give, and errors of the engine in words."""
