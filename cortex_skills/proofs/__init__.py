"""Proofs: of logic, of who said something, and of knowing something without telling it."""
