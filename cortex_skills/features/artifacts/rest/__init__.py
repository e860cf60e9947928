"""REST API of the feature `artifacts`."""
