"""What verifiers imports for the id "hanamachi-words", as it looks for packages alone."""

from hanamachi.adapters.verifiers import WordsEnv, WordsHarness, WordsTaskset

__all__ = ["WordsEnv", "WordsHarness", "WordsTaskset"]
