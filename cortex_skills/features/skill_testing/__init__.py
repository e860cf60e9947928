"""Running the tests of skills. This module imports nothing large."""

# The namespace of every test, whatever the configuration: a data file then means the same on every machine.
NAMESPACE = "mayros"

__all__ = ["NAMESPACE"]
