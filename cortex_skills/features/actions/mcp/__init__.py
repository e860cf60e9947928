"""MCP of the feature `actions`."""
