"""Policies, and `load_policy`, which loads any of them by name."""

from hanamachi.policies.load import load_policy
from hanamachi.policies.policy import Policy
from hanamachi.policies.user_functions import BatchPolicy

__all__ = ["BatchPolicy", "Policy", "load_policy"]
