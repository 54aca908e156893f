"""Things that choose actions, all loaded by one spelling: `load_policy`."""

from hanamachi.policies.load import load_policy
from hanamachi.policies.policy import BatchPolicy, Policy

__all__ = ["BatchPolicy", "Policy", "load_policy"]
