"""One module per library: PettingZoo, Gymnasium, OpenSpiel, RLlib, TorchRL, Tianshou."""
