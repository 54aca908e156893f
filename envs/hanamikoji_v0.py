"""Hanamikoji, the card game for two, as a PettingZoo environment.

| | |
|---|---|
| Import | `from hanamachi import hanamikoji_v0` |
| Agents | `player_0`, `player_1` |
| Actions | `Discrete(508)` |
| Observation | `Box` of 254 entries, float32, and an action mask of 508, int8 |
| State | `Box` of 508 entries, float32: what both agents know |
| Parallel API, manual control | no |

Two players court seven geisha by putting item cards on their sides of them. A round is eight
turns; in each the player draws a card and uses one of four action tiles: keep a Secret, discard a
Trade-off, offer a Gift of three cards of which the other takes one, or a Competition of two pairs
of which the other takes one. The player with more items of a geisha wins her favour. Favours worth
11 charm win the game, else the favours of 4 geisha. All the rules are in
hanamachi/games/hanamikoji/RULES.md.

## Creation

    from hanamachi import hanamikoji_v0

    env = hanamikoji_v0.env(max_rounds=3, render_mode="ansi")
    env.reset(seed=42)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        legal = observation["action_mask"]
        env.step(None if termination else env.action_space(agent).sample(legal))

Options, with their defaults (fewer cards, geisha or tiles make small versions):

| option | values |
|---|---|
| `starter="random"` | "random", 0 or 1: who begins the first round; afterwards they take turns |
| `max_rounds=None` | rounds after which the leader wins, or None for no limit |
| `limit_rule="geisha_then_charm"` | or "charm": who leads at the limit; equals share the victory |
| `cards=(2, 2, 2, 3, 3, 4, 5)` | items of each geisha, which is also her charm |
| `actions=("secret", "trade_off", "gift", "competition")` | the tiles of each player |
| `render_mode=None` | "human" prints, "ansi" returns text, "rgb_array" an image |
| `render_seat=None` | a seat whose view is rendered; None shows all cards |

`env` ends the game at -1 for an agent who chooses an illegal action; `raw_env` raises
`hanamachi.IllegalAction` instead. `env(max_rounds=3, **options)` is the same environment as
`hanamachi.make("hanamikoji:three_rounds", **options)`.

## Actions

Cards are known by their geisha, 0 to 6 from the left. Equal cards are one choice.

| actions | what |
|---|---|
| 0 to 6 | Secret: the geisha |
| 7 to 34 | Trade-off: two cards, ascending |
| 35 to 115 | Gift: three cards, ascending |
| 116 to 498 | Competition: two pairs, the first not after the second in order |
| 499 to 505 | take the card of this geisha from a Gift |
| 506, 507 | take the first or the second pair of a Competition |

`env.unwrapped.variant.actions.describe(action)` says any of them in words, and `parse` reads them.

## Observation

All from the agent's own point of view: of two sides, its own comes first. RULES.md lists the
segments, and so does `env.unwrapped.variant.observation`; its `view(observation, "pairs")` gives
one of them in the shape of its axes.

An option that changes the cards or the limit of rounds changes the sizes.

## Legal actions

`observation["action_mask"]` has 1 for every legal action of the agent to move, and is all 0 for
the other agent and after the end.

## Rewards

At the end +1 to the winner and -1 to the loser, or 0 to both for a shared victory; 0 before.

## Reset and positions

`reset(seed=7)` gives the same game to the same actions in any adapter and process. The deal may be
given: `reset(options={"deal": [...]})` lists what chance brings, first the starter if it is random,
then the geisha of each card as it is dealt: the starter's hand, the other hand, each draw. Chance
brings what the list leaves open. `get_state()` copies the whole position, `set_state(state)` and
`reset(options={"state": state})` go back to it, `clone()` copies the environment. `record()` gives
the game so far, for `hanamachi.sessions.saved_games.save`.

## Version history

* v0: first version. Whatever changes rules, action numbers or observations will be v1.
"""

from typing import Any

from pettingzoo.utils import AECEnv

from hanamachi.adapters.aec import AEC, make


def env(**options: Any) -> AECEnv:
    """The environment with the checks of PettingZoo's usual wrappers; options as above."""
    return make("hanamikoji", **options)


def raw_env(**options: Any) -> AEC:
    """The environment without a wrapper; options as above."""
    return AEC("hanamikoji", **options)
