"""Geisha's Road, the card game for two, as a PettingZoo environment.

| | |
|---|---|
| Import | `from hanamachi import geishas_road_v0` |
| Agents | `player_0`, `player_1` |
| Actions | `Discrete` of 203 (2021), 198 (Introductory), 200 (Standard), 773 (Advanced) |
| Observation | `Box` of 707, 706, 788 or 946 entries, float32, and an action mask, int8 |
| State | `Box` of 1414, 1412, 1576 or 1892 entries, float32: what both agents know |
| Parallel API, manual control | no |

Five geisha walk from teahouse to teahouse, as far as the cards say that two players put down for
them. A round is eight turns; in each the player draws a card and uses one of four actions: Reveal
plays a card, Intrigue keeps one for the end of the round and discards another, Gift offers three
cards of which the other player picks one, Competition two pairs of which the other picks one. A
geisha who stops at home earns prestige. The player whose cards add up to more for a geisha wins
her with it. The edition of 2021 is won by two rounds; that of 2022 by points over two rounds, or
at once by winning four geisha. Its Standard mode adds guests to collect, and Advanced also the
Hidden Offer and Counteroffer of each player. All the rules: hanamachi/games/geishas_road/RULES.md.

## Creation

    from hanamachi import geishas_road_v0

    env = geishas_road_v0.env(edition=2022, mode="standard", render_mode="ansi")
    env.reset(seed=42)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        legal = observation["action_mask"]
        env.step(None if termination else env.action_space(agent).sample(legal))

`edition` is 2021, without a mode, or 2022 with `mode` "introductory", "standard" or "advanced".
Options, with their defaults (fewer colours, values, actions or rounds make small versions):

| option | values |
|---|---|
| `starter="random"` | "random", 0 or 1: who begins round 1; afterwards the last loser decides |
| `item_values=(1, 2, 3, 4)` | the cards of each colour |
| `actions=("reveal", "intrigue", "gift", "competition")` | the actions of each player |
| `colours=5` | geisha, from 2 |
| `loser_picks_starter="after_deal"` | or "before_deal": when the last loser names the starter |
| `tiebreaker_alone_wins=True` | whether a marker wins a geisha for whom nobody has a card |
| `render_mode=None` | "human" prints, "ansi" returns text, "rgb_array" an image |
| `render_seat=None` | a seat whose view is rendered; None shows all cards |
| 2021: `light=(3, 3, 4, 4, 4)` | prestige for first returns, in order |
| 2021: `dark=(3, 2, 2, 2)` | prestige for second returns, in order |
| 2021: `start_marker="choose"` | or "random": how each player gets a first marker |
| 2021: `rounds_to_win=2` | rounds that win the game |
| 2022: `prestige_tokens=None` | the tokens, for both rows; None for 2, 2, 2, 3, 3, 3, 4, 4, 4 |
| 2022: `base=(1, 2)` | what a geisha is worth without tokens, by round |
| 2022: `rounds=2` | rounds that are played |
| 2022: `instant_win=4` | geisha won in one round that win the game |
| Standard, Advanced: `decline_collecting=False` | whether tokens may be left at the house |
| Advanced: `counteroffer_shares="swap"` | or "keep": the giver of a Gift always plays two cards |
| Advanced: `can_counter_hidden=True` | whether a Counteroffer may remove a hidden card |
| Advanced: `counter_own=True` | whether a Counteroffer may remove a card of the same player |

`env` ends the game at -1 for an agent who chooses an illegal action; `raw_env` raises
`hanamachi.IllegalAction` instead. `env(edition=2021, **options)` is the same environment as
`hanamachi.make("geishas_road:2021", **options)`; the other ids are `geishas_road:introductory`,
`geishas_road:standard` and `geishas_road:advanced`.

## Actions

Cards of one's own hand are named by their place in it, from 0, in the order of colours and values;
cards on offer by their place on the table. The same number may thus be another card next time.

| 2021 | Introductory | Standard | Advanced | what |
|---|---|---|---|---|
| 0 to 6 | 0 to 6 | 0 to 6 | 0 to 6 | Reveal: a card |
| 7 to 48 | 7 to 48 | 7 to 48 | 7 to 48 | Intrigue: the card kept, the card discarded |
| 49 to 83 | 49 to 83 | 49 to 83 | 49 to 83 | Gift: three cards |
| 84 to 188 | 84 to 188 | 84 to 188 | 84 to 188 | Competition: two pairs |
| | | | 189 to 293 | Gift, its last card hidden |
| | | | 294 to 713 | Competition, its last card hidden |
| | | | 714 to 737 | Counteroffer: a card, and the place of the card that it replaces |
| | | | 738 to 761 | the same, the card hidden |
| 189 to 191 | 189 to 191 | 189 to 191 | 762 to 764 | pick the card in this place of a Gift |
| 192, 193 | 192, 193 | 192, 193 | 765, 766 | pick the first or the second pair of a Competition |
| 194, 195 | 194, 195 | 194, 195 | 767, 768 | play the lower or the higher place first |
| | | 196, 197 | 769, 770 | collect guests alone, or the marker too |
| 196 to 200 | | | | take the marker of this colour |
| 201, 202 | 196, 197 | 198, 199 | 771, 772 | begin the round, or let the other begin |

`decline_collecting` adds a third choice of tokens, and small versions have fewer actions.
With `game = env.unwrapped.get_state().record`,
`env.unwrapped.variant.actions.describe(action, game)` says any of them in words, its cards by name,
and `parse` reads them.

## Observation

All from the agent's own point of view: of two sides, its own comes first. Colours go clockwise
from pink, cards by colour, then value. RULES.md lists the segments of Advanced; the other rule sets
leave out those of guests and of offer tokens if they have none. `env.unwrapped.variant.observation`
lists them, too; its `view(observation, "tableaus")` gives one of them in the shape of its axes.

## Legal actions

`observation["action_mask"]` has 1 for every legal action of the agent to move, and is all 0 for
the other agent and after the end.

## Rewards

At the end +1 to the winner and -1 to the loser; 0 before. There are no draws.

## Reset and positions

`reset(seed=7)` gives the same game to the same actions in any adapter and process. The deal may be
given: `reset(options={"deal": [...]})` lists what chance brings. First the starter if it is random.
Then, in each round: the values of the prestige tokens in 2022, the next of first returns first,
then those of second returns; in round 1 the colours of both first markers where they are drawn;
each card of player 0's hand, then of player 1's; each draw, also after a Counteroffer. A card is
its colour times the number of values, plus the rank of its value. Chance brings what the list
leaves open. `get_state()` copies the whole position, `set_state(state)` and
`reset(options={"state": state})` go back to it, `clone()` copies the environment. `record()` gives
the game so far, for `hanamachi.sessions.saved_games.save`.

## Version history

* v0: first version. Whatever changes rules, action numbers or observations will be v1.
"""

