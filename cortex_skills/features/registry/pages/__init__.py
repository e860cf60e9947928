"""Pages of the feature `registry`."""
