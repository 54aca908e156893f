"""Feature sets: what is computed for a network from an observation."""
