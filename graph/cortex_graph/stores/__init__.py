"""The triple stores, and how one is opened."""
