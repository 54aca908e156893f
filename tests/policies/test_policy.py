"""Policies give legal probabilities from observation and mask alone, and are as strong as said."""

import numpy as np
import pytest
from environments import first_legal
from samples import UNCOMPILED, WHOLE, sample
from small_games import GIFTS

from hanamachi.adapters.gymnasium_vector import VectorSeatEnv
from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.engine.threads import DECISIONS_PER_THREAD
from hanamachi.errors import IllegalAction, UserError
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies import BatchPolicy, Policy, load_policy
from hanamachi.policies.sampling import sample as draw
from hanamachi.policies.sampling import uniform
from hanamachi.policies.user_functions import FunctionPolicy, as_policy

pytestmark = pytest.mark.uncompiled

VARIANTS = {
    "standard": ("hanamikoji", {}),
    "three rounds": ("hanamikoji:three_rounds", {}),
    "eight suits": ("hanamikoji:eight_suits", {}),
    "one round": ("hanamikoji", {"max_rounds": 1, "limit_rule": "charm"}),
    "small": ("hanamikoji", GIFTS),
    "tiny": ("hanamikoji", {"cards": (2,), "actions": ("secret",), "max_rounds": 2}),
    "no waste": (
        "hanamikoji",
        {"cards": (3, 3, 4), "actions": ("secret", "competition"), "max_rounds": 3},
    ),
    "two geisha": ("hanamikoji", {"cards": (10, 11)}),
    "road 2021": ("geishas_road:2021", {}),
    "road introductory": ("geishas_road:introductory", {}),
    "road standard": ("geishas_road:standard", {}),
    "road advanced": ("geishas_road:advanced", {}),
    "road of two": (
        "geishas_road:2021",
        {"colours": 2, "item_values": (1, 2), "actions": ("reveal",), "rounds_to_win": 1},
    ),
    "long road": (
        "geishas_road:standard",
        {"item_values": (1, 2, 3, 5, 9), "decline_collecting": True, "rounds": 3},
    ),
    "kept shares": (
        "geishas_road:advanced",
        {
            "colours": 3,
            "actions": ("gift",),
            "counteroffer_shares": "keep",
            "can_counter_hidden": False,
        },
    ),
    "no gifts": (
        "geishas_road:advanced",
        {"actions": ("intrigue", "competition"), "tiebreaker_alone_wins": False, "rounds": 1},
    ),
}
GAMES = ("hanamikoji", "geishas_road:2021", "geishas_road:advanced")
RULE_POLICIES = ("random", "greedy", "expert")
PLAYED = 2 if UNCOMPILED else 60  # games
many = pytest.mark.skipif(UNCOMPILED, reason="many games are long")


def at_turn(variant, games):
    """Observations and masks of the seats to move."""
    observations = np.zeros((len(games), variant.observation.size), np.float32)
    masks = np.zeros((len(games), variant.actions.size), np.int8)
    seats = games["mover"].astype(np.int64)
    kernels.observations(variant.rule_set, games, seats, observations)
    kernels.masks(variant.rule_set, games, masks)
    return observations, masks


def positions(variant, games=PLAYED, seed=0):
    """Observations and masks of every decision of random games."""
    rng = np.random.default_rng(seed)
    states = variant.new(rng.integers(0, 2**63, games).astype(np.uint64))
    kernels.reset(variant.rule_set, states)
    seen, legal = [], []
    while len(states) and len(seen) < 60:
        observations, masks = at_turn(variant, states)
        seen.append(observations)
        legal.append(masks)
        kernels.step(
            variant.rule_set,
            states,
            draw(masks / masks.sum(1, keepdims=True), rng.random(len(masks))),
        )
        states = states[states["mover"] != OVER]
    return np.concatenate(seen), np.concatenate(legal)


