"""Registered skills as they are stored: their states, counters, events and versions."""
