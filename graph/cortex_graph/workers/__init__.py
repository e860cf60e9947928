"""Work in processes of their own: channels, scratch files."""
