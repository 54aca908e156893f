"""How any game is played fast: what a game is, its compiled batch loops, its observations."""
