"""The games in TextArena: every seat is a player of a `ta.Env`.

import textarena as ta
from hanamachi.adapters.textarena import TextArenaEnv

env = ta.wrappers.LLMObservationWrapper(TextArenaEnv("hanamikoji"))
env.reset(num_players=2, seed=0)
done = False
while not done:
    player, observation = env.get_observation()
    done, info = env.step(action=agents[player](observation))
rewards, game_info = env.close()
"""

from typing import Any

import textarena as ta

from hanamachi.adapters.text import TextGame
from hanamachi.errors import UserError
from hanamachi.sessions.prompts import rules_prompt

PROMPT, BOARD = ta.ObservationType.PROMPT, ta.ObservationType.GAME_BOARD
ACTION, ADMIN = ta.ObservationType.PLAYER_ACTION, ta.ObservationType.GAME_ADMIN


class TextArenaEnv(ta.Env):
    """A game of `num_players` seats; rewards are what each seat has earned when the game ends.

    A player sees its rules, its turns and its own replies. An illegal reply is answered as
    `illegal` says, see TextGame; game_info says who forfeited as "invalid_move".
    """

    def __init__(self, game: str, **settings: Any) -> None:
        """`settings` are those of TextGame, and the options of the game."""
        self.game = TextGame(game, **settings)
        self.state = ta.State(self.game.variant.seats)

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Begin a game. UserError unless `num_players` is the number of its seats."""
        variant = self.game.variant
        if num_players != variant.seats:
            raise UserError(f"{variant.id} is for {variant.seats} players, not {num_players}")
        seat, _ = self.game.reset(seed)
        self.state.standard_resets(
            game_state={},
            role_mapping={player: f"Player {player}" for player in range(variant.seats)},
            player_prompt_function=lambda player_id, game_state: rules_prompt(variant, player_id),
        )
        self._turn_of(seat, self.game.turn(seat), BOARD)

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """The reply of the player to move. Returns whether the game is over, and the info."""
        player, state = self.state.current_player_id, self.state
        step = self.game.step(action)
        said = action if isinstance(action, str) else ""
        state.add_observation(said, ACTION, from_id=player, to_id=player)
        state.game_info[player]["turn_count"] += 1
        state.step_info = {"illegal": step.info["illegal"]}
        if step.done:
            state.done, state.rewards = True, dict(enumerate(step.info["returns"]))
            state.game_info[player]["invalid_move"] = self.game.forfeited
            for each in state.game_info.values():
                each["reason"] = step.prompt
        else:
            again = step.info["action"] is None  # the rules were told at the beginning
            prompt = step.prompt if again else self.game.turn(self.game.session.mover)
            self._turn_of(step.seat, prompt, ADMIN if again else BOARD)
        done, info = state.step()
        return bool(done), dict(info)

    def _turn_of(self, player: int | None, prompt: str, kind: Any) -> None:
        self.state.current_player_id = player
        self.state.add_observation(prompt, kind, to_id=player)
