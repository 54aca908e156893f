"""One game in progress as Python holds it: played, watched, saved, shown to policies."""
