"""What is kept beside a store: claims, cursors, recent answers."""
