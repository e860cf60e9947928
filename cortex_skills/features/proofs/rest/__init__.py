"""REST API of the feature `proofs`."""
