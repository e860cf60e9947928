"""Pages of the feature `actions`."""
