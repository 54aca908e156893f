"""Nothing that a seat is given depends on cards that it cannot know.

An independent dealer (`dealers`) exchanges such cards; whatever the seat gets stays the same.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from dealers import swapped
from extremes import extreme_variants
from numpy.typing import NDArray
from positions import copied, events_of_round, legal, masked, replayed
from samples import WHOLE, sample

import hanamachi
from hanamachi.adapters.aec import AEC
from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.games.geishas_road.rules import INTRIGUE
from hanamachi.policies import load_policy
from hanamachi.policies.external.bot import Limits
from hanamachi.policies.external.protocol import move
from hanamachi.rendering.parts import render_part
from hanamachi.rendering.pixels import pixels
from hanamachi.sessions.events import Event, History, hear
from hanamachi.sessions.players import SeatedPlayer, turns_of
from hanamachi.sessions.prompts import turn_prompt
from hanamachi.sessions.session import Session
from hanamachi.sessions.states import state_of
from hanamachi.sessions.views import seat_picture, seat_text, seat_view
from hanamachi.sessions.worlds import Worlds

Games = NDArray[np.void]
Seats = NDArray[np.int64]  # (B,)
Show = Callable[[Variant, Games, Seats], list[bytes]]  # what each seat gets, (B,)

POSITIONS, SHOWN, VIEWED = sample(100_000, 0.001), sample(2_000, 0.005), sample(20_000, 0.001)
HEARD, PAINTED, EXTREMES = sample(200, 0.01), 20, sample(10, 0.1)
ONLY_WITH_OFFERS = {"gifts", "pairs"}  # whose hidden cards only Advanced has
DECISIONS = 80  # of each game, or of several
SEEDS = np.arange(4, dtype=np.uint64)  # of worlds
DTYPES = (np.float32, np.int8) if WHOLE else (np.float32,)


# --- Positions


class Pairs(NamedTuple):
    """Positions, and others that a seat cannot tell from them."""

    variant: Variant
    games: Games
    others: Games
    seats: Seats  # to move or waiting

    def first(self, count: int) -> "Pairs":
        return self.part(np.arange(len(self.seats)) < count)

    def going(self) -> "Pairs":
        """Those in which a seat is to move."""
        return self.part(self.games["mover"] != OVER)

    def part(self, chosen: NDArray[np.bool_]) -> "Pairs":
        return Pairs(self.variant, *(array[chosen] for array in self[1:]))


def pairs_of(variant: Variant, count: int) -> Pairs:
    """Decisions and ends of games, (count,), from games by chance and by the expert in turn."""
    rng = np.random.default_rng(0)
    games = np.concatenate([*played(variant, max(2 * count // DECISIONS, 4), rng)])
    games = games[rng.permutation(len(games))[:count]]
    seats = rng.integers(variant.seats, size=len(games))
    return Pairs(variant, games, swapped(variant, games, seats, rng), seats)


def played(variant: Variant, batch: int, rng: np.random.Generator) -> Iterator[Games]:
    """All games before each decision, (batch,)."""
    policies = [load_policy(name, variant) for name in ("random", "expert")]
    players = [SeatedPlayer(policy, variant, batch) for policy in policies]
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


@pytest.fixture(scope="module", params=hanamachi.VARIANTS)
def pairs(request: pytest.FixtureRequest) -> Pairs:
    return pairs_of(hanamachi.variant(request.param), POSITIONS)


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
    """All that PettingZoo gives an agent."""
    env, seen = AEC(variant.id, **variant.options), []
    for game, seat in enumerate(seats.tolist()):
        env.set_state(state_of(variant, games[game:]))
        agent = env.possible_agents[seat]
        arrays = [part.tobytes() for part in env.observe(agent).values()]
        rest = (env.infos[agent], env.rewards, env.terminations, env.truncations)
        seen.append(b"".join((*arrays, repr((*rest, env.agent_selection)).encode())))
    return seen


def seen(variant: Variant, games: Games, seats: Seats) -> list[bytes]:
    """The view, text and picture of the position, and all that was heard of the round."""
    session, found = Session(variant), []
    for game, seat in enumerate(seats.tolist()):
        session.begin(options={"state": state_of(variant, games[game:])})
        view = seat_view(session, seat)
        heard = heard_of_round(variant, games[game], seat)
        parts = (repr(view), repr(heard), seat_text(session, seat), seat_picture(session, seat))
        found.append("\n".join(parts).encode())
    return found


def heard_of_round(variant: Variant, game: np.record, seat: int) -> list[tuple[int | None, str]]:
    """Nothing in Hanabi, whose record does not hold the events."""
    heard, earlier = [], copied(game)
    for number in events_of_round(variant, game, earlier):
        event = Event(copied(earlier), int(earlier.mover), number, 0)
        heard += [(one.by, one.words) for one in hear(variant, event, seat)]
    return heard


def prompts(variant: Variant, games: Games, seats: Seats) -> list[bytes]:
    """All that a language model in the seat is told of the position."""
    session, told = Session(variant), []
    for game, seat in enumerate(seats.tolist()):
        session.begin(options={"state": state_of(variant, games[game:])})
        told.append(turn_prompt(session.history(), seat, "memory").encode())
    return told


def drawings(variant: Variant, games: Games, seats: Seats) -> list[bytes]:
    """All shapes of the picture for the seat, in order."""
    drawing, pictures = render_part(variant, "drawing"), zip(games, seats.tolist(), strict=True)
    drawn = [drawing(variant, game, seat) for game, seat in pictures]
    return [repr((canvas.across, canvas.down, canvas.shapes)).encode() for canvas in drawn]


def images(variant: Variant, games: Games, seats: Seats) -> list[bytes]:
    drawing, pictures = render_part(variant, "drawing"), zip(games, seats.tolist(), strict=True)
    return [pixels(drawing(variant, game, seat)).tobytes() for game, seat in pictures]


def lines_for_bots(variant: Variant, games: Games, seats: Seats) -> list[bytes]:
    """What a program that plays is asked."""
    histories = [History(variant, games[row : row + 1].copy()) for row in range(len(games))]
    return [move(*each, 0, Limits()) for each in zip(histories, seats.tolist(), strict=True)]


def worlds(variant: Variant, games: Games, seats: Seats) -> list[bytes]:
    """Worlds that a seat, to move or waiting, gets for the same seeds."""
    sampled = Worlds(variant, games, seats)
    return [sampled.sample(row, SEEDS).tobytes() for row in range(len(sampled))]


# --- It is the same


def unlike(show: Show, pairs: Pairs) -> int:
    """How many seats get something else in the other position."""
    variant, games, others, seats = pairs
    both = zip(show(variant, games, seats), show(variant, others, seats), strict=True)
    return sum(one != other for one, other in both)


def test_views_do_not_depend_on_what_a_seat_cannot_know(pairs: Pairs) -> None:
    assert unlike(views, pairs) == 0


def test_what_is_seen_and_heard_does_not_depend_on_it(pairs: Pairs) -> None:
    assert unlike(seen, pairs.going().first(VIEWED)) == 0


@pytest.mark.parametrize("show", [agents, drawings, lines_for_bots, prompts, worlds])
def test_what_is_said_drawn_and_imagined_does_not_depend_on_it(pairs: Pairs, show: Show) -> None:
    assert unlike(show, pairs.going().first(SHOWN)) == 0


@pytest.mark.skipif(not WHOLE, reason="pictures take long; their strokes are compared above")
def test_pixels_do_not_depend_on_it(pairs: Pairs) -> None:
    assert unlike(images, pairs.first(PAINTED)) == 0


@pytest.mark.parametrize("id", hanamachi.VARIANTS)
def test_views_do_not_depend_on_it_with_extreme_options_either(id: str) -> None:
    for variant in extreme_variants(id, EXTREMES):
        assert unlike(views, pairs_of(variant, SHOWN)) == 0


def test_words_of_the_others_moves_do_not_depend_on_it(pairs: Pairs) -> None:
    """A move, and one of the other position that looks the same to the seat: the same words."""
    variant, games, others, seats = pairs.part(pairs.games["mover"] != pairs.seats).going()
    rng, told = np.random.default_rng(0), 0
    for game, other, seat in zip(games, others, seats.tolist(), strict=True):
        if told == HEARD:
            break
        action = rng.choice(np.flatnonzero(legal(variant, game)))
        choices = np.flatnonzero(legal(variant, other))
        (look,) = after(variant, game, [action], seat)
        alike = choices[[seen == look for seen in after(variant, other, choices, seat)]]
        if len(alike):
            mover = int(game.mover)
            here = Event(game, mover, action, 0)
            # the same where it can be: in which order cards are played is heard, not seen
            same = action if action in alike else rng.choice(alike)
            there = Event(other, mover, same, 0)
            assert [*hear(variant, here, seat)] == [*hear(variant, there, seat)]
            told += 1
    assert told == HEARD


def after(variant: Variant, game: np.record, actions: Any, seat: int) -> list[bytes]:
    """What the seat sees of each of these actions, before chance, and of the round's end."""
    results = np.repeat(game[None], len(actions))
    for result, action in zip(results, actions, strict=True):
        kernels.apply_one(variant.rule_set, result, action)
    shown = views(variant, results, np.full(len(actions), seat))
    round_end = render_part(variant, "round_end")
    ends = [round_end(variant, game, int(action), seat) for action in actions]
    return [view + end.encode() for view, end in zip(shown, ends, strict=True)]


