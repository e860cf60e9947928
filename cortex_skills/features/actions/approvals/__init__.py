"""Requests to run an action that wait for a person, and what came of them."""
