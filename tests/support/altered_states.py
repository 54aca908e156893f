"""Records of games that were altered by structure or by bits, and how to judge those accepted.

A fuzzer needs `RULE_SETS`, `altered_states` and `assert_playable`.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from positions import any_kind, legal

import hanamachi
from hanamachi.engine import kernels
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.game import Variant
from hanamachi.games.registry import variant as make_variant
from hanamachi.rendering.parts import render_part
from hanamachi.rendering.pixels import pixels
from hanamachi.sessions.session import Session
from hanamachi.sessions.states import State, state_of
from hanamachi.sessions.worlds import Worlds

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "hanamikoji": [
        {"cards": (2, 3, 4), "actions": ("secret", "gift"), "max_rounds": 2},
        {"cards": (1,) * 7, "actions": ("trade_off",), "max_rounds": 3, "starter": 1},
        {"cards": (2,), "actions": ("secret",), "max_rounds": 20, "limit_rule": "charm"},
        {"cards": (21,), "max_rounds": 3},
    ],
    "geishas_road:2021": [
        {"item_values": (1, 2, 3, 4, 5, 6), "start_marker": "random"},
        {"rounds_to_win": 1, "starter": 1, "loser_picks_starter": "before_deal"},
        {"rounds_to_win": 4, "light": (), "dark": (9,), "tiebreaker_alone_wins": False},
    ],
    "geishas_road:introductory": [{"rounds": 1, "starter": 0}, {"rounds": 6, "instant_win": 5}],
    "geishas_road:standard": [
        {"colours": 3, "actions": ("intrigue", "gift"), "rounds": 3},
        {"decline_collecting": True, "rounds": 5, "loser_picks_starter": "before_deal"},
    ],
    "geishas_road:advanced": [
        {"counteroffer_shares": "keep", "decline_collecting": True, "can_counter_hidden": False},
        {"counter_own": False},
        {
            "colours": 2,
            "item_values": (1, 2, 3, 4, 5, 6, 7, 8, 9),
            "actions": ("reveal", "intrigue", "gift"),
        },
    ],
    "hanabi:2p": [
        {"colours": 2, "ranks": 3, "hand_size": 2, "max_clues": 3, "max_errors": 1},
        {"colours": 1, "ranks": 1, "hand_size": 1, "max_clues": 1},
        {"starter": 1},
    ],
    "hanabi:3p": [
        {"multicolour": "ten", "allow_empty_hints": True, "strikeout_score": "fireworks"}
    ],
    "hanabi:4p": [{"colours": 1, "ranks": 2, "hand_size": 1, "starter": 0}],
    "hanabi:5p": [{"colours": 1, "hand_size": 2, "starter": 3}],
}
RULE_SETS = [
    *(make_variant(id) for id in hanamachi.VARIANTS),
    *(make_variant(id, **options) for id, every in OPTIONS.items() for options in every),
]
EXTREMES = (-128, -2, -1, 0, 1, 2, 63, 127, 2**31 - 1, -(2**31))
Row = NDArray[Any]  # (1,) a record


# --- Real play


def real_play(variant: Variant, seed: int) -> Iterator[Row]:
    """Every position of a game in which all choose at random, also while chance decides."""
    games, rng = variant.new(np.array([seed], np.uint64)), np.random.default_rng(seed)
    kernels.start_one(variant.rule_set, games[0])
    yield games.copy()
    while games["mover"][0] != OVER:
        if games["mover"][0] == CHANCE:
            outcome = kernels.draw_one(variant.rule_set, games[0])
            kernels.resolve_one(variant.rule_set, games[0], outcome)
        else:
            action = any_kind(variant, legal(variant, games[0]), rng)
            kernels.apply_one(variant.rule_set, games[0], action)
        yield games.copy()


POOLS: dict[str, NDArray[Any]] = {}  # by the digest of a variant


def pool(variant: Variant, games: int = 6) -> NDArray[Any]:
    """Positions of real play, (n,), most of them with a seat to move, and some ends."""
    if variant.digest not in POOLS:
        rows = [row for seed in range(games) for row in real_play(variant, seed)]
        kept = [row for i, row in enumerate(rows) if row["mover"][0] != CHANCE or i % 7 == 0]
        POOLS[variant.digest] = np.concatenate(kept)
    return POOLS[variant.digest]


# --- Alterations: each changes a record in place


def numbers(row: Row, rng: np.random.Generator) -> NDArray[Any]:
    """All entries of a random field, flat."""
    names = [name for name in row.dtype.names or () if name != "rng" and row[name].size]
    flat: NDArray[Any] = row[names[rng.integers(len(names))]].reshape(-1)
    return flat


def put(entries: NDArray[Any], value: float, rng: np.random.Generator) -> None:
    """Write a value into a random entry, cut to what it can hold."""
    if entries.dtype.kind != "f":
        bits = 8 * entries.dtype.itemsize
        value = np.array(int(value) % 2**bits, f"u{bits // 8}").view(entries.dtype)
    entries[rng.integers(len(entries))] = value


def one_number(row: Row, other: Row, rng: np.random.Generator) -> None:
    put(numbers(row, rng), int(rng.integers(-2, 9)), rng)


def extreme(row: Row, other: Row, rng: np.random.Generator) -> None:
    entries = numbers(row, rng)
    choices = (np.nan, np.inf, -np.inf, 0.5, 2.0) if entries.dtype.kind == "f" else EXTREMES
    put(entries, choices[rng.integers(len(choices))], rng)


def off_by_one(row: Row, other: Row, rng: np.random.Generator) -> None:
    entries = numbers(row, rng)
    place = rng.integers(len(entries))
    put(entries[place : place + 1], entries[place] + rng.choice((-1, 1)), rng)


def swapped(row: Row, other: Row, rng: np.random.Generator) -> None:
    """Two entries of one field change places."""
    entries = numbers(row, rng)
    i, j = rng.integers(len(entries), size=2)
    entries[i], entries[j] = entries[j], entries[i]


def swapped_across(row: Row, other: Row, rng: np.random.Generator) -> None:
    """Two entries of different fields change places."""
    one, two = numbers(row, rng), numbers(row, rng)
    if one.dtype == two.dtype:
        i, j = rng.integers(len(one)), rng.integers(len(two))
        one[i], two[j] = two[j].copy(), one[i].copy()


def transferred(row: Row, other: Row, rng: np.random.Generator) -> None:
    """One is taken away in one place and added in another, so that sums stay."""
    one, two = numbers(row, rng), numbers(row, rng)
    i, j = rng.integers(len(one)), rng.integers(len(two))
    put(one[i : i + 1], one[i] - 1.0, rng)
    put(two[j : j + 1], two[j] + 1.0, rng)


def copied_field(row: Row, other: Row, rng: np.random.Generator) -> None:
    """A field comes from another position, of this variant or another one."""
    names = row.dtype.names or ()
    name = names[rng.integers(len(names))]
    row[name] = other[name]


def half_copied(row: Row, other: Row, rng: np.random.Generator) -> None:
    """Some of all fields come from another position."""
    for name in row.dtype.names or ():
        if rng.random() < 0.5:
            row[name] = other[name]


def flipped_bits(row: Row, other: Row, rng: np.random.Generator) -> None:
    data = row.view(np.uint8)
    for place in rng.integers(len(data), size=rng.integers(1, 9)):
        data[place] ^= np.uint8(1 << rng.integers(8))


def another_position(row: Row, other: Row, rng: np.random.Generator) -> None:
    """All of another position; it may be of another variant."""
    row[:] = other


def noise(row: Row, other: Row, rng: np.random.Generator) -> None:
    data = row.view(np.uint8)
    data[:] = rng.integers(256, size=len(data))


Alteration = Callable[[Row, Row, np.random.Generator], None]
ALTERATIONS: dict[Alteration, float] = {
    one_number: 5,
    extreme: 3,
    off_by_one: 5,
    swapped: 5,
    swapped_across: 2,
    transferred: 4,
    copied_field: 4,
    half_copied: 1,
    flipped_bits: 5,
    another_position: 0.5,
    noise: 0.2,
}


def altered_states(
    variant: Variant, rng: np.random.Generator, count: int
) -> Iterator[tuple[str, Row]]:
    """So many records, (1,) each, altered from real positions, and how, in a few words."""
    same, kinds = pool(variant), list(ALTERATIONS)
    relatives = [v for v in RULE_SETS if v.game is variant.game]
    chances = np.array(list(ALTERATIONS.values())) / sum(ALTERATIONS.values())
    made = 0
    while made < count:
        original = same[[rng.integers(len(same))]]
        donors = same if rng.random() < 0.5 else pool(relatives[rng.integers(len(relatives))])
        row, other = original.copy(), donors[[rng.integers(len(donors))]]
        chosen = [kinds[i] for i in rng.choice(len(kinds), rng.choice((1, 1, 1, 2, 3)), p=chances)]
        for alter in chosen:
            alter(row, other, rng)
        if row.tobytes() != original.tobytes():
            made += 1
            yield " ".join(alter.__name__ for alter in chosen), row


def as_state(variant: Variant, row: Row) -> State:
    """The record as a state of the variant, from wherever it came."""
    return replace(state_of(variant, row), data=row.tobytes())


# --- What holds for every position that is accepted


def assert_playable(variant: Variant, state: State, seed: int, picture: bool = False) -> None:
    """It can be seen, redealt and rewound, and played to the end at random by the rules."""
    session, rng = Session(variant), np.random.default_rng(seed)
    session.begin(options={"state": state})
    assert_shown(variant, session.games, picture)
    decisions = 0
    while session.mover != OVER:
        if decisions % 5 == 0:
            assert_redealt(variant, session.games)
        mask = session.observe(session.mover)[1]
        assert mask.any()
        session.step(any_kind(variant, mask, rng))
        decisions += 1
        assert_cards_add_up(variant, session.games[0])
        assert kernels.is_valid(variant.rule_set_array, session.games)
    length = variant.length
    assert decisions <= length.decisions * (length.rounds or np.inf)
    assert_shown(variant, session.games, False)
    assert_rewards(variant, session)


def assert_shown(variant: Variant, games: NDArray[Any], picture: bool) -> None:
    layout = variant.observation
    for seat in range(variant.seats):
        seen = np.full((1, layout.size), np.nan, np.float32)
        kernels.observations(variant.rule_set, games, np.array([seat]), seen)
        assert (seen >= layout.low).all()
        assert (seen <= layout.high).all()
    text, drawing = render_part(variant, "text"), render_part(variant, "drawing")
    assert text(variant, games[0], None)
    assert text(variant, games[0], 0)
    if picture:
        assert pixels(drawing(variant, games[0])).ndim == 3


def assert_redealt(variant: Variant, games: NDArray[Any]) -> None:
    """Worlds are positions too, and the round that led to each can be played again."""
    for seat in range(variant.seats):
        seeds = np.arange(2, dtype=np.uint64)
        for world in np.split(Worlds(variant, games, [seat]).sample(0, seeds), 2):
            assert kernels.is_valid(variant.rule_set_array, world)
            count = kernels.count_others_decisions(variant.rule_set, world, seat)
            before, actions = np.empty((1, count), games.dtype), np.empty((1, count), np.int64)
            kernels.retrace(variant.rule_set, world, seat, before, actions)
            assert (actions >= 0).all()


def assert_rewards(variant: Variant, session: Session) -> None:
    rewards = session.games["rewards"][0, : variant.seats].tolist()
    if variant.game.cooperative:
        assert 0 <= session.games["score"][0] <= variant.best_score
        assert len(set(rewards)) == 1
        assert abs(rewards[0]) <= variant.best_score
    else:
        assert sorted(rewards) in ([-1, 1], [0, 0])


def assert_cards_add_up(variant: Variant, game: np.record) -> None:
    """Counted in its own way for each game, apart from the rules."""
    {"hanabi": of_hanabi, "hanamikoji": of_hanamikoji, "geishas_road": of_geishas_road}[
        variant.game.name
    ](variant, game)


def of_hanabi(variant: Variant, game: np.record) -> None:
    rule_set = variant.rule_set
    cards, ranks = int(rule_set.cards), int(rule_set.ranks)
    held = np.bincount(game.hand[game.hand >= 0], minlength=cards)
    played = [game.fireworks[card // ranks] > card % ranks for card in range(cards)]
    counts = held + game.discards[:cards] + game.unseen[:cards] + played
    assert counts.tolist() == rule_set.copies[:cards].tolist()
    assert game.deck == game.unseen.sum()


def of_hanamikoji(variant: Variant, game: np.record) -> None:
    if game.round_number == 0:
        return
    counts = game.unseen + game.hand.sum(0) + game.trade_off.sum(0) + game.table.sum(0)
    for seat in range(2):
        if game.mover != OVER and game.secret[seat] >= 0:
            counts[game.secret[seat]] += 1
        if game.gift_taken[seat] < 0:
            counts += game.gift[seat]
        if game.pair_taken[seat] < 0:
            counts += game.pairs[seat].sum(0)
    assert counts.tolist() == variant.rule_set.cards.tolist()


def of_geishas_road(variant: Variant, game: np.record) -> None:
    if game.round_number == 0:
        return
    deck = [card for card in range(30) if game.unseen >> card & 1]
    played = np.flatnonzero(game.played_as).tolist()
    lying = [*game.hand.ravel().tolist(), *game.offer.tolist()]
    kept = game.laid[:, 1].ravel().tolist()  # by Intrigue; the first of each two is played last
    places = [*deck, *played, *(card for card in lying if card >= 0)]
    places += [card for card in kept if card >= 0 and card not in places]
    assert sorted(places) == list(range(variant.rule_set.cards))
