"""Commands of the feature `proofs`."""
