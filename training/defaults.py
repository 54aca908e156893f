"""Defaults that a command shares with the function it calls.

They import nothing: a command names them before it loads what it needs, so that `--help` is fast.
"""

EVALUATION_GAMES = 10_000  # of each pairing of an evaluation

# Tournaments of bots
MATCH_GAMES = 20  # for 20 bots in Python, minutes on two cores
DECISION_SECONDS = 1.0
MEGABYTES = 1024  # of each process of a bot
PROCESSOR_SECONDS = 3600  # of each process of a bot

# Attacks on a policy
SEARCH_GAMES = 2_000
RESPONSES = 3  # to a checkpoint: from random weights, from its own, and from a clone of the search

# Benchmarks
ROUNDS = 5
ROUND_SECONDS = 0.5  # at least
MOST_GAMES = 1_000_000  # at once
