"""Reinforcement-learning environments for card games of hidden hands.

    import gymnasium, hanamachi

    hanamachi.make("hanamikoji:three_rounds", starter=0)                # PettingZoo, all seats
    gymnasium.make("hanamachi/Hanamikoji-v0", seat=0)                   # one seat
    gymnasium.make_vec("hanamachi/Hanamikoji-v0", num_envs=1024)        # one seat, many games

GAMES and VARIANTS list what there is to play. Policies and training are in hanamachi.policies
and hanamachi.training, whose libraries come with: pip install 'hanamachi[train]'.
"""

from importlib.metadata import version

from hanamachi.adapters.aec import make
from hanamachi.adapters.registration import register as _register
from hanamachi.errors import IllegalAction, UserError
from hanamachi.games.registry import GAMES, VARIANTS, variant

__version__ = version("hanamachi")
__all__ = ["GAMES", "VARIANTS", "IllegalAction", "UserError", "__version__", "make", "variant"]

for _game in GAMES.values():
    _register(_game)
