"""REST API of the feature `memory`."""