def lower_end(policy, opponent, games, seed):
    """Of the 95% interval of the share of games won; each deal is played from both seats."""
    variant, rng = policy.variant, np.random.default_rng(seed)
    states = variant.new(np.repeat(rng.integers(0, 2**63, games // 2).astype(np.uint64), 2))
    kernels.reset(variant.rule_set, states)
    seat = np.arange(games) % 2
    while (states["mover"] != OVER).any():
        rows = np.flatnonzero(states["mover"] != OVER)
        live = states[rows]
        observations, masks = at_turn(variant, live)
        actions = np.empty(len(rows), np.int64)
        for player, mine in ((policy, True), (opponent, False)):
            turn = (live["mover"] == seat[rows]) == mine
            memory = player.initial_memory(turn.sum())
            actions[turn], _ = player.act(observations[turn], masks[turn], memory, rng)
        kernels.step(variant.rule_set, live, actions)
        states[rows] = live
    won = (states["rewards"][np.arange(games), seat].reshape(-1, 2).mean(1) + 1) / 2
    return won.mean() - 1.96 * won.std(ddof=1) / np.sqrt(len(won))


def empty(masks):
    return np.zeros((len(masks), 0), np.float32)


# --- Distributions


@pytest.mark.parametrize("name", RULE_POLICIES)
@pytest.mark.parametrize("case", VARIANTS)
def test_probabilities_cover_legal_actions_and_sum_to_one(name, case):
    game, options = VARIANTS[case]
    policy = load_policy(name, game=game, **options)
    observations, masks = positions(policy.variant)
    probabilities, value, _ = policy.distribution(observations, masks, empty(masks))
    assert probabilities.shape == masks.shape
    assert probabilities.dtype == np.float32
    assert (value is not None) == policy.has_values
    assert value is None or (value.shape == masks.shape[:1] and (abs(value) <= 1).all())
    assert (probabilities >= 0).all()
    assert (probabilities[masks == 0] == 0).all()
    np.testing.assert_allclose(probabilities.sum(1), 1, atol=1e-5)


@many
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", RULE_POLICIES)
def test_the_size_and_the_order_of_the_batch_do_not_matter(name, game):
    policy = load_policy(name, game=game)
    observations, masks = positions(policy.variant, games=200)
    assert len(masks) > 2 * DECISIONS_PER_THREAD
    together, _, _ = policy.distribution(observations, masks, empty(masks))
    order = np.random.default_rng(1).permutation(len(masks))
    shuffled, _, _ = policy.distribution(observations[order], masks[order], empty(masks))
    np.testing.assert_array_equal(shuffled, together[order])
    for b in order[:100]:
        alone, _, _ = policy.distribution(
            observations[b : b + 1], masks[b : b + 1], empty(masks[:1])
        )
        np.testing.assert_array_equal(alone[0], together[b])


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", RULE_POLICIES)
def test_the_same_observation_and_mask_give_the_same_answer_and_stay_as_they_were(name, game):
    policy, fresh = (load_policy(name, game=game) for _ in range(2))
    observations, masks = positions(policy.variant)
    before = observations.copy(), masks.copy()
    first, _, _ = policy.distribution(observations, masks, empty(masks))
    policy.distribution(*positions(policy.variant, seed=9), empty(masks))
    again, _, _ = fresh.distribution(
        observations.astype(np.float64), masks.astype(bool), empty(masks)
    )
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(observations, before[0])
    np.testing.assert_array_equal(masks, before[1])


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", RULE_POLICIES)
def test_what_a_player_cannot_see_does_not_matter(name, game):
    policy = load_policy(name, game=game)
    variant = policy.variant
    states = variant.new(np.arange(1 if UNCOMPILED else 8, dtype=np.uint64))
    kernels.reset(variant.rule_set, states)
    rng = np.random.default_rng(3)
    for _ in range(10):  # fewer than the shortest game has
        observations, masks = at_turn(variant, states)
        expected, _, _ = policy.distribution(observations, masks, empty(masks))
        for state, probabilities in zip(states, expected, strict=True):
            others = variant.new(rng.integers(0, 2**63, 5).astype(np.uint64))
            kernels.worlds(variant.rule_set, np.array([state]), int(state["mover"]), others)
            seen = at_turn(variant, others)
            np.testing.assert_array_equal(
                policy.distribution(*seen, empty(seen[1]))[0],
                np.tile(probabilities, (len(others), 1)),
            )
        kernels.step(variant.rule_set, states, draw(expected, rng.random(len(states))))


def test_random_play_gives_every_legal_action_the_same_chance():
    policy = load_policy("random", game="hanamikoji")
    observations, masks = positions(policy.variant, games=5)
    probabilities, _, _ = policy.distribution(observations, masks, empty(masks))
    np.testing.assert_allclose(probabilities, masks / masks.sum(1, keepdims=True), rtol=1e-6)


def test_a_rule_policy_shares_its_choice_evenly_between_equal_moves():
    policy = load_policy("greedy", game="hanamikoji", starter=0)
    names = [policy.variant.actions.describe(a) for a in range(policy.variant.actions.size)]
    mask = np.zeros((1, len(names)), np.int8)
    observation = np.zeros((1, policy.variant.observation.size), np.float32)
    for name in ("secret 2a", "secret 2b", "secret 5"):
        mask[0, names.index(name)] = 1
    probabilities, _, _ = policy.distribution(observation, mask, empty(mask))
    assert probabilities[0, names.index("secret 5")] == 1
    mask[0, names.index("secret 5")] = 0
    probabilities, _, _ = policy.distribution(observation, mask, empty(mask))
    assert probabilities[0, names.index("secret 2a")] == probabilities[0, names.index("secret 2b")]


# --- Acting


def test_actions_come_up_as_often_as_the_distribution_says():
    probabilities = np.array([[0, 0.2, 0, 0.5, 0.3]], np.float32)
    uniforms = (np.arange(1000) + 0.5) / 1000
    actions = draw(np.repeat(probabilities, 1000, 0), uniforms)
    np.testing.assert_array_equal(np.bincount(actions, minlength=5), [0, 200, 0, 500, 300])


def test_rounding_never_leads_to_an_impossible_action():
    probabilities = np.array([[0.3, 0.3, 0.3, 0]], np.float32)  # falls short of 1
    assert draw(probabilities, np.array([1 - 1e-16])) == [2]
    assert draw(np.array([[0, 1.0]]), np.array([0.0])) == [1]


def test_deterministic_play_takes_the_most_likely_action():
    policy = load_policy("expert", game="hanamikoji")
    observations, masks = positions(policy.variant)
    probabilities, _, _ = policy.distribution(observations, masks, empty(masks))
    rng = np.random.default_rng(0)
    actions, _ = policy.act(observations, masks, empty(masks), rng, deterministic=True)
    np.testing.assert_array_equal(actions, probabilities.argmax(1))
    assert rng.random() == np.random.default_rng(0).random()  # no random number was used


class Counter(Policy):
    """Remembers how often it was asked."""

    name = "counter"

    def initial_memory(self, batch):
        return np.zeros((batch, 1), np.float32)

    def distribution(self, observation, mask, memory):
        return mask / mask.sum(1, keepdims=True, dtype=np.float32), None, memory + 1


def test_predict_takes_one_observation_or_many_and_carries_the_state():
    policy = Counter(make_variant("hanamikoji"))
    observations, masks = positions(policy.variant, games=3)
    policy.set_random_seed(5)
    one, state = policy.predict(observations[0], action_masks=masks[0])
    assert one.shape == ()
    assert masks[0, one] == 1
    many, state = policy.predict(observations[:3], action_masks=masks[:3].astype(bool))
    assert masks[np.arange(3), many].all()
    starts = np.array([False, True, False])
    _, state = policy.predict(observations[3:6], state, starts, action_masks=masks[3:6])
    np.testing.assert_array_equal(state[:, 0], [2, 1, 2])
    policy.set_random_seed(5)
    assert policy.predict(observations[0], action_masks=masks[0])[0] == one


@pytest.mark.parametrize(("size", "actions"), [(672, 508), (3, 508), (3, 20)])
def test_predict_refuses_what_another_game_shows(size, actions):
    policy = load_policy("expert", game="hanamikoji")
    with pytest.raises(UserError, match="hanamikoji"):
        policy.predict(np.zeros((2, size)), action_masks=np.ones((2, actions)))


def test_predict_leaves_the_state_of_its_caller_as_it_was():
    class CountsInPlace(Counter):
        def act(self, observation, mask, memory, rng, deterministic=False):
            memory += 1
            return mask.argmax(1), memory

    policy = CountsInPlace(make_variant("hanamikoji"))
    observations, masks = positions(policy.variant, games=3)
    _, state = policy.predict(observations[:3], action_masks=masks[:3])
    _, after = policy.predict(observations[:3], state, action_masks=masks[:3])
    assert (state.max(), after.min()) == (1, 2)


@pytest.mark.parametrize("one", [256, 0.5, 2, -1, True])
def test_predict_takes_any_number_but_0_as_the_mask_of_a_legal_action(one):
    policy = load_policy("greedy", game="hanamikoji")
    observations, masks = positions(policy.variant, games=3)
    expected, _ = policy.predict(observations, deterministic=True, action_masks=masks)
    chosen, _ = policy.predict(observations, deterministic=True, action_masks=masks * np.array(one))
    np.testing.assert_array_equal(chosen, expected)


@pytest.mark.parametrize("name", ["random", "greedy", "expert"])
def test_predict_after_the_end_of_a_game_says_that_it_is_over(name):
    policy = load_policy(name, game="hanamikoji")
    observations, masks = positions(policy.variant, games=3)
    masks[1] = 0
    with pytest.raises(UserError, match="over"):
        policy.predict(observations, action_masks=masks)


def test_predict_without_masks_names_the_missing_argument():
    policy = load_policy("random", game="hanamikoji")
    with pytest.raises(UserError, match="action_masks"):
        policy.predict(np.zeros(policy.variant.observation.size))


# --- Strength


@many
def test_greedy_beats_random_play():
    greedy, random = (load_policy(name, game="hanamikoji") for name in ("greedy", "random"))
    assert lower_end(greedy, random, sample(10_000, 0.1), seed=101) > (0.86 if WHOLE else 0.84)


@many
def test_expert_beats_random_play():
    expert, random = (load_policy(name, game="hanamikoji") for name in ("expert", "random"))
    assert lower_end(expert, random, sample(10_000, 0.1), seed=102) > (0.97 if WHOLE else 0.96)


@many
def test_expert_beats_greedy():
    expert, greedy = (load_policy(name, game="hanamikoji") for name in ("expert", "greedy"))
    assert lower_end(expert, greedy, sample(10_000, 0.1), seed=103) > (0.80 if WHOLE else 0.77)


STRENGTHS = {  # lower ends: greedy over random, expert over random, expert over greedy
    "geishas_road:2021": (0.90, 0.97, 0.80),
    "geishas_road:introductory": (0.90, 0.97, 0.75),
    "geishas_road:standard": (0.85, 0.97, 0.80),
    "geishas_road:advanced": (0.85, 0.97, 0.80),
}


@many
@pytest.mark.parametrize("game", STRENGTHS)
def test_on_geishas_road_greedy_beats_random_play_and_expert_beats_both(game):
    greedy, expert, random = (
        load_policy(name, game=game) for name in ("greedy", "expert", "random")
    )
    pairs = (greedy, random), (expert, random), (expert, greedy)
    for (bot, opponent), least in zip(pairs, STRENGTHS[game], strict=True):
        low = lower_end(bot, opponent, sample(10_000, 0.05), seed=106)
        assert low > least - (0 if WHOLE else 0.04), (bot.name, opponent.name)


@many
@pytest.mark.parametrize("case", ["three rounds", "one round"])
def test_rule_policies_keep_their_order_where_rounds_are_limited(case):
    game, options = VARIANTS[case]
    expert, greedy, random = (
        load_policy(name, game=game, **options) for name in ("expert", "greedy", "random")
    )
    assert lower_end(expert, greedy, sample(10_000, 0.06), seed=104) > 0.55
    assert lower_end(greedy, random, sample(10_000, 0.06), seed=105) > 0.65


# --- A user's own


class NoName(Policy):
    """A user's policy that gives itself no name."""

    def distribution(self, observation, mask, memory):
        return uniform(mask), None, memory


class NoVariant(NoName):
    """A user's policy that forgets to call `Policy.__init__`."""

    def __init__(self, variant):
        pass


def test_a_policy_without_a_name_is_called_as_its_class():
    policy = NoName(make_variant("hanamikoji"))
    assert as_policy(policy, policy.variant).name == "NoName"


def test_a_policy_without_its_variant_is_told_to_call_the_constructor():
    with pytest.raises(UserError, match=r"NoVariant.*super\(\)\.__init__\(variant\)"):
        as_policy(NoVariant(make_variant("hanamikoji")), make_variant("hanamikoji"))


def test_an_object_that_is_no_policy_is_named_by_its_type():
    with pytest.raises(UserError, match=r"Policy.*type object"):
        as_policy(object(), make_variant("hanamikoji"))


def test_the_class_of_a_policy_is_no_policy():
    with pytest.raises(UserError, match=r"class.*NoName\(variant\)"):
        as_policy(NoName, make_variant("hanamikoji"))


@pytest.mark.parametrize(
    "make",
    [
        lambda: BatchPolicy(first_legal, "hanamikoji"),
        lambda: BatchPolicy(5, make_variant("hanamikoji")),
        lambda: NoName("hanamikoji"),
    ],
    ids=["an id in place of a variant", "no function", "an id for one's own class"],
)
def test_a_policy_is_made_of_a_variant_and_a_function(make):
    with pytest.raises(UserError):
        make()


def test_a_tensor_with_a_gradient_is_refused_in_a_sentence():
    torch = pytest.importorskip("torch")

    def answer(observations, masks):
        return torch.zeros(len(masks), requires_grad=True)

    policy = BatchPolicy(answer, make_variant("hanamikoji"))
    observations, masks = positions(policy.variant, games=3)
    with pytest.raises(UserError, match="detach"):
        policy.predict(observations, action_masks=masks)
    with pytest.raises(UserError, match="array of numbers"):
        policy.predict(torch.tensor(observations, requires_grad=True), action_masks=masks)


def test_a_plain_function_is_a_policy():
    policy = as_policy(first_legal, make_variant("hanamikoji"))
    observations, masks = positions(policy.variant, games=3)
    assert isinstance(policy, FunctionPolicy)
    assert policy.name == "first_legal"
    actions, _ = policy.act(observations, masks, empty(masks), np.random.default_rng(0))
    np.testing.assert_array_equal(actions, masks.argmax(1))


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda masks: masks.argmin(1), IllegalAction),
        (lambda masks: masks.argmax(1) + masks.shape[1], IllegalAction),
        (lambda masks: masks.argmax(1)[:-1], UserError),
        (lambda masks: masks.argmax(1) * 1.0, UserError),
    ],
    ids=["illegal", "unknown", "too few", "no whole numbers"],
)
def test_a_wrong_answer_for_many_games_is_refused(answer, error):
    policy = BatchPolicy(lambda observations, masks: answer(masks), make_variant("hanamikoji"))
    masks = np.eye(3, policy.variant.actions.size, k=1, dtype=np.int8)
    seen = np.zeros((3, policy.variant.observation.size), np.float32)
    with pytest.raises(error):
        policy.distribution(seen, masks, policy.initial_memory(3))


