"""REST API of the feature `actions`."""
