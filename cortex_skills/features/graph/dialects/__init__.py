"""How other systems name what the feature `graph` has; pure mappings."""
