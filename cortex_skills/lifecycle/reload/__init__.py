"""Hot reload: what changed, what may replace the running version, and the report."""
