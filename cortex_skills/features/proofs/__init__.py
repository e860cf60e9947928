"""Proofs: of logic, signatures of statements, and zero-knowledge proofs."""
