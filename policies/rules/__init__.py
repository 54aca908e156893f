"""Policies written by hand, the yardsticks: greedy, expert and, for Hanabi, hat."""
