"""Loading, watching, reloading and unloading skills."""
