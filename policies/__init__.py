"""Policies, and `load_policy`, which loads any of them by name."""

from hanamachi.policies.load import load_policy
from hanamachi.policies.policy import BatchPolicy, Policy

__all__ = ["BatchPolicy", "Policy", "load_policy"]
