"""The rule policies of Hanabi: legal everywhere, blind to hidden cards, as strong as they say."""

import numpy as np
import pytest
from hanabi_positions import set_up
from samples import WHOLE, sample

from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.engine.threads import DECISIONS_PER_THREAD
from hanamachi.errors import UserError
from hanamachi.games.hanabi.rules import CLUE, NONE
from hanamachi.games.registry import variant
from hanamachi.policies import load_policy
from hanamachi.policies.rules import hanabi_hat
from hanamachi.policies.sampling import sample as draw

CASES = {
    "two": ("hanabi:2p", {}),
    "three": ("hanabi:3p", {}),
    "four": ("hanabi:4p", {}),
    "five": ("hanabi:5p", {}),
    "multicolour": ("hanabi:2p:multicolour", {}),
    "five multicolour": ("hanabi:5p:multicolour", {}),
    "ten multicolour": ("hanabi:4p", {"multicolour": "ten"}),
    "empty clues": ("hanabi:3p", {"allow_empty_hints": True}),
    "small": ("hanabi:2p", {"colours": 2, "ranks": 3, "hand_size": 3, "max_clues": 3}),
    "one of everything": (
        "hanabi:2p",
        {"colours": 1, "ranks": 1, "hand_size": 1, "max_clues": 1, "max_errors": 1},
    ),
    "one rank": ("hanabi:4p", {"ranks": 1, "hand_size": 3, "max_errors": 1}),
    "three with two cards": ("hanabi:3p", {"colours": 2, "ranks": 3, "hand_size": 2}),
    "no deck": (
        "hanabi:4p",
        {"colours": 2, "ranks": 2, "hand_size": 2, "strikeout_score": "fireworks"},
    ),
}
NAMES = ("greedy", "expert", "hat")
PAIRS = [
    (name, case)
    for name in NAMES
    for case, (game, _) in CASES.items()
    if name != "hat" or game[7] in "345"
]
BATCH = sample(24, 1)


class Play:
    """Games between the seats of one policy; each seat has a memory of its own."""

    def __init__(self, policy, games, seed):
        self.policy, self.rule_set = policy, policy.variant
        seeds = np.random.default_rng(seed).integers(0, 2**63, games)
        self.states = self.rule_set.new(seeds.astype(np.uint64))
        kernels.reset(self.rule_set.rule_set, self.states)
        memory = policy.initial_memory(games * self.rule_set.seats)
        self.memory = memory.reshape(games, self.rule_set.seats, -1)

    @property
    def going(self):
        return np.flatnonzero(self.states["mover"] != OVER)

    def step(self, rows, actions):
        states = self.states[rows]
        kernels.step(self.rule_set.rule_set, states, actions)
        self.states[rows] = states

    def decide(self):
        """Observations, masks and memories of the movers, and what the policy makes of them."""
        rows = self.going
        states = self.states[rows]
        seats = states["mover"].astype(np.int64)
        given = *seen_by(self.rule_set, states, seats), self.memory[rows, seats]
        chances, _, self.memory[rows, seats] = self.policy.distribution(*given)
        return given, chances

    def finish(self):
        """Play on to the end, always the most likely action; returns scores and strike-outs."""
        while self.going.size:
            rows = self.going
            _, chances = self.decide()
            self.step(rows, chances.argmax(1))
        return self.states["score"], self.states["errors"] == self.rule_set.rule_set.max_errors


def seen_by(variant, states, seats):
    observations = np.zeros((len(states), variant.observation.size), np.float32)
    masks = np.zeros((len(states), variant.actions.size), np.int8)
    kernels.observations(variant.rule_set, states, seats, observations)
    kernels.masks(variant.rule_set, states, masks)
    return observations, masks


def moments(policy, games=BATCH, seed=0):
    """(Play, what the policy was given, its chances) at every decision of its games.

    Every fourth action is drawn from all legal ones, so that games go astray.
    """
    play, rng = Play(policy, games, seed), np.random.default_rng(seed)
    while play.going.size:
        rows = play.going
        given, chances = play.decide()
        yield play, rows, given, chances
        masks = given[1]
        astray = rng.random((len(rows), 1)) < 0.25
        chances = np.where(astray, masks / masks.sum(1, keepdims=True), chances)
        play.step(rows, draw(chances, rng.random(len(rows))))


# --- Distributions and memories


