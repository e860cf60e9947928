"""The Cortex REST API."""