# --- It is in the private segments of the other seats' views


def test_private_segments_are_those_that_depend_on_what_another_seat_cannot_know(
    pairs: Pairs,
) -> None:
    layout = pairs.variant.observation
    changed = sum(
        of_others(pairs, pairs.games, ahead) != of_others(pairs, pairs.others, ahead)
        for ahead in range(1, pairs.variant.seats)
    ).any(0)
    found = [s.name for s in layout.segments if changed[layout.slice(s.name)].any()]
    if WHOLE:
        filled = [s.name for s in layout.segments if s.size and s.name in (layout.private or ())]
        assert set(filled) - set(found) <= ONLY_WITH_OFFERS
    assert set(found) <= set(layout.private or ())


def of_others(pairs: Pairs, games: Games, ahead: int) -> NDArray[np.float32]:
    """What the seat so far ahead of each pair's sees, (B, N)."""
    variant = pairs.variant
    seen = np.empty((len(games), variant.observation.size), np.float32)
    seats = (pairs.seats + ahead) % variant.seats
    kernels.observations(variant.rule_set, games, seats, seen)
    return seen


# --- The dealer does what it says


def test_the_dealer_changes_most_positions_and_keeps_all_cards(pairs: Pairs) -> None:
    variant, games, others, _ = pairs.going().first(SHOWN)
    counted = CARDS[variant.game.name]
    for game, other in zip(games, others, strict=True):
        assert counted(game) == counted(other)
    changed = [one.tobytes() != other.tobytes() for one, other in without_generators(games, others)]
    assert np.mean(changed) > 0.8


