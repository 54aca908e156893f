"""Nothing that a seat is given depends on cards that it cannot know.

An independent dealer (`dealers`) exchanges such cards; whatever the seat gets stays the same.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from dealers import swapped
from extremes import extreme_variants
from numpy.typing import NDArray
from positions import copied, legal, masked, outcomes
from samples import WHOLE, sample

import hanamachi
from hanamachi.adapters.aec import AEC
from hanamachi.engine import kernels
from hanamachi.engine.game import CHANCE, OVER, Variant
from hanamachi.games.geishas_road.rules import INTRIGUE
from hanamachi.policies import load_policy
from hanamachi.sessions.players import SeatedPlayer, turns_of
from hanamachi.sessions.worlds import Worlds
from hanamachi.training.cli import play
from hanamachi.training.cli.play import Contest, Listener

Games = NDArray[np.void]
Seats = NDArray[np.int64]  # (B,)
Show = Callable[[Variant, Games, Seats], list[bytes]]  # what each seat gets, (B,)

IDS = list(hanamachi.VARIANTS)
POSITIONS, SHOWN, HEARD, DRAWN = (
    sample(100_000, 0.001),
    sample(2_000, 0.005),
    sample(200, 0.02),
    sample(20, 0.05),
)
SEEDS = np.arange(4, dtype=np.uint64)  # of worlds
EXTREMES = sample(10, 0.1)
DECISIONS = 80  # of each game, or of several
DTYPES = (np.float32, np.int8) if WHOLE else (np.float32,)


# --- Positions


def positions(variant: Variant, count: int, seed: int) -> Games:
    """Decisions and ends of games, (count,), from games by chance and by the expert in turn."""
    rng = np.random.default_rng(seed)
    games = np.concatenate([*played(variant, max(2 * count // DECISIONS, 4), rng)])
    return games[rng.permutation(len(games))[:count]]


def played(variant: Variant, batch: int, rng: np.random.Generator) -> Iterator[Games]:
    """All games before each decision, (batch,)."""
    players = [
        SeatedPlayer(load_policy(name, variant.id, **variant.options), variant, batch)
        for name in ("random", "expert")
    ]
    games = variant.new(rng.integers(1 << 63, size=batch, dtype=np.uint64))
    kernels.reset(variant.rule_set, games)
    for _ in range(DECISIONS):
        yield games.copy()
        over = np.flatnonzero(games["mover"] == OVER)
        fresh = games[over]
        kernels.reset(variant.rule_set, fresh)
        games[over] = fresh
        for i, player in enumerate(players):
            player.forget(over)
            turns = turns_of(variant, games, np.arange(i, batch, len(players)))
            turns.step(games, player.act(turns, rng))


def seats_for(variant: Variant, games: Games, seed: int) -> Seats:
    """Any seat, to move or waiting."""
    return np.random.default_rng(seed).integers(variant.seats, size=len(games))


def pairs(variant: Variant, count: int, seed: int = 0) -> tuple[Games, Games, Seats]:
    """Positions, a seat for each, and positions that the seats cannot tell from them."""
    games = positions(variant, count, seed)
    seats = seats_for(variant, games, seed)
    return games, swapped(variant, games, seats, np.random.default_rng(seed)), seats


# --- What a seat gets


def views(variant: Variant, games: Games, seats: Seats) -> list[bytes]:
    """Observations of both types, and the mask, which only the mover has."""
    masks = masked(variant, games)
    masks[games["mover"] != seats] = 0
    rows = [masks]
    for dtype in DTYPES:
        out = np.empty((len(games), variant.observation.size), dtype)
        kernels.observations(variant.rule_set, games, seats, out)
        rows.append(out)
    return [b"".join(row.tobytes() for row in one) for one in zip(*rows, strict=True)]


def agents(variant: Variant, games: Games, seats: Seats) -> list[bytes]:
    """All that PettingZoo gives an agent: `last` if it is selected, else `observe` and the info."""
    env, seen = AEC(variant.id, **variant.options), []
    for game, seat in zip(games, seats, strict=True):
        if game["mover"] != OVER:
            env.set_state(game)
            agent = env.possible_agents[seat]
            last = env.last() if agent == env.agent_selection else env.observe(agent)
            seen.append(told(last, env.infos[agent], env.agent_selection, env.rewards))
    return seen


def told(*things: Any) -> bytes:
    """Anything, arrays to the byte."""
    with np.printoptions(threshold=1 << 20):
        return repr(things).encode()


def texts(variant: Variant, games: Games, seats: Seats) -> list[bytes]:
    """The table as text, and all that a human in the seat reads before a move."""
    show, contest = variant.game.render().text, contest_of(variant)
    seen = []
    for game, seat in zip(games, seats, strict=True):
        words = [show(variant, game, seat)]
        if game["mover"] == seat:
            sit_down(contest, game, seat)
            words += [contest.table(), play.overview(contest), *contest.choices().values()]
        seen.append("\n".join(words).encode())
    return seen


def contest_of(variant: Variant) -> Contest:
    return Contest(variant, load_policy("random", variant.id, **variant.options), seed=0)


def sit_down(contest: Contest, game: np.void, seat: int) -> None:
    """Let the human be in this seat, with this game on the table."""
    contest.session.begin(options={"state": game})
    contest.seat = contest.human.seat = int(seat)


def drawings(variant: Variant, games: Games, seats: Seats) -> list[bytes]:
    """All strokes of the picture for the seat, in order."""
    render: Any = variant.game.render()
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(render, "Canvas", Strokes)
        for game, seat in zip(games, seats, strict=True):
            seen.append(render.image(variant, game, seat))
    return seen


class Strokes:
    """In place of a canvas: writes down what is drawn."""

    def __init__(self, *size: Any) -> None:
        self.strokes: list[Any] = [size]

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *where, **how: self.strokes.append((name, where, how))

    def pixels(self) -> bytes:
        return repr(self.strokes).encode()


def images(variant: Variant, games: Games, seats: Seats) -> list[bytes]:
    draw = variant.game.render().image
    return [draw(variant, game, seat).tobytes() for game, seat in zip(games, seats, strict=True)]


def worlds(variant: Variant, games: Games, seats: Seats) -> list[bytes]:
    """Worlds that a seat, to move or waiting, gets for the same seeds."""
    going = games["mover"] != OVER
    sampled = Worlds(variant, games[going], seats[going])
    return [sampled.sample(row, SEEDS).tobytes() for row in range(len(sampled))]


# --- It is the same


def unlike(variant: Variant, show: Show, pair: tuple[Games, Games, Seats]) -> int:
    """How many seats get something else in the other position."""
    games, others, seats = pair
    both = zip(show(variant, games, seats), show(variant, others, seats), strict=True)
    return sum(one != other for one, other in both)


every_variant = pytest.mark.parametrize("id", IDS)


@every_variant
def test_views_do_not_depend_on_what_a_seat_cannot_know(id: str) -> None:
    variant = hanamachi.variant(id)
    assert unlike(variant, views, pairs(variant, POSITIONS)) == 0


@every_variant
def test_views_do_not_depend_on_it_with_extreme_options_either(id: str) -> None:
    for variant in extreme_variants(id, EXTREMES):
        assert unlike(variant, views, pairs(variant, SHOWN)) == 0


@pytest.mark.parametrize("show", [agents, texts, drawings, worlds])
@every_variant
def test_what_is_said_drawn_and_imagined_does_not_depend_on_it(id: str, show: Show) -> None:
    variant = hanamachi.variant(id)
    assert unlike(variant, show, pairs(variant, SHOWN)) == 0


@every_variant
def test_pixels_do_not_depend_on_it(id: str) -> None:
    variant = hanamachi.variant(id)
    assert unlike(variant, images, pairs(variant, DRAWN)) == 0


@every_variant
def test_words_of_the_others_moves_do_not_depend_on_it(id: str) -> None:
    """A move, and one of the other position that shows the seat the same, are told alike."""
    variant, rng = hanamachi.variant(id), np.random.default_rng(0)
    games, others, seats = pairs(variant, HEARD)
    listens = (games["mover"] != seats) & (games["mover"] != OVER)
    told = 0
    for game, other, seat in zip(games[listens], others[listens], seats[listens], strict=True):
        action = rng.choice(np.flatnonzero(masked(variant, game[None])[0]))
        here, there = (Listener(variant, one[None], int(seat)) for one in (game, other))
        look = after(variant, game, [action], seat)[0]
        choices = np.flatnonzero(masked(variant, other[None])[0])
        same = np.array([look == seen for seen in after(variant, other, choices, seat)])
        alike = choices[same]
        if len(alike):
            assert here.words(action) == there.words(rng.choice(alike))
            told += 1
    assert told > 0


def after(variant: Variant, game: np.void, actions: Any, seat: int) -> list[bytes]:
    """What the seat sees of each of these actions, before chance, and of the round's end."""
    results = np.repeat(game[None], len(actions))
    for result, action in zip(results, actions, strict=True):
        kernels.apply_one(variant.rule_set, result, action)
    shown = views(variant, results, np.full(len(actions), seat))
    ends = [play.round_end(variant, game, int(action), int(seat)) for action in actions]
    return [view + end.encode() for view, end in zip(shown, ends, strict=True)]


