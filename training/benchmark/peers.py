"""Other engines, each used as its own documentation shows; they are imported when their turn comes.

Play is random and legal; in Hanabi it reaches the end of the deck.
"""

from collections.abc import Callable
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.games.registry import variant as make_variant
from hanamachi.training.benchmark.faces import cautious, one_game_of
from hanamachi.training.benchmark.measure import Play, Side, Work, rate
from hanamachi.training.benchmark.recorded import recorded_games

RECORDED = 8, 400  # rows of recorded games, and decisions in each
BATCHES = (4096, 16384, 65536)  # among which a batched engine's best is looked for
BATCHED_DECISIONS = 2**17  # before the clock is looked at
TRIAL = 0.5  # seconds of each batch, at least


def engine_peers(variant: Variant) -> list[Side]:
    seats = variant.seats
    zoo = "PettingZoo's classic games"
    return [
        Side(f"OpenSpiel hanabi, {seats} players", partial(openspiel_hanabi, seats), "OpenSpiel"),
        Side(f"PettingZoo hanabi, {seats} players", partial(pettingzoo_hanabi, seats), zoo),
        Side("OpenSpiel gin_rummy", partial(openspiel, "gin_rummy"), "OpenSpiel"),
        Side("OpenSpiel leduc_poker", partial(openspiel, "leduc_poker"), "OpenSpiel"),
        Side("RLCard gin-rummy", partial(rlcard, "gin-rummy"), "RLCard"),
        Side("PGX leduc_holdem", partial(pgx, "leduc_holdem"), "PGX"),
        Side("PGX kuhn_poker", partial(pgx, "kuhn_poker"), "PGX"),
        Side("PGX connect_four", partial(pgx, "connect_four"), "PGX"),
    ]


# --- OpenSpiel


def openspiel(name: str) -> Work:
    """Whatever chance can do in these games is equally likely."""
    import pyspiel

    game, rng = pyspiel.load_game(name), np.random.default_rng(0)

    def play() -> int:
        state, decisions = game.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes = state.chance_outcomes()
                state.apply_action(outcomes[int(rng.random() * len(outcomes))][0])
                continue
            look(state)
            legal = state.legal_actions()
            decisions += len(legal) > 1
            state.apply_action(legal[int(rng.random() * len(legal))])
        return decisions

    return Work(play, seen_in(game))


def look(state: Any) -> None:
    np.array(state.observation_tensor(state.current_player()), np.float32)
    np.array(state.legal_actions_mask(), np.int8)


def seen_in(game: Any) -> str:
    entries, actions = np.prod(game.observation_tensor_shape()), game.num_distinct_actions()
    return f"float32 observation of {entries} entries, int8 mask of {actions}; one game from Python"


def openspiel_hanabi(players: int) -> Work:
    """Recorded games: both chance and actions are given."""
    import pyspiel

    game = pyspiel.load_game("hanabi", {"players": players})
    variant = make_variant(f"hanabi:{players}p", starter=0)  # as in OpenSpiel
    records = cycle(recorded_games(variant, *RECORDED))

    def play() -> int:
        record = next(records)
        chance, actions = iter(record.chance), iter(record.actions)
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(next(chance))
                continue
            look(state)
            state.apply_action(next(actions))
        return len(record.actions)

    return Work(play, seen_in(game))


# --- PettingZoo and RLCard


def pettingzoo_hanabi(players: int) -> Work:
    """It deals by itself, so its games cannot be given."""
    from pettingzoo.classic.hanabi import hanabi

    hand = 5 if players < 4 else 4  # the first actions discard these cards, the next play them
    env = hanabi.raw_env(players=players, hand_size=hand)
    env.reset(seed=0)
    view = env.last()[0]
    gives = sizes(view["observation"], view["action_mask"])
    return Work(one_game_of(env, cautious(hand, 2 * hand)), f"{gives}; one game from Python")


def sizes(observation: Any, mask: Any) -> str:
    seen = f"{observation.dtype} observation of {observation.size} entries"
    return f"{seen}, {mask.dtype} mask of {mask.size}"


def rlcard(name: str) -> Work:
    import rlcard

    env, rng = rlcard.make(name, config={"seed": 0}), np.random.default_rng(0)
    seen = env.reset()[0]["obs"]

    def play() -> int:
        decisions = 0
        state, _ = env.reset()
        while not env.is_over():
            legal = list(state["legal_actions"])
            decisions += len(legal) > 1
            state, _ = env.step(legal[int(rng.random() * len(legal))])
        return decisions

    gives = f"{seen.dtype} observation of {seen.size} entries, list of the legal actions"
    return Work(play, f"{gives}; one game from Python")


# --- PGX


def pgx(name: str) -> Work:
    """At the batch that suits it best."""
    works = [pgx_batch(name, batch) for batch in BATCHES]
    return max(works, key=lambda work: speed(work.play))


def speed(play: Play) -> float:
    play()  # compiles
    return rate(play, TRIAL)


def pgx_batch(name: str, batch: int) -> Work:
    import jax
    import pgx
    from pgx.experimental import auto_reset

    env: Any = pgx.make(name)  # type: ignore[arg-type]
    key = jax.random.key(0)
    states = jax.jit(jax.vmap(env.init))(jax.random.split(key, batch))
    decide = jax.jit(random_step(jax.vmap(auto_reset(env.step, env.init)), batch))

    def play() -> int:
        nonlocal key, states
        decisions = 0
        for _ in range(BATCHED_DECISIONS // batch):
            key, states, made = decide(key, states)
            decisions += made
        jax.block_until_ready(states)
        return int(decisions)

    gives = sizes(states.observation[0], states.legal_action_mask[0])
    return Work(play, f"{gives}; jitted batch of {batch:,} on {jax.default_backend()}")


def random_step(step: Callable[..., Any], batch: int) -> Callable[[Any, Any], Any]:
    """One decision in every row; returns the next states, and how many rows had a choice."""
    import jax
    from jax import numpy as jnp

    def decide(key: Any, states: Any) -> Any:
        key, choose, deal = jax.random.split(key, 3)
        mask = states.legal_action_mask
        actions = jax.random.categorical(choose, jnp.where(mask, 0.0, -jnp.inf))
        after = step(states, actions, jax.random.split(deal, batch))
        return key, after, (mask.sum(1) > 1).sum()

    return decide
