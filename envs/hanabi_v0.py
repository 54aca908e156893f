"""Hanabi, the cooperative card game for two to five, as a PettingZoo environment.

| | |
|---|---|
| Import | `from hanamachi import hanabi_v0` |
| Agents | `player_0` to `player_4`, as many as play |
| Actions | `Discrete` of 20, 30, 38 or 48 for 2, 3, 4 or 5 players |
| Observation | `Box` of 672, 1029, 1165 or 1464 entries, float32, and an action mask, int8 |
| State | `Box` of 1344, 3087, 4660 or 7320 entries, float32: what all agents know |
| With the multicolour suit | 21, 32, 41 or 52 actions; 784, 1202, 1360 or 1709 entries |
| Parallel API, manual control | no |

Everybody sees the cards of the others but not their own. In a turn a player spends a clue token to
tell another player which of their cards are of one colour or of one rank, or discards a card, which
brings a token back, or plays one: if it is the next of its colour's firework, 1 to 5, it is added,
else it is an error. The third error loses the game and all points. With 25 points all fireworks
are complete and the game is won; else, once the deck is empty, every player has one more turn.
The points are everybody's. All the rules: hanamachi/games/hanabi/RULES.md.

## Creation

    from hanamachi import hanabi_v0

    env = hanabi_v0.env(players=3, render_mode="ansi")
    env.reset(seed=42)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        legal = observation["action_mask"]
        env.step(None if termination else env.action_space(agent).sample(legal))

`players` is from 2 to 5. Options, with their defaults (fewer colours, ranks or cards in hand make
small versions):

| option | values |
|---|---|
| `starter="random"` | or the seat that begins |
| `multicolour="none"` | "five": a sixth suit, one card of each rank; "ten": like the others |
| `max_clues=8` | clue tokens, from 1 to 8 |
| `max_errors=3` | errors that lose the game, from 1 to 3 |
| `allow_empty_hints=False` | whether a clue may touch no card |
| `strikeout_score="zero"` | or "fireworks": the points of a game that is lost by errors |
| `colours=5` | suits besides the multicolour one, from 1 to 5 |
| `ranks=5` | of each suit, from 1 to 5 |
| `hand_size` | cards that each player holds, from 1 to 5; 5 for 2 or 3 players, 4 for 4 or 5 |
| `render_mode=None` | "human" prints, "ansi" returns text, "rgb_array" an image |
| `render_seat=None` | a seat whose view is rendered; None shows all cards |

`env` ends the game at -1 for an agent who chooses an illegal action; `raw_env` raises
`hanamachi.IllegalAction` instead. `env(players=3, **options)` is the same environment as
`hanamachi.make("hanabi:3p", **options)`, and `env(players=3, multicolour="five", **options)` as
`hanamachi.make("hanabi:3p:multicolour", **options)`.

## Actions

The slots of one's own hand count from the oldest card. The numbers are those of DeepMind's Hanabi
environment; "the next player" sits next clockwise.

| 2 players | 3 players | 4 players | 5 players | what |
|---|---|---|---|---|
| 0 to 4 | 0 to 4 | 0 to 3 | 0 to 3 | discard the card in this slot |
| 5 to 9 | 5 to 9 | 4 to 7 | 4 to 7 | play the card in this slot |
| 10 to 14 | 10 to 14 | 8 to 12 | 8 to 12 | tell the next player about this colour |
| | 15 to 19 | 13 to 17 | 13 to 17 | tell the second player about this colour |
| | | 18 to 22 | 18 to 22 | tell the third player about this colour |
| | | | 23 to 27 | tell the fourth player about this colour |
| 15 to 19 | 20 to 24 | 23 to 27 | 28 to 32 | tell the next player about this rank |
| | 25 to 29 | 28 to 32 | 33 to 37 | tell the second player about this rank |
| | | 33 to 37 | 38 to 42 | tell the third player about this rank |
| | | | 43 to 47 | tell the fourth player about this rank |

With the multicolour suit there is one colour clue more for each other player.
With `game = env.unwrapped.get_state().record`,
`env.unwrapped.variant.actions.describe(action, game)` says any of them in words, the player by
name, and `parse` reads them.

## Observation

All from the agent's own point of view: me first, then the others clockwise. A card is its suit
times the number of ranks, plus its rank from 0; a trait is a suit or, after all suits, a rank.
RULES.md lists the segments, and so does `env.unwrapped.variant.observation`; its
`view(observation, "hands")` gives one of them in the shape of its axes.

More players, the multicolour suit and small versions have the same segments in other sizes.

## Legal actions

`observation["action_mask"]` has 1 for every legal action of the agent to move, and is all 0 for
the other agents and after the end.

## Rewards

The change of the score at each step, the same for all agents: 1 for a card that is added. The
last error takes all points back, unless `strikeout_score="fireworks"`.

## Reset and positions

`reset(seed=7)` gives the same game to the same actions in any adapter and process. The deal may be
given: `reset(options={"deal": [...]})` lists what chance brings, first the starter if it is random,
then each card as it is dealt: the hand of player 0, of player 1, ..., then each draw. Chance brings
what the list leaves open. `get_state()` copies the whole position, `set_state(state)` and
`reset(options={"state": state})` go back to it, `clone()` copies the environment. `record()` gives
the game so far, for `hanamachi.sessions.saved_games.save`.

## Version history

* v0: first version. Whatever changes rules, action numbers or observations will be v1.
"""

from collections.abc import Mapping
from typing import Any

from pettingzoo.utils import AECEnv

from hanamachi.adapters.aec import AEC, make
from hanamachi.errors import UserError, shown
from hanamachi.sessions.arguments import whole_number

PLAYERS = (2, 3, 4, 5)


def env(players: Any = 2, **options: Any) -> AECEnv:
    """The environment with the checks of PettingZoo's usual wrappers; options as above."""
    return make(id_of(players, options), **options)


def raw_env(players: Any = 2, **options: Any) -> AEC:
    """The environment without a wrapper; options as above."""
    return AEC(id_of(players, options), **options)


def id_of(players: Any, options: Mapping[str, Any]) -> str:
    """The id for this number of players and these options; UserError for another number."""
    number = whole_number(players, "players")
    if number not in PLAYERS:
        raise UserError(f"players must be a whole number from 2 to 5, not {shown(players)}")
    multicolour = options.get("multicolour") == "five"
    return f"hanabi:{number}p:multicolour" if multicolour else f"hanabi:{number}p"
