"""TextArena: two scripted models play in words, the expert against random play.

TextArena's wrapper makes one text of all that a player was told, as for a language model.

    pip install -e . textarena
"""

import numpy as np
import textarena as ta

from hanamachi.adapters.text import ScriptedModel
from hanamachi.adapters.textarena import TextArenaEnv
from hanamachi.policies import load_policy
from hanamachi.training.evaluation.results import Row
from hanamachi.training.evaluation.statistics import interval

DEALS = 100  # each is played twice, with the seats exchanged
EXPERT, RANDOM = (load_policy(name, "hanamikoji") for name in ("expert", "random"))


def play(deal: int, seat: int) -> float:
    """The expert's result in this seat: 1 if it wins, one half for a draw."""
    game = TextArenaEnv("hanamikoji")
    env = ta.wrappers.LLMObservationWrapper(game)
    env.reset(num_players=2, seed=deal)
    rng, done = np.random.default_rng(deal), False
    models = {
        player: ScriptedModel(EXPERT if player == seat else RANDOM, game.game, rng)
        for player in range(2)
    }
    while not done:
        player, observation = env.get_observation()
        assert f"You are player {player}." in observation
        done, _ = env.step(action=models[player].reply())
    rewards, _ = env.close()
    return (float(np.sign(rewards[seat])) + 1) / 2


scores = np.array([np.mean([play(deal, seat) for seat in range(2)]) for deal in range(DEALS)])
row = Row("expert", "random", "sample", 2 * DEALS, float(scores.mean()), *interval(scores))
print(f"with_textarena: {row}")
