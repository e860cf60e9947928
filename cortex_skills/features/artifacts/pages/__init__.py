"""Pages of the feature `artifacts`."""
