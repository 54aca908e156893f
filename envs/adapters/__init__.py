"""The games in the form of other libraries, with a module for each."""
