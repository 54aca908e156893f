"""Feature sets: inputs of a network that are computed from the observation."""