# --- The dealer does what it says


def cards_of(variant: Variant, game: np.void) -> Any:
    """Every card where it lies: the deck, the hands, the table."""
    if variant.game.name == "hanabi":
        return hanabi_cards(game)
    return hanamikoji_cards(game) if variant.game.name == "hanamikoji" else road_cards(game)


def hanabi_cards(game: np.void) -> list[int]:
    hands = game["hand"][game["hand"] >= 0]
    return (np.bincount(hands, minlength=30) + game["unseen"] + game["discards"]).tolist()


def hanamikoji_cards(game: np.void) -> list[int]:
    """The items that have been on offer lie on the table."""
    secrets = np.bincount(game["secret"][game["secret"] >= 0], minlength=7)
    offered = game["gift"].sum(0) + game["pairs"].sum((0, 1))
    return (
        game["hand"].sum(0) + game["trade_off"].sum(0) + secrets + offered + game["unseen"]
    ).tolist()


def road_cards(game: np.void) -> list[int]:
    waiting = [*game["hand"].ravel(), *game["offer"], *game["laid"][:, INTRIGUE].ravel()]
    played = np.flatnonzero(game["played_as"] > 0)
    deck = [card for card in range(30) if game["unseen"] >> card & 1]
    return sorted({int(card) for card in waiting if card >= 0} | {*played.tolist(), *deck})


