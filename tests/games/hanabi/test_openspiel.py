"""The engine and OpenSpiel's hanabi, led through the same games, agree at every step."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pyspiel
import pytest
from hanabi_positions import noise, seeing_actions
from numpy.typing import NDArray
from positions import masked
from samples import sample

from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.games.hanabi.rules import CLUE, DISCARD, NONE, PLAY
from hanamachi.games.registry import variant

COLOURS = "RYGWB"  # as OpenSpiel writes them, in its order
RANKS = "12345"
IN_OPENSPIEL = {
    "colours": "colors",
    "ranks": "ranks",
    "hand_size": "hand_size",
    "max_clues": "max_information_tokens",
    "max_errors": "max_life_tokens",
}
FIELDS = (
    "mover", "player", "clues", "errors", "fireworks", "discards", "deck", "turns_left", "score",
    "held", "hand", "possible", "named", "did", "slot", "card", "scored", "regained", "told",
    "trait", "touched",
)  # fmt: skip
PLAYERS = (2, 3, 4, 5)
GAMES = sample(1_000_000, 0.002)
LENGTH = 12  # positions that a game has at least, on average
BATCH = 256
EVENTS = (
    "final round",
    "completed 5",
    "completed 5 at full clues",
    "25 points",
    "strike-out in the final round",
)
MET: Counter[str] = Counter()  # in the games of this module

Game = dict[str, Any]  # the engine's record as plain Python


class Rules(NamedTuple):
    """A rule set as plain Python: the options in the order of IN_OPENSPIEL, and the cards."""

    players: int
    suits: int
    ranks: int
    hand_size: int
    max_clues: int
    max_errors: int
    copies: list[int]  # of each card

    @property
    def cards(self) -> int:
        return self.suits * self.ranks

    @property
    def traits(self) -> int:
        return self.suits + self.ranks


# --- The same games


def option_sets() -> list[dict[str, Any]]:
    """Half of the games go to the standard rules, the rest to these."""
    varied = (
        {"max_errors": 1},
        {"max_errors": 2},
        {"max_clues": 3},
        {"max_clues": 1, "max_errors": 2},
        {"colours": 4},
        {"colours": 3, "ranks": 4, "hand_size": 3, "max_clues": 5},
        {"colours": 2, "ranks": 3, "hand_size": 2},
        {"colours": 5, "ranks": 2, "hand_size": 3, "max_errors": 1},
        {"colours": 1, "ranks": 5, "hand_size": 2},
        {"colours": 5, "ranks": 1, "hand_size": 2},
    )
    sets = []
    for players in PLAYERS:
        sets.append({"players": players, "share": 0.5 / len(PLAYERS)})
        share = 0.5 / len(PLAYERS) / len(varied)
        sets += [{"players": players, "share": share, **options} for options in varied]
    return sets


def name_of(options: dict[str, Any]) -> str:
    return "-".join(f"{name}={value}" for name, value in options.items() if name != "share")


@pytest.mark.parametrize("options", option_sets(), ids=name_of)
def test_engine_and_openspiel_play_the_same_game(options: dict[str, Any]) -> None:
    hanabi, rules = built(options)
    for position in led(hanabi, rules, round(GAMES * options["share"])):
        check(rules, *position)
        MET.update(events(rules, position[0]))


def built(options: dict[str, Any]) -> tuple[Variant, Rules]:
    chosen = {name: value for name, value in options.items() if name in IN_OPENSPIEL}
    hanabi = variant(f"hanabi:{options['players']}p", starter=0, **chosen)
    sizes = [hanabi.options[name] for name in IN_OPENSPIEL]
    return hanabi, Rules(options["players"], *sizes, hanabi.rule_set.copies.tolist())


def led(
    variant: Variant, rules: Rules, games: int
) -> Iterator[tuple[Game, list[int], pyspiel.State]]:
    """All positions of so many games, the engine's beside OpenSpiel's, with the legal actions."""
    for first in range(0, games, BATCH):
        seeds = np.arange(first, min(first + BATCH, games), dtype=np.uint64)
        yield from led_together(variant, rules, seeds)


def led_together(
    variant: Variant, rules: Rules, seeds: NDArray[np.uint64]
) -> Iterator[tuple[Game, list[int], pyspiel.State]]:
    rng = np.random.default_rng(seeds)
    dice = noise(seeds)
    spiel = openspiel(variant)
    states = [spiel.new_initial_state() for _ in seeds]
    games = variant.new(seeds)
    kernels.reset(variant.rule_set, games)
    while len(games):
        masks = masked(variant, games)
        for game, mask, state in zip(plain(games), masks, states, strict=True):
            deal(rules, game, state)
            yield game, np.flatnonzero(mask).tolist(), state
        on = games["mover"] != OVER
        games, dice = games[on], dice[on]
        states = [state for state, goes_on in zip(states, on, strict=True) if goes_on]
        actions = seeing_actions(variant, games, masks[on], dice, rng)
        for state, action in zip(states, actions.tolist(), strict=True):
            state.apply_action(action)
        kernels.step(variant.rule_set, games, actions)


def openspiel(variant: Variant) -> pyspiel.Game:
    parameters = {theirs: variant.options[ours] for ours, theirs in IN_OPENSPIEL.items()}
    return pyspiel.load_game("hanabi", {"players": variant.seats, **parameters})


def deal(rules: Rules, game: Game, state: pyspiel.State) -> None:
    """Let chance bring OpenSpiel what it brought the engine: a whole deal, or one card."""
    if state.is_initial_state():
        for hand in game["hand"][: rules.players]:
            for card in hand[: rules.hand_size]:
                state.apply_action(card)
    elif state.is_chance_node():
        seat = last_player(rules, game)
        state.apply_action(game["hand"][seat][game["held"][seat] - 1])


def last_player(rules: Rules, game: Game) -> int:
    return (game["player"] - 1) % rules.players


def plain(games: NDArray[Any]) -> Iterator[Game]:
    columns = [games[name].tolist() for name in FIELDS]
    return (dict(zip(FIELDS, row, strict=True)) for row in zip(*columns, strict=True))


# --- What is compared


def check(rules: Rules, game: Game, legal: list[int], state: pyspiel.State) -> None:
    """OpenSpiel prints the whole position; what it says of a finished game's turn is left out."""
    table, discards = str(state).split("Discards:")
    assert table.replace("Cur player\n", "") == table_of(rules, game)
    assert sorted(discards.split()) == sorted(discards_of(rules, game))
    assert state.is_terminal() == (game["mover"] == OVER)
    assert state.is_terminal() or state.current_player() == game["mover"]
    assert state.legal_actions() == legal
    assert state.returns() == [game["score"]] * rules.players


