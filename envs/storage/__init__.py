"""Files are written atomically, and read up to a limit."""
