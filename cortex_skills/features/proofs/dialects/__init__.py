"""How other systems name what the feature `proofs` has; pure mappings."""
