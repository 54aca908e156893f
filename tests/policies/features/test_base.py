"""Features say what a player can work out, and learn, save and play like observations."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from feature_names import feature_names
from hanabi_positions import set_up
from messages import assert_one_sentence
from samples import sample

from hanamachi.engine import kernels
from hanamachi.engine.layout import Layout
from hanamachi.errors import UserError
from hanamachi.games.hanabi.rules import CLUE
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies import load_policy
from hanamachi.policies.features.base import Features
from hanamachi.policies.networks.checkpoint import save_checkpoint
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.description import config_digest
from hanamachi.policies.networks.network import checkpoint_of, for_variant, head_of
from hanamachi.policies.sampling import sample as draw
from hanamachi.training.build import new_learner
from hanamachi.training.callbacks import Save
from hanamachi.training.config import Config
from hanamachi.training.evaluation.matches import results_of
from hanamachi.training.learner.vecenv import FeaturedVecEnv, SelfPlayVecEnv
from hanamachi.training.resume import resumed_learner
from hanamachi.training.run import train

pytestmark = pytest.mark.usefixtures("on_one_thread")

GAMES = ("hanabi:2p", "hanabi:3p:multicolour")
NAMES = feature_names(make_variant("hanabi:2p"))
EACH = [(game, name) for game in GAMES for name in feature_names(make_variant(game))]
ROWS = 8
STEPS = sample(2_000, 0.05)
SMALL = {"colours": 2, "ranks": 3, "hand_size": 3, "max_clues": 3}
SETTINGS = {
    "game": "hanabi:2p",
    "options": SMALL,
    "steps": 2_048,
    "num_games": 16,
    "opponents": {"self": 0.5, "past": 0.25, "expert": 0.25},
    "network": {"hidden": [16], "features": ["convention", "belief"]},
    "ppo": {"batch_size": 128, "n_epochs": 1},
    "past": {"every": 512, "keep": 2},
    "evaluation": {"every": 1_024, "games": 20, "final_games": 20, "final_opponents": ["expert"]},
    "save_every": 256,
}


@pytest.fixture(params=GAMES)
def variant(request):
    return make_variant(request.param)


class Played:
    """Games of `expert`, one move in four left to the dice; a guest has half of them."""

    def __init__(self, variant, names=None, seed=0):
        names = names or feature_names(variant)
        self.rule_set, self.rng = variant, np.random.default_rng(seed)
        self.expert = load_policy("expert", variant)
        plain = SelfPlayVecEnv(variant, ROWS, seed, [(load_policy("random", variant.id), 0.5)])
        self.env = FeaturedVecEnv(plain, Features(variant, names))
        self.memory = np.zeros((ROWS, *self.expert.initial_memory(variant.seats).shape), np.int32)
        self.env.reset()

    @property
    def movers(self):
        return np.arange(ROWS), self.env.plain.games["mover"].astype(np.int64)

    def decisions(self, steps=STEPS):
        """At each: what `expert` is given, and what he then remembers."""
        for _ in range(steps):
            given = self.env.seen.copy(), self.env.masks.copy(), self.memory[self.movers]
            chances, _, after = self.expert.distribution(*given)
            self.memory[self.movers] = after
            yield given, after
            astray = self.rng.random((ROWS, 1)) < 0.25
            chances = np.where(astray, given[1] / given[1].sum(1, keepdims=True), chances)
            self.env.advance(draw(chances, self.rng.random(ROWS)))
            self.memory[self.env.terminated] = 0


# --- What they say


def test_belief_is_counted_from_the_cards_that_the_owner_and_i_see(variant):
    played = Played(variant, ["belief"])
    for _ in played.decisions(STEPS // 10):
        features = played.env.observations[:, variant.observation.size :]
        for row, game in enumerate(played.env.plain.games):
            expected = [float(chance) for chance in believed(variant.rule_set, game)]
            np.testing.assert_allclose(features[row], expected, atol=1e-6)


def believed(rule_set, game):
    """The chances for every slot of every hand, mine first, from the whole game."""
    seats, me = int(rule_set.seats), int(game.mover)
    tests = is_playable, is_trash, is_critical
    groups = [[test(rule_set, game, card) for card in range(rule_set.cards)] for test in tests]
    for side in range(seats):
        owner = (me + side) % seats
        seen = [seat for seat in range(seats) if seat not in (me, owner)]
        copies = [copies_left(rule_set, game, card, seen) for card in range(rule_set.cards)]
        for slot in range(rule_set.hand_size):
            cards = int(game.possible[owner, slot])
            possible = [n * (cards >> card & 1) for card, n in enumerate(copies)]
            total = sum(possible) or 1
            yield from (Fraction(n, total) for n in possible)
            for group in groups:
                fit = (n for n, belongs in zip(possible, group, strict=True) if belongs)
                yield Fraction(sum(fit), total)


def copies_left(rule_set, game, card, seen):
    """Copies of a card that lie neither open nor in the hands that are seen."""
    suit, rank = divmod(card, int(rule_set.ranks))
    in_hands = sum(int((game.hand[seat] == card).sum()) for seat in seen)
    return (
        int(rule_set.copies[card] - game.discards[card] - (rank < game.fireworks[suit])) - in_hands
    )


def is_playable(rule_set, game, card):
    suit, rank = divmod(card, int(rule_set.ranks))
    return game.fireworks[suit] == rank


def is_trash(rule_set, game, card):
    suit, rank = divmod(card, int(rule_set.ranks))
    way = range(suit * rule_set.ranks + game.fireworks[suit], card + 1)
    return rank < game.fireworks[suit] or any(game.discards[c] == rule_set.copies[c] for c in way)


def is_critical(rule_set, game, card):
    last = game.discards[card] == rule_set.copies[card] - 1
    return last and not is_trash(rule_set, game, card)


def test_the_convention_remembers_what_expert_remembers(variant):
    played = Played(variant, ["belief", "convention"])
    meant = 0
    for _, after in played.decisions():
        np.testing.assert_array_equal(played.env.memory_after, after)
        meant += np.count_nonzero(after)
    assert meant > 0


HANDS = ["red4 black4 yellow4 green4 blue4", "red4 black4 yellow4 green2 blue4"]
DECK = "red5 black5 yellow5 green5 blue5 red3 black3 yellow3 green3 blue3"


def at_the_table(table):
    """By segment, the convention's features for the mover of a table without earlier clues."""
    features, game = Features(table.variant, ["convention"]), np.array([table.game])
    seen = np.zeros((1, table.variant.observation.size), np.float32)
    kernels.observations(table.rule_set, game, game["mover"].astype(np.int64), seen)
    legal = np.ones((1, table.variant.actions.size), np.int8)
    rows, _ = features.extend(seen, legal, features.initial_memory(1))
    return lambda name, *shape: rows[0, features.layout.slice(name)].reshape(shape)


