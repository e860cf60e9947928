"""Proof of Logic: this statement obeys these rules, in this graph."""
