"""Pages of the feature `memory`."""
