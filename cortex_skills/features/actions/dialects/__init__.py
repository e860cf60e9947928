"""The names that other systems give to what actions have here."""
