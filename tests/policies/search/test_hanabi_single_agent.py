"""Single-agent search in Hanabi: beliefs that are true, choices that know no more, and gain."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from samples import UNCOMPILED, sample

from hanamachi.engine import kernels
from hanamachi.errors import UserError
from hanamachi.games.hanabi.rules import PLAY
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies import load_policy
from hanamachi.policies.search import hanabi_belief
from hanamachi.policies.search.hanabi_belief import distinguished, likely
from hanamachi.policies.search.hanabi_single_agent import most_decisions, worth_more_worlds
from hanamachi.policies.search.hanabi_value import RemainingPoints, phases, played
from hanamachi.sessions.observations import observe
from hanamachi.sessions.worlds import Worlds
from hanamachi.training.evaluation.playing import play_games

SMALL = {"colours": 2, "ranks": 3, "hand_size": 2, "max_clues": 3}
ME = 0


def chances_of(policy, games, memory):
    """What the movers do, (B, A); memory, (B, P, M), is brought up to date."""
    seats = games["mover"].astype(np.int64)
    rows = np.arange(len(games)), seats
    given = policy.with_worlds(Worlds(policy.variant, games, seats))
    chances, _, memory[rows] = given.distribution(
        *observe(policy.variant, games, seats), memory[rows]
    )
    return chances


def begun(variant, count, seed=0):
    games = variant.new(np.arange(count, dtype=np.uint64) + np.uint64(seed))
    kernels.reset(variant.rule_set, games)
    return games


def memories(policy, count):
    return policy.initial_memory(count * policy.variant.seats).reshape(
        count, policy.variant.seats, -1
    )


def likeliest(chances):
    """The actions that everybody may foresee."""
    return chances.argmax(1)


def histories(blueprint, count, decisions):
    """Games of the blueprint alone up to so many decisions of ME: by what ME saw, the hands."""
    variant, found = blueprint.variant, defaultdict(list)
    games, memory = begun(variant, count), memories(blueprint, count)
    seen = [b""] * count
    left = np.full(count, decisions)
    while (going := np.flatnonzero((games["mover"] >= 0) & (left > 0))).size:
        now, kept = games[going], memory[going]
        for row in np.flatnonzero(now["mover"] == ME):
            game = going[row]
            view, _ = observe(variant, now[row, None], np.array([ME]))
            seen[game] += view.tobytes()
            left[game] -= 1
            if left[game] == 0:
                found[seen[game]].append(game)
        actions = likeliest(chances_of(blueprint, now, kept))
        ending = (left[going] == 0) & (now["mover"] == ME)
        memory[going] = kept
        kernels.step(variant.rule_set, now, actions)
        games[going[~ending]] = now[~ending]
    return found, games


@pytest.mark.skipif(UNCOMPILED, reason="thousands of games are played")
@pytest.mark.parametrize("decisions", [1, 2, 3])
def test_hands_in_the_belief_are_as_frequent_as_in_true_games(decisions):
    search = load_policy("search:single_agent:expert:worlds=1,hands=3000", "hanabi:2p", **SMALL)
    found, ended = histories(search.blueprint, sample(400_000, 0.03), decisions)
    common = sorted(found.values(), key=len)[-3:]
    for games in common:
        true = Counter(ended["hand"][g, ME].tobytes() for g in games)
        hands = Counter(hand.tobytes() for hand in believed(search, games[0], decisions))
        apart = sum(
            abs(true[h] / true.total() - hands[h] / hands.total()) for h in true.keys() | hands
        )
        assert apart / 2 < 0.03 + 0.6 * np.sqrt(len(true) / len(games)), (true, hands)


@pytest.mark.parametrize("shape", [(1, 3), (2, None)])
def test_a_memory_of_another_shape_is_refused(shape):
    search = load_policy("search:single_agent:expert:worlds=2,hands=20", game="hanabi:2p")
    games = begun(search.variant, 1)
    asked = search.with_worlds(Worlds(search.variant, games, games["mover"]))
    seen = observe(search.variant, games, games["mover"].astype(np.int64))
    rows, width = shape
    wrong = np.zeros((rows, width or search.memory_record.itemsize), np.uint8)
    for ask in (asked.distribution, asked.decision):
        with pytest.raises(UserError, match="memory"):
            ask(*seen, wrong)


def believed(search, number, decisions):
    """The hands of the belief at a decision of ME in the game of that number."""
    variant, blueprint = search.variant, search.blueprint
    games = begun(variant, number + 1)[-1:]
    own, memory = memories(search, 1), memories(blueprint, 1)
    while True:
        actions = likeliest(chances_of(blueprint, games, memory))
        if games["mover"][0] == ME:
            chances_of(search, games, own)
            decisions -= 1
            if decisions == 0:
                return own[:, ME].view(search.memory_record)["hands"].reshape(search.hands, -1)
        kernels.step(variant.rule_set, games, actions)


@pytest.mark.skipif(UNCOMPILED, reason="whole games are long")
@pytest.mark.parametrize("game", ["hanabi:2p", "hanabi:3p"])
def test_a_belief_that_is_carried_on_is_that_of_the_whole_game(game, monkeypatch):
    rows = {"replayed": 0, "all": 0}

    def counted(policy, history, hands, least):
        rows["replayed"] += len(hands)
        return likely(policy, history, hands, least)

    monkeypatch.setattr(hanabi_belief, "likely", counted)
    search = load_policy("search:single_agent:expert:worlds=1,hands=100", game)
    variant, blueprint = search.variant, search.blueprint
    games = begun(variant, 1, seed=5)
    own, memory = memories(search, 1), memories(blueprint, 1)
    while games["mover"][0] >= 0:
        if games["mover"][0] == ME:
            given, seat = search.with_worlds(Worlds(variant, games, [ME])), np.array([ME])
            decision, after = given.decision(*observe(variant, games, seat), own[:, ME])
            carried = given._belief(decision)
            rows["all"] += search.hands
            record = decision.memory
            history, least = record["history"][: record["decisions"]], np.full(100, -np.inf)
            _, whole = likely(blueprint, history, carried.hands, least)
            np.testing.assert_allclose(carried.likelihood, whole.likelihood, atol=1e-9)
            np.testing.assert_array_equal(carried.memory, whole.memory)
            same = [name for name in whole.games.dtype.names if name != "rng"]
            assert (carried.games[same] == whole.games[same]).all()
            own[:, ME] = after
        kernels.step(variant.rule_set, games, likeliest(chances_of(blueprint, games, memory)))
    assert 0.1 * rows["all"] < rows["replayed"] < 2 * rows["all"]  # with three moves, at most 4


@pytest.mark.skipif(UNCOMPILED, reason="whole games are long")
def test_hands_that_fall_below_the_least_likelihood_are_dropped():
    search = load_policy("search:single_agent:expert:worlds=1,hands=200", "hanabi:3p")
    variant, blueprint = search.variant, search.blueprint
    games = begun(variant, 1, seed=5)
    own, memory = memories(search, 1), memories(blueprint, 1)
    for _ in range(8 * variant.seats):
        if games["mover"][0] == ME:
            chances_of(search, games, own)
        kernels.step(variant.rule_set, games, likeliest(chances_of(blueprint, games, memory)))
    record = own[:, ME].view(search.memory_record)[0, 0]
    history, hands = record["history"][: record["decisions"]], record["hands"]
    hands = np.random.default_rng(0).permutation(hands)  # most explain nothing
    _, whole = likely(blueprint, history, hands, np.full(200, -np.inf))
    least = np.random.default_rng(1).permutation(whole.likelihood)
    rows, belief = likely(blueprint, history, hands, least)
    np.testing.assert_array_equal(rows, np.flatnonzero(whole.likelihood >= least))
    np.testing.assert_array_equal(belief.likelihood, whole.likelihood[rows])
    np.testing.assert_array_equal(belief.memory, whole.memory[rows])
    assert 0 < len(rows) < len(hands)


@pytest.mark.parametrize("top", [1, 3, 20])
@pytest.mark.parametrize("blueprint", ["hanabi:2p", "greedy"])
def test_the_best_actions_are_tried_and_those_that_tie_with_the_last(blueprint, top):
    search = load_policy(f"search:single_agent:{blueprint}:worlds=1,hands=9,top={top}", "hanabi:2p")
    given = search.with_worlds(Worlds(search.variant, begun(search.variant, 1), [ME]))
    seen = observe(search.variant, begun(search.variant, 1), np.array([ME]))
    decision, _ = given.decision(*seen, memories(search, 1)[:, ME])
    scores = search.blueprint.scores(*seen, decision.memory["own"][None])[0][0]
    actions = given.tried(decision)
    assert actions[0] == scores.argmax()
    assert len(actions) >= min(top, len(decision.actions))
    assert np.count_nonzero(scores[actions] > scores[actions].min()) < top
    left = np.setdiff1d(decision.actions, actions)
    assert (scores[left] < scores[actions].min()).all()


@pytest.mark.skipif(UNCOMPILED, reason="whole games are long")
def test_no_card_that_is_held_is_ruled_out():
    search = load_policy("search:single_agent:expert:worlds=1,hands=2000", "hanabi:2p")
    variant, blueprint = search.variant, search.blueprint
    games = begun(variant, sample(4, 0.25))
    own, memory = memories(search, len(games)), memories(blueprint, len(games))
    while len(games):
        mine = games["mover"] == ME
        if mine.any():
            now, kept = games[mine], own[mine]
            chances_of(search, now, kept)
            hands = (
                kept[:, ME]
                .copy()
                .view(search.memory_record)["hands"]
                .reshape(len(now), search.hands, -1)
            )
            assert (hands == now["hand"][:, None, ME]).any(1).all()
            own[mine] = kept
        kernels.step(variant.rule_set, games, likeliest(chances_of(blueprint, games, memory)))
        going = games["mover"] >= 0
        games, own, memory = games[going], own[going], memory[going]


@pytest.mark.parametrize("game", ["hanabi:2p", "hanabi:3p:multicolour", "hanabi:5p"])
def test_no_seat_comes_to_more_decisions_than_it_can_remember(game):
    variant, rng = make_variant(game), np.random.default_rng(0)
    games, decisions = begun(variant, 40), np.zeros((40, variant.seats), int)
    while (going := np.flatnonzero(games["mover"] >= 0)).size:
        now, seats = games[going], games["mover"][going].astype(np.int64)
        legal = (
            observe(variant, now, seats)[1]
            * (variant.rule_set.kind != PLAY)[: variant.actions.size]
        )
        kernels.step(variant.rule_set, now, (legal * rng.random(legal.shape)).argmax(1))
        games[going] = now
        decisions[going, seats] += 1
    most = most_decisions(variant.rule_set)
    assert 0.9 * most < decisions.max() <= most


@pytest.mark.skipif(UNCOMPILED, reason="whole games are long")
@pytest.mark.parametrize("game", ["hanabi:2p", "hanabi:3p"])
def test_what_is_remembered_of_another_game_is_not_believed(game):
    search = load_policy("search:single_agent:greedy:worlds=1,hands=20", game)
    games, memory = begun(search.variant, 2), memories(search, 2)
    for _ in range(3 * search.variant.seats):
        kernels.step(search.variant.rule_set, games, likeliest(chances_of(search, games, memory)))
    fresh = memories(search, 1)
    chances_of(search, games[:1], fresh)
    of_the_other = memory[1:].copy()
    chances_of(search, games[:1], of_the_other)
    chances_of(search, games[:1], memory[:1])
    decisions = [
        int(each[0, games["mover"][0]].view(search.memory_record)["decisions"][0])
        for each in (fresh, of_the_other, memory)
    ]
    assert decisions == [1, 1, 4]


EDITED = {  # what no player remembers: a field of a `memory_record`, and how it was changed
    "a card that does not exist": ("hands", lambda hands: np.full_like(hands, 120)),
    "one card in every slot": ("hands", lambda hands: hands[:, :1].repeat(hands.shape[1], 1)),
    "no number": ("likelihood", lambda likelihood: likelihood * np.nan),
    "more than certain": ("likelihood", lambda likelihood: likelihood + 1e9),
    "decisions to come": ("decisions", lambda decisions: decisions + 1),
    "positions that are none": ("history", lambda history: history[::-1]),
}


@pytest.mark.skipif(UNCOMPILED, reason="whole games are long")
@pytest.mark.parametrize("edit", EDITED)
def test_a_memory_that_was_edited_is_not_believed(edit):
    search = load_policy("search:single_agent:greedy:worlds=1,hands=20", "hanabi:2p")
    games, memory = begun(search.variant, 1), memories(search, 1)
    for _ in range(3 * search.variant.seats):
        kernels.step(search.variant.rule_set, games, likeliest(chances_of(search, games, memory)))
    remembered = memory[0, int(games["mover"][0])].view(search.memory_record)[0]
    field, changed = EDITED[edit]
    remembered[field] = changed(remembered[field].copy())
    chances_of(search, games, memory)
    assert remembered["decisions"] == 1
    assert np.isfinite(remembered["likelihood"]).all()


@pytest.mark.skipif(UNCOMPILED, reason="whole games are long")
def test_another_seat_may_begin_than_the_options_of_the_search_say():
    search = load_policy("search:single_agent:greedy:worlds=1,hands=20", "hanabi:2p", starter=0)
    variant = make_variant("hanabi:2p")
    games = next(one for one in map(np.atleast_1d, begun(variant, 20)) if one["mover"][0] == 1)
    memory = memories(search, 1)
    for number in range(4):
        seat = games["mover"].astype(np.int64)
        given = search.with_worlds(Worlds(variant, games, seat))
        seen = observe(variant, games, seat)
        decision, _ = given.decision(*seen, memory[:, seat[0]])
        assert (given._belief(decision).games["mover"] == seat).all()
        chances, _, memory[:, seat[0]] = given.distribution(*seen, memory[:, seat[0]])
        remembered = memory[0, seat[0]].view(search.memory_record)[0]
        assert remembered["decisions"] == 1 + number // 2
        kernels.step(variant.rule_set, games, likeliest(chances))


def test_an_action_is_given_up_once_it_is_clearly_worse_or_brings_the_same():
    rng = np.random.default_rng(0)
    own, noise = rng.normal(size=200), 0.1 * rng.normal(size=(200, 2))
    results = np.column_stack((own, own, own + 1 + noise[:, 0], own + 1 + noise[:, 1], own - 1))
    few, many = (worth_more_worlds(results[:n], keep_first=True) for n in (16, 200))
    assert few.tolist() == [True, False, True, True, False]
    assert many.tolist() == [False, False, True, True, False]
    alike = worth_more_worlds(results[:, :2], keep_first=True)
    assert alike.tolist() == [True, False]
    assert worth_more_worlds(results[:1], keep_first=False).all()


def test_worlds_that_another_seat_cannot_tell_apart_are_asked_about_once():
    hands = np.array([[1, 2], [3, 4], [1, 2], [1, 2]], np.int8)
    memory = np.array([[0], [0], [0], [7]], np.int32)
    first, group = distinguished(hands, memory)
    assert len(first) == 3
    np.testing.assert_array_equal(hands[first][group], hands)
    np.testing.assert_array_equal(memory[first][group], memory)


@pytest.mark.skipif(UNCOMPILED, reason="whole games are long")
@pytest.mark.parametrize("game", ["hanabi:2p", "hanabi:3p:multicolour"])
def test_a_player_who_remembers_answers_alike_in_games_it_cannot_tell_apart(game):
    search = load_policy("search:single_agent:expert:worlds=4,hands=40", game)
    games, memory = begun(search.variant, 2), memories(search, 2)
    for _ in range(4 * search.variant.seats):
        seats = games["mover"].astype(np.int64)
        others = np.concatenate(
            [Worlds(search.variant, games, seats).sample(row, np.array([9])) for row in range(2)]
        )
        same = memory.copy()
        chances = chances_of(search, games, memory)
        np.testing.assert_array_equal(chances, chances_of(search, others, same))
        np.testing.assert_array_equal(memory[[0, 1], seats], same[[0, 1], seats])
        kernels.step(search.variant.rule_set, games, likeliest(chances))


@pytest.mark.skipif(UNCOMPILED, reason="thousands of games are played")
@pytest.mark.parametrize("game", ["hanabi:2p", "hanabi:4p"])
def test_remaining_points_are_estimated_without_bias(game):
    expert = load_policy("expert", game)
    remaining_points = RemainingPoints(expert)
    games, ended = played(expert, np.arange(10**6, 10**6 + 500, dtype=np.uint64))
    late = phases(games) == expert.variant.seats + 8
    to_come = (ended - games["score"])[late]
    error = to_come - remaining_points(games[late])
    assert abs(error.mean()) < 4 * error.std() / np.sqrt(len(error))
    assert error.std() < 0.8 * to_come.std()


@pytest.mark.skipif(UNCOMPILED, reason="whole games are long")
def test_one_player_who_looks_ahead_raises_the_score():
    small = {"colours": 3, "ranks": 3, "hand_size": 3, "max_clues": 4}
    search = load_policy("search:single_agent:greedy:worlds=32,hands=100", "hanabi:2p", **small)
    assert gains(search, sample(2_000, 0.01)).mean() > 0.3


def gains(search, count):
    """How many points more each deal brings if one seat searches, (count,)."""
    deals = np.arange(count, dtype=np.uint64)
    seating = np.tile([0, 1], (len(deals), 1))
    how = {"deals": deals, "seed": 0, "play": "argmax"}
    with_search, _ = play_games([search, search.blueprint], search.variant, seating, **how)
    without, _ = play_games([search.blueprint], search.variant, 0 * seating, **how)
    return (with_search - without)[:, 0]


@pytest.mark.parametrize(
    ("spec", "game", "named"),
    [
        ("search:single_agent:worlds=8", "hanabi:2p", "search:single_agent"),
        ("search:single_agent:expert", "hanabi:2p", "worlds"),
        ("search:single_agent:expert:worlds=8,hands=0", "hanabi:2p", "hands"),
        ("search:single_agent:expert:worlds=8,sure=no", "hanabi:2p", "sure"),
        ("search:single_agent:expert:worlds=8,worlds=64", "hanabi:2p", "worlds.*twice"),
        ("search:single_agent:expert:worlds=8,seed=x", "hanabi:2p", "seed"),
        ("search:single_agent:expert:worlds=8", "hanamikoji", "hanamikoji"),
    ],
)
def test_a_search_that_cannot_be_is_refused_with_one_sentence(spec, game, named):
    with pytest.raises(UserError, match=named):
        load_policy(spec, game)