def without_generators(*batches: Games) -> Iterator[tuple[np.record, ...]]:
    plain = [games.copy() for games in batches]
    for games in plain:
        games["rng"] = 0
    return zip(*plain, strict=True)


def hanamikoji_cards(game: np.record) -> list[int]:
    """Items of each geisha that are hidden, held or have been on offer."""
    secrets = np.bincount(game.secret[game.secret >= 0], minlength=7)
    offered = game.gift.sum(0) + game.pairs.sum((0, 1))
    cards: NDArray[np.int64] = game.hand.sum(0) + game.trade_off.sum(0) + secrets + offered
    return (cards + game.unseen).tolist()


def geishas_road_cards(game: np.record) -> list[int]:
    """All cards, ascending; a card that lies in two places counts twice."""
    hidden = game.laid[:, INTRIGUE].ravel()
    hidden = hidden[(hidden >= 0) & (game.played_as[hidden] == 0)]
    waiting = np.setdiff1d(game.offer, hidden)  # an Intrigue card may lie there
    held = [card for card in (*game.hand.ravel(), *waiting) if card >= 0]
    deck = [card for card in range(30) if game.unseen >> card & 1]
    return sorted([*hidden.tolist(), *held, *np.flatnonzero(game.played_as), *deck])


def hanabi_cards(game: np.record) -> list[int]:
    """Copies of each card that are not in a firework."""
    held = np.bincount(game.hand[game.hand >= 0], minlength=len(game.unseen))
    copies: list[int] = (held + game.unseen + game.discards).tolist()
    return copies


CARDS: dict[str, Callable[[np.record], list[int]]] = {
    "hanamikoji": hanamikoji_cards,
    "geishas_road": geishas_road_cards,
    "hanabi": hanabi_cards,
}


def test_what_the_dealer_gives_is_reached_by_legal_play_and_can_be_played_on(pairs: Pairs) -> None:
    variant, _, others, _ = pairs.going().first(SHOWN)
    for game in others:  # Hanabi's record does not hold the events
        again = replayed(variant, game)
        again.rng = game.rng
        assert again.tobytes() == game.tobytes()
    masks = np.empty((len(others), variant.actions.size), np.int8)
    earned = np.empty((len(others), variant.seats), np.float32)
    decisions = np.empty(len(others), np.int64)
    kernels.play_out(variant.rule_set, others, masks, earned, decisions)
    assert (others["mover"] == OVER).all()


def test_a_hidden_card_in_a_view_would_be_found(pairs: Pairs) -> None:
    assert unlike(leaking, pairs) > 0.2 * len(pairs.seats)


def leaking(variant: Variant, games: Games, seats: Seats) -> list[bytes]:
    """The views, and a card that the seat cannot know."""
    owners = seats if variant.game.cooperative else 1 - seats
    hands = games["hand"][np.arange(len(games)), owners]
    cards = hands[:, 0] if variant.game.cooperative else hands.max(1)
    seen = views(variant, games, seats)
    return [view + card.tobytes() for view, card in zip(seen, cards, strict=True)]
