"""Policies that think ahead: they play on, from worlds that the seat cannot tell from its own.

`load_policy("search:KIND:BLUEPRINT:SETTINGS")` makes them, such as
"search:improve:expert:worlds=32" or "search:improve:runs/first/policy:seconds=0.1,top=12".
`search.py` holds what all kinds share and the table of kinds, each of which has a file of its own;
`budget.py` is what a search may spend, `playout.py` plays games on, and `reach.py` says how likely
worlds are.
"""

from hanamachi.policies.search.search import KINDS, Search

__all__ = ["KINDS", "Search"]
