"""The forms of artifacts that other systems read and write."""