def table_of(rules: Rules, game: Game) -> str:
    """The position as OpenSpiel prints it, up to the discards."""
    heights = zip(COLOURS, game["fireworks"][: rules.suits], strict=False)
    fireworks = "".join(f"{colour}{height} " for colour, height in heights)
    hands = "-----\n".join(hand_of(rules, game, seat) for seat in range(rules.players))
    return (
        f"Life tokens: {rules.max_errors - game['errors']}\n"
        f"Info tokens: {game['clues']}\n"
        f"Fireworks: {fireworks}\n"
        f"Hands:\n{hands}"
        f"Deck size: {game['deck']}\n"
    )


def hand_of(rules: Rules, game: Game, seat: int) -> str:
    slots = zip(game["hand"][seat], game["possible"][seat], game["named"][seat], strict=True)
    shape = rules.suits, rules.ranks
    return "".join(card_of(*slot, *shape) for slot in slots if slot[0] != NONE)


@cache
def card_of(card: int, possible: int, named: int, suits: int, ranks: int) -> str:
    """A card, then what its owner knows: suit and rank if told, and those it may have."""
    names = COLOURS[:suits] + RANKS[:ranks]
    cards, traits = members(possible, suits * ranks), members(named, suits + ranks)
    may_be = {i // ranks for i in cards} | {suits + i % ranks for i in cards}
    suit = next((names[i] for i in traits if i < suits), "X")
    rank = next((names[i] for i in traits if i >= suits), "X")
    known = "".join(names[i] for i in sorted(may_be))
    return f"{card_names(ranks)[card]} || {suit}{rank}|{known}\n"


@cache
def card_names(ranks: int) -> list[str]:
    return [colour + rank for colour in COLOURS for rank in RANKS[:ranks]]


def discards_of(rules: Rules, game: Game) -> list[str]:
    piles = zip(card_names(rules.ranks), game["discards"], strict=False)
    return [name for name, copies in piles for _ in range(copies)]


def members(bits: int, size: int) -> list[int]:
    return [i for i in range(size) if bits >> i & 1]


# --- What was met


def events(rules: Rules, game: Game) -> Iterator[str]:
    me = last_player(rules, game)
    if game["scored"][me] and RANKS[game["card"][me] % rules.ranks] == "5":
        yield "completed 5"
        if not game["regained"][me]:
            yield "completed 5 at full clues"
    if game["mover"] == OVER:
        final = game["turns_left"] < rules.players
        if final:
            yield "final round"
        if final and game["errors"] == rules.max_errors:
            yield "strike-out in the final round"
        if game["score"] == 25:
            yield "25 points"


def test_rare_events_were_met_in_these_games(capsys: pytest.CaptureFixture[str]) -> None:
    if sum(MET.values()) == 0:
        pytest.skip("the games are played by the tests above")
    with capsys.disabled():
        print("\nrare events met:", *(f"{MET[event]:10,}  {event}" for event in EVENTS), sep="\n")
    assert [event for event in EVENTS if MET[event] < GAMES / 1000] == []


# --- The canonical encoding


POSITIONS = sample(100_000, share=0.015)
ENCODED = [
    {"players": players, **options}
    for players in PLAYERS
    for options in ({}, {"max_errors": 2, "max_clues": 3}, {"colours": 3, "ranks": 4})
]


@pytest.mark.parametrize("options", ENCODED, ids=name_of)
def test_the_record_holds_the_canonical_encoding(options: dict[str, Any]) -> None:
    hanabi, rules = built(options)
    compared = 0
    for game, _, state in led(hanabi, rules, POSITIONS // len(ENCODED) // LENGTH + 2):
        seat = compared % rules.players
        assert state.observation_tensor(seat) == encoding(rules, game, seat)
        compared += 1
    assert compared >= POSITIONS / len(ENCODED)


def encoding(rules: Rules, game: Game, me: int) -> list[int]:
    """What a seat sees, as DeepMind's canonical encoder writes it."""
    seats = [(me + side) % rules.players for side in range(rules.players)]
    return [
        *(bit for seat in seats[1:] for bit in cards_of(rules, game, seat)),
        *(int(game["held"][seat] < rules.hand_size) for seat in seats),
        *board(rules, game),
        *discard_pile(rules, game),
        *last_turn(rules, game, me),
        *(bit for seat in seats for bit in knowledge(rules, game, seat)),
    ]


def cards_of(rules: Rules, game: Game, seat: int) -> list[int]:
    hand = game["hand"][seat][: rules.hand_size]
    return [bit for card in hand for bit in one_hot(card, rules.cards)]


def board(rules: Rules, game: Game) -> list[int]:
    dealt = rules.players * rules.hand_size
    return [
        *thermometer(game["deck"], sum(rules.copies) - dealt),
        *(bit for n in game["fireworks"][: rules.suits] for bit in one_hot(n - 1, rules.ranks)),
        *thermometer(game["clues"], rules.max_clues),
        *thermometer(rules.max_errors - game["errors"], rules.max_errors),
    ]


def discard_pile(rules: Rules, game: Game) -> list[int]:
    piles = zip(game["discards"], rules.copies, strict=False)
    return [bit for copies, most in piles for bit in thermometer(copies, most)]


def last_turn(rules: Rules, game: Game, me: int) -> list[int]:
    """Of a discard it is not said that a clue token came back."""
    seat = last_player(rules, game)
    did, told, trait = game["did"][seat], game["told"][seat], game["trait"][seat]
    by_colour = did == CLUE and trait < rules.suits
    kind = {NONE: NONE, PLAY: 0, DISCARD: 1, CLUE: 2 if by_colour else 3}[did]
    return [
        *one_hot(NONE if did == NONE else (seat - me) % rules.players, rules.players),
        *one_hot(kind, 4),
        *one_hot(NONE if told == NONE else (told - me) % rules.players, rules.players),
        *one_hot(trait, rules.traits),
        *(game["touched"][seat] >> slot & 1 for slot in range(rules.hand_size)),
        *one_hot(game["slot"][seat], rules.hand_size),
        *one_hot(game["card"][seat], rules.cards),
        game["scored"][seat],
        int(did == PLAY and game["regained"][seat]),
    ]


def knowledge(rules: Rules, game: Game, seat: int) -> list[int]:
    """Of every slot: the cards that it may hold, and suit and rank if they were told."""
    slots = zip(game["possible"][seat], game["named"][seat], strict=True)
    return [
        bit
        for possible, named in list(slots)[: rules.hand_size]
        for bit in (*binary(possible, rules.cards), *binary(named, rules.traits))
    ]


def one_hot(i: int, size: int) -> list[int]:
    return [int(j == i) for j in range(size)]


def thermometer(n: int, size: int) -> list[int]:
    return [int(j < n) for j in range(size)]


def binary(bits: int, size: int) -> list[int]:
    return [bits >> i & 1 for i in range(size)]
