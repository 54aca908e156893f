"""The games themselves, a folder each, and the registry that finds them by id."""
