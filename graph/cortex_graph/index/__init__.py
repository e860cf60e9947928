"""Indexes and counters that are kept beside the triples."""
