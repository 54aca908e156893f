"""The commands of `hanamachi`, with their options and help texts: each in the file of its name.

A command imports what it needs when it runs, so that `--help` answers at once.
"""