from typing import Any

from pettingzoo.utils import AECEnv

from hanamachi.adapters.aec import AEC, make
from hanamachi.errors import UserError, shown, unknown

MODES = ("introductory", "standard", "advanced")  # of the 2022 edition


def env(edition: Any = 2021, mode: Any = None, **options: Any) -> AECEnv:
    """The environment with the checks of PettingZoo's usual wrappers; options as above."""
    return make(id_of(edition, mode), **options)


def raw_env(edition: Any = 2021, mode: Any = None, **options: Any) -> AEC:
    """The environment without a wrapper; options as above."""
    return AEC(id_of(edition, mode), **options)


def id_of(edition: Any, mode: Any) -> str:
    """The id of an edition and its mode; UserError if there is no such edition or mode."""
    if edition == 2021 and mode is None:
        return "geishas_road:2021"
    if edition == 2021:
        raise UserError(f"the edition of 2021 has no modes; leave out mode={shown(mode)}")
    if edition != 2022:
        raise UserError(f"edition must be 2021 or 2022, not {shown(edition)}")
    if mode is None:
        raise UserError(f"name the mode of the 2022 edition: {', '.join(MODES)}")
    if mode not in MODES:
        raise unknown("mode of the 2022 edition", mode, MODES)
    return f"geishas_road:{mode}"
