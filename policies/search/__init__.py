"""Policies that think ahead: they play on, from worlds that the seat cannot tell from its own.

`load_policy("search:KIND:BLUEPRINT:SETTINGS")` makes them: `search.py` holds what all kinds share
and the table of kinds, each of which has a file of its own.
"""

from hanamachi.policies.search.search import KINDS, Search

__all__ = ["KINDS", "Search"]
