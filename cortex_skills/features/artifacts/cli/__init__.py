"""Commands of the feature `artifacts`."""
