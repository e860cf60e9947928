"""Running one loaded skill in its sandbox."""
