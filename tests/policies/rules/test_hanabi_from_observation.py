"""The table that an observation of Hanabi is laid out as, now and earlier, and sets of cards."""

import numpy as np
import pytest
from hanabi_positions import noise, seeing_actions, set_up
from positions import legal

from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies.rules import hanabi_from_observation as seen

pytestmark = pytest.mark.uncompiled

AS_IT_WAS = ("fireworks", "discards", "deck", "score", "clues", "errors")
AS_IT_IS = ("possible", "named", "did", "slot", "card", "scored", "regained", "trait", "touched")


def turned(values, seats, mover):
    """What belongs to each seat, from the mover's point of view."""
    return np.roll(values[:seats], -mover, axis=0)


def tables_seen_by(variant, states, mover):
    """What the mover makes of his observation: before each seat's last turn, and now."""
    observations = np.zeros((1, variant.observation.size), np.float32)
    kernels.observations(variant.rule_set, states, np.array([mover]), observations)
    tables = variant.new(np.zeros(variant.seats + 1, np.uint64))
    seen.lay_out_turns(variant.rule_set, observations[0], tables)
    return tables


def decisions(variant, seed):
    """All records of a game up to each decision."""
    rng, seeds = np.random.default_rng(6), np.array([seed], np.uint64)
    states, past = variant.new(seeds), []
    kernels.reset(variant.rule_set, states)
    while states["mover"][0] != OVER:
        past.append(states[0].copy())
        yield past
        masks = legal(variant, states[0])[None]
        kernels.step(
            variant.rule_set, states, seeing_actions(variant, states, masks, noise(seeds), rng)
        )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("game", ["hanabi:2p", "hanabi:5p:multicolour"])
def test_a_table_is_laid_out_as_it_is_and_as_it_was_before_each_seats_last_turn(game, seed):
    variant = make_variant(game)
    for past in decisions(variant, seed):
        now, mover = past[-1], int(past[-1]["mover"])
        tables = tables_seen_by(variant, np.array([now]), mover)
        for field in AS_IT_IS:
            laid_out = tables[variant.seats][field][: variant.seats]
            np.testing.assert_array_equal(laid_out, turned(now[field], variant.seats, mover), field)
        for table, was in zip(tables[::-1], past[::-1], strict=False):
            for field in AS_IT_WAS:
                np.testing.assert_array_equal(table[field], was[field], field)
            others = turned(was["hand"], variant.seats, mover)[1:]
            np.testing.assert_array_equal(table["hand"][1 : variant.seats], others)


# --- Sets of cards


def position():
    """Black's 2s are gone, and of green and blue all that is left lies in the deck."""
    hands = ["red1 red2 black1 black3 yellow1", "red1 red3 yellow5 green1 blue3"]
    return set_up("hanabi:2p", hands, "red4 red5 yellow2 yellow3 blue2", [0, 1, 0, 5, 1])


def names(table, cards):
    return {table.name(card) for card in range(table.rule_set.cards) if cards >> card & 1}


def test_cards_that_continue_a_firework_come_next():
    table = position()
    cards = seen.next_cards(table.rule_set, table.game.fireworks)
    assert names(table, cards) == {"red1", "black2", "yellow1", "blue2"}


def test_trash_is_what_is_shown_or_cut_off():
    table = position()
    useful = seen.everything(table.rule_set) & ~seen.trash(table.rule_set, table.game)
    assert names(table, useful) == {
        *("red1", "red2", "red3", "red4", "red5", "yellow1", "yellow2", "yellow3", "blue2", "blue3")
    }


def test_a_useful_card_of_which_one_copy_is_left_is_critical():
    table = position()
    critical = names(table, seen.critical(table.rule_set, table.game))
    assert critical == {
        *("red2", "red3", "red4", "red5", "yellow1", "yellow2", "yellow3", "blue2", "blue3")
    }


def test_pace_counts_the_turns_that_need_not_score():
    table = position()
    assert seen.pace(table.rule_set, table.game) == 5 + 2 - 10


def test_a_seat_may_hold_what_is_unseen_and_what_it_has():
    table = position()
    tables = tables_seen_by(table.variant, np.array([table.game]), mover=0)
    deck = {"red4", "red5", "yellow2", "yellow3", "blue2"}
    mine = {"red1", "red2", "black1", "black3", "yellow1"}
    theirs = {"red1", "red3", "yellow5", "green1", "blue3"}
    for seat, own in ((0, set()), (1, theirs)):
        cards = seen.may_hold(table.rule_set, tables[2], seat)
        assert names(table, cards) == deck | mine | own


def test_a_share_counts_copies():
    table = position()
    cards = 1 << table.card("red1") | 1 << table.card("red2")
    copies = np.zeros(table.rule_set.cards, np.int8)
    copies[[table.card("red1"), table.card("red2")]] = 3, 1
    assert seen.share(table.rule_set, copies, cards, 1 << table.card("red1")) == 3 / 4
    assert seen.share(table.rule_set, copies, 0, cards) == 0
