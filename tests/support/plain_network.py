"""The network over all actions, straight from its definition."""


def plain_network(network, observation):
    """Logits of all actions, (B, A), and values (B,)."""
    h = network.trunk(observation[:, network.input_scaling.entries] * network.input_scaling.scale)
    logits = h @ (network.kinds(network.features) + network.free).T
    for worth in network.worths.values():
        logits = logits + worth(observation, h) @ worth.uses.T
    if network.trust:
        logits = logits + network.trust(observation, h)
    return logits, network.value(h).squeeze(-1)
