"""REST API of the feature `registry`."""
