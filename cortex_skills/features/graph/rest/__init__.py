"""REST API of the feature `graph`."""
