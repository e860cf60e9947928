"""What registered skills contain, and the form of their files."""
