"""Reviews: what the agent thinks of each move of a game, and how much each move lost.

The agent plays along in every seat. Its value is that of the position before a move, seen from seat
0 in competitive games: from -1 (seat 0 has lost) to 1. In cooperative games it is the team's: the
points made so far and those that the agent still expects, later ones counted less. What a move lost
is the judgement of a search that knows only what the seat knew: how much less than the best move it
earns in the same worlds, 0 where the difference is not clear.
"""

from hanamachi.errors import UserError

WORLDS = 32


class Reviews:
    def __init__(self, lane) -> None:
        self.lane = lane

    async def of(self, id, record, worlds):
        raise UserError("reviews come soon")
