"""Files that are written whole or not at all, and read only as far as they can be large."""
