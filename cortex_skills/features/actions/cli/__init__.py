"""Commands of the feature `actions`."""
