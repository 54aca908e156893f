"""Altered states: what `reset` accepts must be played to its end."""