@pytest.mark.parametrize(("name", "case"), PAIRS)
def test_probabilities_cover_legal_actions_and_sum_to_one(name, case):
    game, options = CASES[case]
    policy = load_policy(name, game=game, **options)
    for _, _, (_, masks, _), chances in moments(policy):
        assert chances.dtype == np.float32
        assert (chances >= 0).all()
        assert (chances[masks == 0] == 0).all()
        np.testing.assert_allclose(chances.sum(1), 1, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_independent_of_each_other_in_choice_and_memory(name):
    policy = load_policy(name, game="hanabi:4p")
    rng = np.random.default_rng(1)
    for _, _, given, _ in moments(policy):
        before = [array.copy() for array in given]
        chances, _, memory = policy.distribution(*given)
        order = rng.permutation(len(chances))
        shuffled, _, memories = policy.distribution(*(array[order] for array in given))
        np.testing.assert_array_equal(shuffled, chances[order])
        np.testing.assert_array_equal(memories, memory[order])
        alone, _, own = policy.distribution(*(array[:1] for array in given))
        np.testing.assert_array_equal(alone[0], chances[0])
        np.testing.assert_array_equal(own[0], memory[0])
        for array, old in zip(given, before, strict=True):
            np.testing.assert_array_equal(array, old)


@pytest.mark.parametrize("name", NAMES)
def test_a_large_batch_on_threads_decides_as_a_small_one(name):
    policy = load_policy(name, game="hanabi:5p")
    given, chances = Play(policy, 2 * DECISIONS_PER_THREAD + 1, seed=4).decide()
    parts = [policy.distribution(*(array[i::3] for array in given))[0] for i in range(3)]
    for i, part in enumerate(parts):
        np.testing.assert_array_equal(part, chances[i::3])


@pytest.mark.parametrize(
    ("name", "game"),
    [
        *((name, "hanabi:4p:multicolour") for name in NAMES),
        ("expert", "hanabi:2p"),
        ("hat", "hanabi:3p"),
    ],
)
def test_what_a_player_cannot_see_does_not_matter(name, game):
    policy = load_policy(name, game=game)
    variant, rng = policy.variant, np.random.default_rng(3)
    for play, rows, (_, _, memory), chances in moments(policy, games=6):
        for i in range(0, len(rows), 3):
            state = play.states[rows[i]]
            seat = int(state["mover"])
            others = variant.new(rng.integers(0, 2**63, 4).astype(np.uint64))
            kernels.worlds(variant.rule_set, np.array([state]), seat, others)
            seen = seen_by(variant, others, np.full(4, seat))
            again, _, kept = policy.distribution(*seen, np.repeat(memory[i : i + 1], 4, 0))
            np.testing.assert_array_equal(again, np.tile(chances[i], (4, 1)))
            np.testing.assert_array_equal(kept, np.tile(play.memory[rows[i], seat], (4, 1)))


# --- What they do


class TwoPlayers:
    """A table of two that is told turn by turn what each does, with a memory for each."""

    def __init__(self, name, hands, deck, fireworks, **state):
        self.policy = load_policy(name, game="hanabi:2p", starter=0)
        self.table = set_up("hanabi:2p", hands, deck, fireworks, {"starter": 0}, **state)
        self.memory = [self.policy.initial_memory(1) for _ in range(2)]

    def choices(self):
        """In words, all that the mover may do."""
        variant, game = self.policy.variant, self.table.game
        mover = int(game.mover)
        given = seen_by(variant, np.array([game]), np.array([mover]))
        chances, _, self.memory[mover] = self.policy.distribution(*given, self.memory[mover])
        return [variant.actions.describe(action, game) for action in np.flatnonzero(chances[0])]


HANDS = ["red4 black4 yellow4 green4 blue4", "red4 black4 yellow4 green2 blue4"]
DECK = "red5 black5 yellow5 green5 blue5 red3 black3 yellow3 green3 blue3"
BUILT = [1, 1, 1, 1, 1]


@pytest.mark.parametrize("name", ["greedy", "expert"])
def test_a_playable_card_is_clued(name):
    told = TwoPlayers(name, HANDS, DECK, BUILT).choices()
    assert set(told) <= {"tell player 1 about 2s", "tell player 1 about green"}


def test_expert_plays_the_focus_of_a_clue_that_greedy_still_doubts():
    for name, plays in (("expert", True), ("greedy", False)):
        players = TwoPlayers(name, HANDS, DECK, BUILT)
        players.table.play("tell player 1 about green")
        assert (players.choices() == ["play card 4"]) == plays


def test_expert_saves_a_critical_card_on_the_chop_and_its_owner_keeps_it():
    hands = ["red4 black4 yellow4 green4 blue4", "green5 red4 black4 yellow4 blue4"]
    players = TwoPlayers("expert", hands, "green2 green3 red3 red5", BUILT, clues=4)
    assert players.choices() == ["tell player 1 about 5s"]
    players.table.play("tell player 1 about 5s")
    assert not {"play card 1", "discard card 1"} & set(players.choices())


def test_expert_forgets_what_a_card_meant_once_it_is_played():
    players = TwoPlayers("expert", HANDS, DECK, BUILT)
    players.table.play("tell player 1 about green")
    players.choices()
    players.table.play("play card 4")
    players.table.draw("green3")
    players.table.play("tell player 1 about 4s")
    players.choices()
    meant = players.memory[1].reshape(2, 5)
    assert meant[0].tolist() != [0] * 5
    assert meant[0, 4] == 0


def test_greedy_discards_its_oldest_card_where_nothing_can_be_told():
    assert TwoPlayers("greedy", HANDS, DECK, BUILT, clues=0).choices() == ["discard card 1"]


def test_hat_refuses_two_players():
    for game in ("hanabi:2p", "hanabi:2p:multicolour"):
        with pytest.raises(UserError, match=r"hat.*hanabi:3p"):
            load_policy("hat", game=game)


def test_the_classes_of_the_targets_are_at_most_as_many_as_a_message_has_numbers():
    for numbers, classes in enumerate(hanabi_hat.CLASSES[1:], 1):
        assert np.prod(classes) <= numbers


@pytest.mark.parametrize(
    ("game", "known", "apart"),
    [
        ("hanabi:3p", {}, False),
        ("hanabi:3p", {1: "red1"}, False),
        ("hanabi:3p", {1: "red1", 2: "red2"}, False),
        ("hanabi:3p", {1: "red1", 2: "blue2"}, True),
        ("hanabi:3p", {0: "red1", 1: "red2", 4: "blue1"}, True),
        ("hanabi:3p:multicolour", {3: "multicolour1", 4: "blue2"}, True),
    ],
)
def test_hat_players_know_that_cards_differ_where_no_rank_and_no_colour_can_be_that_of_all(
    game, known, apart
):
    table = set_up(game, [], "", [0] * variant(game).rule_set.suits)
    hand = np.full(table.rule_set.hand_size, (1 << table.rule_set.cards) - 1)
    for slot, card in known.items():
        hand[slot] = 1 << table.card(card)
    assert hanabi_hat.surely_differ(table.rule_set, hand) == apart


SMALL = {"colours": 2, "ranks": 3, "hand_size": 2}
HAT_GAMES = [
    ("hanabi:3p", {}),
    ("hanabi:4p", {}),
    ("hanabi:5p", {}),
    ("hanabi:3p:multicolour", {}),
    ("hanabi:4p:multicolour", {}),
    ("hanabi:3p", SMALL),
    ("hanabi:3p", SMALL | {"hand_size": 1}),
    ("hanabi:3p", SMALL | {"ranks": 4, "hand_size": 4, "allow_empty_hints": True}),
]


class HatPlayers(Play):
    """Games of hat guessers, of whom nobody goes astray."""

    def __init__(self, game, options):
        super().__init__(load_policy("hat", game=game, **options), BATCH, seed=8)

    def turns(self):
        """At each decision: the game, its mover's action, and what that player rules out by seat.

        It is ruled out for the cards that were in the hands before the action.
        """
        rule_set = self.rule_set.rule_set
        while self.going.size:
            rows = self.going
            _, chances = self.decide()
            actions = chances.argmax(1)
            for row, action in zip(rows, actions, strict=True):
                mover = int(self.states[row]["mover"])
                sets = self.memory[row, mover].reshape(rule_set.seats, rule_set.hand_size)
                yield row, action, np.roll(sets, mover, axis=0)
            self.step(rows, actions)


@pytest.mark.parametrize(("game", "options"), HAT_GAMES)
def test_what_hat_rules_out_is_never_so(game, options):
    play, ruled_out = HatPlayers(game, options), 0
    for row, _, sets in play.turns():
        hands = play.states[row]["hand"][: len(sets), : len(sets[0])]
        held = hands != NONE
        assert not (sets[held] >> hands[held] & 1).any()
        ruled_out += np.bitwise_count(sets[held]).sum()
    assert ruled_out > 0


@pytest.mark.parametrize(("game", "options"), HAT_GAMES)
def test_what_one_hat_player_has_concluded_the_next_one_knows_too(game, options):
    play, known = HatPlayers(game, options), {}
    actions = play.rule_set.actions
    for row, action, sets in play.turns():
        assert not (known.get(row, 0) & ~sets).any()
        left = sets.copy()
        if actions.kind[action] != CLUE:
            hanabi_hat.remove_slot(left[play.states[row]["mover"]], actions.move(action).slot)
        known[row] = left


# --- Strength

BARS = {  # lower ends of the mean score
    ("greedy", "hanabi:2p"): 12,
    ("expert", "hanabi:2p"): 21.5,
    ("expert", "hanabi:3p"): 22,
    ("expert", "hanabi:4p"): 21.5,
    ("expert", "hanabi:5p"): 20,
    ("hat", "hanabi:3p"): 24.6,
    ("hat", "hanabi:4p"): 24.2,
    ("hat", "hanabi:5p"): 24.4,
}


@pytest.mark.parametrize(("name", "game"), BARS)
def test_the_mean_score_is_as_high_as_promised_and_strike_outs_are_rare(name, game):
    games = sample(20_000, 0.05)
    scores, lost = Play(load_policy(name, game=game), games, seed=20).finish()
    low = scores.mean() - 1.96 * scores.std() / np.sqrt(games)
    assert low >= BARS[name, game]
    assert lost.mean() < (0.002 if WHOLE else 0.01)


def test_the_sixth_firework_is_built_too():
    for name in NAMES:
        play = Play(load_policy(name, game="hanabi:4p:multicolour"), BATCH, seed=30)
        scores, _ = play.finish()
        assert play.states["fireworks"][:, 5].mean() > 1
        assert scores.mean() > play.rule_set.rule_set.cards / 2
