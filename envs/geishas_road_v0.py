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
from pink, cards by colour, then value. The entries of Advanced:

| from | entries | values | what |
|---|---|---|---|
| 0 | 6 | 0 to 1 | to do: act, answer, order, collect, take a marker, name a starter |
| 6 | 20 | 0 to 1 | hand: my cards |
| 26 | 99 | 0 to 1 | slots: colour and value of each, then of those on offer |
| 125 | 20 | 0 to 1 | dealt: my hand as it was dealt |
| 145 | 100 | 0 to 1 | drawn: the cards that I drew since, in order |
| 245 | 40 | 0 to 1 | intrigues: the card that I kept, and that I discarded |
| 285 | 40 | 0 to 1 | tableaus: cards played by me, then by them |
| 325 | 20 | 0 to 20 | played: the number of each card among those played |
| 345 | 40 | 0 to 2 | brought: guests and tiebreakers it collected |
| 385 | 32 | 0 to 1 | used in: for my four actions, then theirs: in which own turn |
| 417 | 40 | 0 to 1 | gifts: the cards of my Gift, then of theirs |
| 457 | 80 | 0 to 1 | pairs: the two pairs of my Competition, then of theirs |
| 537 | 10 | 0 to 1 | picked: the place of my Gift, pair of my Competition; theirs |
| 547 | 16 | 0 to 1 | orders: of each share: lower, higher place first; by offers |
| 563 | 6 | 0 to 1 | hidden: Gift, Competition, Counteroffer; theirs |
| 569 | 20 | 0 to 1 | my hidden: the card that I laid face down |
| 589 | 28 | 0 to 1 | countered: turn, place, whose hidden card; theirs |
| 617 | 40 | 0 to 1 | card out: the card that it removed; theirs |
| 657 | 40 | 0 to 1 | card in: the card that it laid; theirs |
| 697 | 4 | 0 to 1 | offer tokens: unused: Hidden, Counteroffer; theirs |
| 701 | 8 | 0 to 1 | face down: laid there by me, by them |
| 709 | 8 | 0 to 1 | to play: first, second of the two cards to be ordered |
| 717 | 5 | 0 to 1 | landed: the house whose tokens are being picked |
| 722 | 10 | 0 to 1 | markers: held by me, then by them |
| 732 | 25 | 0 to 1 | steps: how far each geisha is past her house |
| 757 | 10 | 0 to 1 | returns: she came home once, twice |
| 767 | 10 | 0 to 9 | rows: tokens left for first, second returns, next first |
| 777 | 5 | 0 to 3 | guests: at each house |
| 782 | 10 | 0 to 3 | collected: guests that I have, then they |
| 792 | 1 | 0 to 1 | began: I begin this round |
| 793 | 2 | 0 to 1 | chooser: I named its starter, they did |
| 795 | 2 | 0 to 1 | round: the round |
| 797 | 4 | 0 to 138 | score: rounds won, then points of earlier rounds; me, them |
| 801 | 20 | 0 to 1 | unseen: cards that I do not know the place of |
| 821 | 5 | 0 to 10 | worth: points that each geisha brings |
| 826 | 5 | -21 to 21 | lead: twice my influence less theirs |
| 831 | 10 | 0 to 1 | ahead: she would be mine, theirs |
| 841 | 2 | 0 to 138 | points: what this round would bring now; me, them |
| 843 | 6 | 0 to 10 | to come: cards still to be played, markers left, cards held |
| 849 | 4 | 0 to 1 | flow: shares of my cards, of unseen ones: to me, to them |
| 853 | 5 | -21 to 21 | expected lead: the lead at the end, so shared |
| 858 | 55 | 0 to 1 | prospects: home; she is mine, theirs; mine if I, they play it |
| 913 | 11 | 0 to 9 | gains: the prestige token that each would bring her |
| 924 | 22 | 0 to 2 | harvest: guests, tiebreaker it could collect |

The other rule sets leave out what they do not have: the segments of guests (brought, landed,
guests, collected) and of offer tokens (hidden, my hidden, countered, card out, card in, offer
tokens).

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
