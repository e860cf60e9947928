"""The features: one folder for each capability, found by its entry point."""
