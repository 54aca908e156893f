"""Things that choose actions, all loaded by one spelling: `load_policy`."""

from hanamachi.policies.load import load_policy
from hanamachi.policies.policy import Policy

__all__ = ["Policy", "load_policy"]
