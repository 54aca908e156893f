"""Search at decision time: policies that look ahead from sampled worlds.

A world is a game that the seat cannot tell from its own. `load_policy` makes a search from
"search:KIND:BLUEPRINT:SETTINGS", such as "search:improve:expert:worlds=32" or
"search:improve:runs/first/policy:seconds=0.1,top=12". `search.py` holds the base class and the
table of kinds; each kind has its own file. `budget.py` limits the work of one decision,
`playout.py` plays games to their end, and `posterior.py` computes how likely worlds are.
"""

from hanamachi.policies.search.search import KINDS, Search

__all__ = ["KINDS", "Search"]
