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

All from the agent's own point of view: of two sides, its own comes first.

| from | entries | values | what |
|---|---|---|---|
| 0 | 3 | 0 to 1 | to do: what I must decide: an action, a Gift, a Competition |
| 3 | 7 | 0 to 5 | hand: my cards of each geisha |
| 10 | 7 | 0 to 5 | dealt: my hand as it was dealt |
| 17 | 28 | 0 to 1 | drawn: the card of each of my draws, in order |
| 45 | 7 | 0 to 1 | my secret: the card of my Secret |
| 52 | 7 | 0 to 2 | my trade-off: the cards of my Trade-off |
| 59 | 14 | 0 to 1 | markers: geisha who favour me, then my foe |
| 73 | 14 | 0 to 5 | table: items on my side, then on theirs |
| 87 | 32 | 0 to 1 | used in: for my four actions, then theirs: in which own turn |
| 119 | 14 | 0 to 3 | gifts: the cards of my Gift, then of theirs |
| 133 | 14 | 0 to 1 | gift taken: the card that was taken from each |
| 147 | 28 | 0 to 2 | pairs: the two pairs of my Competition, then of theirs |
| 175 | 4 | 0 to 1 | pair taken: the pair that was taken from each |
| 179 | 1 | 0 to 1 | began: I began this round |
| 180 | 4 | 0 to 1 | round: the round; the last is also later |
| 184 | 7 | 0 to 5 | unseen: cards that I have not seen |
| 191 | 7 | 0 to 5 | still out: cards that may still reach a side: mine and unseen |
| 198 | 7 | -5 to 5 | lead: my items less theirs, my Secret counted |
| 205 | 14 | 0 to 1 | ahead: the lead is mine, then theirs |
| 219 | 14 | 0 to 1 | settled: the lead, mine then theirs, exceeds what is out |
| 233 | 4 | 0 to 21 | favours: geisha and charm that the markers give me, then them |
| 237 | 6 | 0 to 8 | to come: cards still to reach a side, tiles left, cards held |
| 243 | 4 | 0 to 1 | flow: shares of my cards, and of unseen ones, that end with me, with them |
| 247 | 7 | -5 to 5 | expected lead: the lead at the end, by these shares |

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