FATES = "plays", "misplays", "discards", "loses", "misled", "double", "later", "kept", "known"


def prospects(table):
    """By trait, what a clue to the next player would change: {fate or "chop": by how much}."""
    rows = at_the_table(table)("prospects", -1, len(FATES) + 1).tolist()
    return {
        trait: {fate: change for fate, change in zip((*FATES, "chop"), row, strict=True) if change}
        for trait, row in zip(table.actions.traits, rows, strict=False)
    }


def test_what_a_clue_changes_is_seen_before_it_is_given():
    table = set_up("hanabi:2p", HANDS, DECK, [1] * 5, {"starter": 0})
    changes = prospects(table)
    assert changes["2s"] == {"plays": 1}
    assert changes["green"] == {"plays": 1, "discards": 4}  # no other colour is of use any more
    assert changes["red"] == {"discards": 1}
    assert changes["5s"] == {}  # touches nothing
    truth = at_the_table(table)("truth", 5, 6)
    assert truth[:, 1].tolist() == [0, 0, 0, 1, 0]  # the 2 is playable


def test_a_clue_that_saves_the_chop_says_what_went_with_it():
    hands = [HANDS[0], HANDS[1].replace("red4", "green5")]
    table = set_up("hanabi:2p", hands, DECK.replace("green5", "red4"), [1] * 5, {"starter": 0})
    saved = prospects(table)["5s"]
    assert saved.pop("chop") < -0.5
    assert saved == {"known": 1}  # all other 5s are of no use any more


def test_a_clue_that_misleads_says_so():
    hands = [HANDS[0], HANDS[1].replace("green2", "green3")]
    table = set_up("hanabi:2p", hands, DECK.replace("green3", "green2"), [1] * 5, {"starter": 0})
    assert prospects(table)["green"] == {"misplays": 1, "discards": 4}


def test_its_receiver_takes_the_focus_for_what_it_is():
    table = set_up("hanabi:2p", HANDS, DECK, [1] * 5, {"starter": 0})
    table.play("tell player 1 about green")
    mine = at_the_table(table)("my reading", 5, 33)
    clued, chop, playable, _, useless = mine[:, 28:].T
    assert clued.tolist() == playable.tolist() == [0, 0, 0, 1, 0]
    assert chop.tolist() == [1, 0, 0, 0, 0]
    assert useless.tolist() == [1, 1, 1, 0, 1]  # all other 2s are gone
    assert mine[3, table.card("green2")] == mine[3, 25] == 1


