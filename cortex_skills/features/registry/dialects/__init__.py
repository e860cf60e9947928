"""The names of other systems for what the registry does, one file each."""