@every_variant
def test_the_dealer_changes_most_positions_and_conserves_cards(id: str) -> None:
    variant = hanamachi.variant(id)
    games, others, _ = pairs(variant, SHOWN)
    changed = without_generator(games) != without_generator(others)
    assert changed[games["mover"] != OVER].mean() > 0.9
    for game, other in zip(games, others, strict=True):
        assert cards_of(variant, game) == cards_of(variant, other)


def without_generator(games: Games) -> NDArray[np.void]:
    plain = games.copy()
    plain["rng"] = 0
    return np.frombuffer(plain.tobytes(), np.dtype((np.void, plain.itemsize)))


@every_variant
def test_what_the_dealer_gives_is_reached_by_legal_play_and_can_be_played_on(id: str) -> None:
    variant = hanamachi.variant(id)
    _, others, _ = pairs(variant, SHOWN)
    going = others[others["mover"] != OVER]
    for game in going:
        assert replayed(variant, game).tobytes() == game.tobytes()
    masks = np.empty((len(going), variant.actions.size), np.int8)
    earned, decisions = np.empty((len(going), variant.seats)), np.empty(len(going), np.int64)
    kernels.play_out(variant.rule_set, going, masks, earned, decisions)
    assert (going["mover"] == OVER).all()


def replayed(variant: Variant, game: np.void) -> np.void:
    """The round again, with every event allowed by the rules; Hanabi's record holds no history."""
    earlier = copied(game)
    kernels.rewind_one(variant.rule_set, earlier)
    while (event := kernels.next_event_of(variant.rule_set, game, earlier)) >= 0:
        if earlier.mover == CHANCE:
            assert event in dict(outcomes(variant, earlier))
            kernels.resolve_one(variant.rule_set, earlier, event)
        else:
            assert legal(variant, earlier)[event]
            kernels.apply_one(variant.rule_set, earlier, event)
    earlier.rng = game["rng"]
    return earlier


def leaking(variant: Variant, games: Games, seats: Seats) -> list[bytes]:
    """The views, and one number more: a hidden card."""
    rows = np.arange(len(games))
    own = games["hand"][rows, seats, 0]
    foes = games["hand"][rows, 1 - seats].max(1) if variant.seats == 2 else own
    hidden = own if variant.game.cooperative else foes
    return [
        view + card.tobytes()
        for view, card in zip(views(variant, games, seats), hidden, strict=True)
    ]


@every_variant
def test_a_hidden_card_in_a_view_would_be_found(id: str) -> None:
    variant = hanamachi.variant(id)
    assert unlike(variant, leaking, pairs(variant, POSITIONS)) > 0.2 * POSITIONS
