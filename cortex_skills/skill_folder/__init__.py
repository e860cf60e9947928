"""The files of a skill's folder: the snapshot that is loaded, and the resources for models."""
