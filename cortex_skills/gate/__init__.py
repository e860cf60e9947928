"""The gate that every call passes."""