@pytest.mark.parametrize("id", [*GAMES, "hanabi:5p"])
def test_they_stay_within_their_bounds_and_describe_each_slot(id):
    variant = make_variant(id)
    played, layout = Played(variant), Features(variant, feature_names(variant)).layout
    for _ in played.decisions(STEPS // 4):
        assert (played.env.observations >= layout.low).all()
        assert (played.env.observations <= layout.high).all()
    slots = head_of(variant.actions, layout).entities["slot"].entries
    own = variant.rule_set.cards
    for name, depth in (("my cards", own + variant.rule_set.traits), ("my chances", own + 3)):
        first = layout.slice(name).start
        for slot, entries in enumerate(slots.tolist()):
            assert set(range(first + slot * depth, first + (slot + 1) * depth)) <= set(entries)
    assert len(np.unique(slots)) == slots.size


def test_what_describes_a_clue_counts_for_the_action_that_gives_it(variant):
    layout = Features(variant, feature_names(variant)).layout
    clues = head_of(variant.actions, layout).entities["clue"]
    described = clues.entries[(clues.uses[:, 0] @ np.arange(len(clues.entries))).astype(int)]
    table = Played(variant)
    touched = 0
    for _ in table.decisions(STEPS // 10):
        changes = table.env.observations[np.arange(ROWS)[:, None, None], described]
        changes = changes[:, variant.actions.kind == CLUE]
        touches_no_card = table.env.masks[:, variant.actions.kind == CLUE] == 0
        touches_no_card[table.env.plain.games["clues"] == 0] = False
        assert not changes[touches_no_card].any()
        touched += np.count_nonzero(changes)
    assert touched > 0


# --- Rows and memories


@pytest.mark.parametrize(("game", "name"), EACH)
def test_rows_are_independent_of_each_other_and_given_arrays_stay(game, name):
    variant = make_variant(game)
    features, played = Features(variant, [name]), Played(variant, [name])
    for (seen, legal, _), _ in played.decisions(STEPS // 4):
        memory = played.env.memory[played.movers]
        before = seen.copy(), memory.copy()
        rows, after = features.extend(seen, legal, memory)
        np.testing.assert_array_equal(rows, played.env.observations)
        order = played.rng.permutation(ROWS)
        shuffled = features.extend(seen[order], legal[order], memory[order])
        for b in (0, ROWS - 1):
            alone = features.extend(*(each[b : b + 1] for each in (seen, legal, memory)))
            np.testing.assert_array_equal(alone[0][0], rows[b])
            np.testing.assert_array_equal(alone[1][0], after[b])
        for found, expected in zip(shuffled, (rows, after), strict=True):
            np.testing.assert_array_equal(found, expected[order])
        for array, old in zip((seen, memory), before, strict=True):
            np.testing.assert_array_equal(array, old)


@pytest.mark.parametrize(
    ("game", "name"), [("hanabi:2p", "belief"), ("hanabi:2p", "convention"), ("hanabi:3p", "hat")]
)
@pytest.mark.parametrize("more", [-1, 1])
def test_what_is_written_fills_the_layout(game, name, more):
    variant = make_variant(game)
    (features,) = Features(variant, [name]).sets
    first, *others = features.layout.segments
    features.layout = Layout((*others, replace(first, size=first.size + more)))
    env = SelfPlayVecEnv(variant, ROWS)
    env.reset()
    memory = np.zeros((ROWS, features.memory_size), np.int32)
    with pytest.raises(AssertionError):
        features.compute(env.observations, env.masks, memory)


def test_without_features_observations_stay_what_they_are(variant):
    none = Features(variant, ())
    seen = np.zeros((3, variant.observation.size), np.float32)
    legal = np.ones((3, variant.actions.size), np.int8)
    assert none.extend(seen, legal, none.initial_memory(3))[0] is seen
    assert none.layout.digest == variant.observation.digest


def test_the_end_of_a_game_is_shown_without_features(variant):
    played, size = Played(variant), variant.observation.size
    ends = 0
    for _ in played.decisions():
        terminated = played.env.terminated
        np.testing.assert_array_equal(
            played.env.last[terminated, :size], played.env.plain.last[terminated]
        )
        assert not played.env.last[:, size:].any()
        ends += terminated.sum()
    assert ends > 0


# --- Names


@pytest.mark.parametrize(
    ("game", "names", "sentence"),
    [
        (
            "hanabi:2p",
            ["convenion"],
            "there is no feature set of hanabi called 'convenion' (did you mean convention?)",
        ),
        (
            "hanamikoji",
            ["belief"],
            "there is no feature set of hanamikoji called 'belief' (choose from advice)",
        ),
        (
            "hanabi:2p",
            ["belief", "belief"],
            "network.features must name each feature set only once",
        ),
    ],
)
def test_a_wrong_name_is_refused_in_one_sentence(game, names, sentence):
    with pytest.raises(UserError) as refused:
        Config.from_dict({"game": game, "network": {"features": names}})
    assert str(refused.value) == f"settings: {sentence}"


# --- Checkpoints


@pytest.fixture
def checkpoint(tmp_path):
    """One of a small network with features, whose weights are all but zero."""
    return saved(tmp_path / "policy", NAMES)


def saved(folder, names):
    torch.manual_seed(0)
    variant = make_variant("hanabi:2p", **SMALL)
    network = for_variant(variant, (16,), names)
    for weights in network.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    save_checkpoint(folder, checkpoint_of(network, variant), "")
    return folder


def description(folder):
    return json.loads((folder / "config.json").read_text())


def test_a_checkpoint_with_features_plays_the_same_in_every_batch_size(checkpoint):
    policy = load_policy(str(checkpoint))
    assert policy.checkpoint.feature_sets == NAMES
    games = ("hanabi:2p", 60)
    scores = [results_of(policy, [], *games, batch=batch, **SMALL) for batch in (60, 7)]
    assert scores[0] == scores[1]


def test_only_a_checkpoint_with_features_names_them(checkpoint, tmp_path):
    assert description(checkpoint)["network"] == {"hidden": [16], "features": list(NAMES)}
    assert description(saved(tmp_path / "plain", ()))["network"] == {"hidden": [16]}


@pytest.mark.parametrize("more", [{"features": []}, {"layers": 2}])
def test_a_checkpoint_with_more_to_its_network_than_it_needs_is_refused(tmp_path, more):
    config = description(saved(tmp_path / "plain", ()))
    config["network"] |= more
    config["digest"] = config_digest(config)
    (tmp_path / "plain" / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match="network"):
        load_policy(str(tmp_path / "plain"))


@pytest.mark.parametrize(
    "features",
    [
        None,
        [],
        ["belief"],
        ["convention", "belief"],
        ["belief", "belief"],
        ["belif"],
        [1],
        "belief",
    ],
)
@pytest.mark.parametrize("sealed", [False, True])
def test_a_checkpoint_whose_features_were_changed_is_refused(checkpoint, features, sealed):
    config = description(checkpoint)
    config["network"] = {"hidden": [16], "features": features}
    if sealed:
        config["digest"] = config_digest(config)
    (checkpoint / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError) as refused:
        load_policy(str(checkpoint))
    sentence = assert_one_sentence(refused.value)
    assert sentence.startswith(f"the checkpoint {checkpoint} cannot be loaded: ")


def test_a_run_does_not_start_from_other_features(checkpoint):
    with pytest.raises(UserError, match=r"network\.features"):
        new_learner(Config.from_dict(SETTINGS), start=checkpoint)
    network = {"hidden": [16], "features": list(NAMES)}
    new_learner(Config.from_dict(SETTINGS | {"network": network}), start=checkpoint)


# --- Learning


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a small run."""
    out = tmp_path_factory.mktemp("features") / "run"
    train(Config(**SETTINGS), out)
    return out


def test_a_run_that_was_stopped_goes_on_to_the_same_weights(run, tmp_path, monkeypatch):
    out, saves, act = tmp_path / "run", [], Save.act

    def save(self):
        saves.append(self.learner.num_timesteps)
        if len(saves) == 4:
            raise KeyboardInterrupt
        act(self)

    monkeypatch.setattr(Save, "act", save)
    with pytest.raises(KeyboardInterrupt):
        train(Config(**SETTINGS), out)
    monkeypatch.setattr(Save, "act", act)
    train(Config(**SETTINGS), out, resume=True)
    for name in ("policy/model.safetensors", "policy/config.json", "evaluation.json"):
        assert (out / name).read_bytes() == (run / name).read_bytes(), name


def test_the_exported_policy_decides_as_the_learners_network(run, tmp_path):
    learner = resumed_learner(Config(**SETTINGS), run)
    env, network = learner.env, learner.policy.network
    save_checkpoint(tmp_path / "policy", checkpoint_of(network, env.variant), "")
    policy = load_policy(str(tmp_path / "policy"))
    memory = env.memory[np.arange(env.num_envs), env.plain.games["mover"].astype(int)]
    chances, values, after = policy.distribution(env.seen, env.masks, memory)
    with torch.no_grad():
        given = torch.from_numpy(env.observations), torch.from_numpy(env.masks != 0)
        expected, expected_values = network(*given)
    np.testing.assert_allclose(chances, expected.table(given[1]).numpy(), atol=1e-6)
    np.testing.assert_allclose(values, expected_values.numpy(), atol=1e-5)
    np.testing.assert_array_equal(after, env.memory_after)
    assert memory.any()


def test_the_card_of_a_policy_names_its_features(run):
    card = (run / "policy" / "README.md").read_text()
    assert "convention" in card
    assert "belief" in card
    assert isinstance(load_policy(str(run / "policy")), CompiledPolicy)
