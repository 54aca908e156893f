"""Policies that live outside this process: bots in other programs, and language models."""
