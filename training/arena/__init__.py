"""Tournaments of bots: all that lie in a folder play each other under the same limits."""