def test_predict_reads_small_integers_as_the_environments_write_them():
    policy = load_policy("expert", game="hanamikoji")
    numbers = {}
    for dtype in (np.float32, np.int8):
        envs = VectorSeatEnv("hanamikoji", 64, dtype=dtype)
        observations, info = envs.reset(seed=1)
        numbers[dtype], _ = policy.predict(
            observations, deterministic=True, action_masks=info["action_mask"]
        )
    assert (numbers[np.float32] == numbers[np.int8]).mean() > 0.9  # an eighth of a digit is lost


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda given: given | {"state": given["state"][:1]}, "shape"),
        (lambda given: given | {"state": given["state"][:, 1:]}, "shape"),
        (lambda given: given | {"state": "none"}, "numbers"),
        (lambda given: given | {"episode_start": []}, "4 games"),
        (lambda given: given | {"episode_start": [True] * 5}, "4 games"),
        (lambda given: given | {"observation": given["observation"] + 1000}, "no game"),
        (lambda given: given | {"observation": given["observation"] * np.nan}, "no game"),
        (lambda given: given | {"observation": [["a"]]}, "numbers"),
        (lambda given: given | {"action_masks": given["action_masks"][0]}, "shapes"),
        (lambda given: given | {"action_masks": given["action_masks"] * np.nan}, "finite"),
        (lambda given: given | {"action_masks": given["action_masks"][:, 1:]}, "shapes"),
    ],
)
def test_predict_refuses_what_compiled_code_could_not_read(change, named):
    policy = load_policy("expert", game="hanabi:2p")
    observations, masks = positions(policy.variant, games=4)
    rows = {"observation": observations[:4], "action_masks": masks[:4]}
    _, state = policy.predict(**rows)
    policy.predict(**rows, state=state)
    with pytest.raises(UserError, match=named):
        policy.predict(**change({**rows, "state": state}))
