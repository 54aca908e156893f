"""Other game engines as baselines, each used as its own documentation shows.

Play is random and legal; in Hanabi it reaches the end of the deck. A library is imported when its
work is prepared.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np

from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.games.registry import variant as make_variant
from hanamachi.sessions.saved_games import Record, record_of
from hanamachi.sessions.session import Session
from hanamachi.training.benchmark.adapters import cautious, one_game_of
from hanamachi.training.benchmark.measure import Play, Work, rate
from hanamachi.training.benchmark.recorded import recorded
from hanamachi.training.learner.vecenv import SelfPlayVecEnv

RECORDED = 8, 400  # rows of recorded games, and decisions in each
BATCHES = (4096, 16384, 65536)  # sizes that a batched engine is tried with
BATCHED_DECISIONS = 2**17  # in one call
ZOO = "PettingZoo's classic games"  # the library, in messages
TRIAL = 0.5  # seconds to try each batch size, at least


class Peer(NamedTuple):
    """A baseline that needs another library."""

    name: str
    library: str
    prepare: Callable[[], Work]


def engine_peers(variant: Variant) -> list[Peer]:
    seats, hanabi = variant.seats, f"hanabi, {variant.seats} players"
    return [
        Peer(f"OpenSpiel {hanabi}", "OpenSpiel", partial(openspiel_hanabi, seats)),
        Peer(f"PettingZoo {hanabi}", ZOO, partial(pettingzoo_hanabi, seats)),
        Peer("OpenSpiel gin_rummy", "OpenSpiel", partial(openspiel, "gin_rummy")),
        Peer("OpenSpiel leduc_poker", "OpenSpiel", partial(openspiel, "leduc_poker")),
        Peer("RLCard gin-rummy", "RLCard", partial(rlcard, "gin-rummy")),
        Peer("PGX leduc_holdem", "PGX", partial(pgx, "leduc_holdem")),
        Peer("PGX kuhn_poker", "PGX", partial(pgx, "kuhn_poker")),
        Peer("PGX connect_four", "PGX", partial(pgx, "connect_four")),
    ]


def connect_four(name: str) -> Peer:
    """PettingZoo's environment of that name: `env` or `raw_env`."""
    prepare = partial(pettingzoo_connect_four, name)
    return Peer(f"PettingZoo connect_four, {name}()", ZOO, prepare)


# --- OpenSpiel


def openspiel(name: str) -> Work:
    """For games in which all outcomes of chance are equally likely."""
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
    """Recorded games: chance and actions are given."""
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


def recorded_games(variant: Variant, rows: int, length: int) -> list[Record]:
    """All games that end when each of the rows makes `length` decisions."""
    games = SelfPlayVecEnv(variant, rows)
    generators = games.games["rng"].tolist()
    played = zip(generators, recorded(games, length).T.tolist(), strict=True)
    return [record for generator, row in played for record in finished(variant, generator, row)]


def finished(variant: Variant, generator: int, actions: list[int]) -> Iterator[Record]:
    """The games that a row's generator and actions lead to their end."""
    session = Session(variant)
    session.begin_dealt(generator, ())
    for action in actions:
        session.step(action)
        if session.mover == OVER:
            yield record_of(session)
            session.begin()


# --- PettingZoo and RLCard


def pettingzoo_hanabi(players: int) -> Work:
    """It deals by itself, so it cannot replay recorded games."""
    from pettingzoo.classic.hanabi import hanabi

    hand = 5 if players < 4 else 4  # the first actions discard these cards, the next play them
    env = hanabi.raw_env(players=players, hand_size=hand)
    env.reset(seed=0)
    view = env.last()[0]
    gives = sizes(view["observation"], view["action_mask"])
    return Work(one_game_of(env, cautious(hand, 2 * hand)), f"{gives}; one game from Python")


def pettingzoo_connect_four(name: str) -> Work:
    from pettingzoo.classic.connect_four import connect_four as game

    gives = "int8 observation of 84 entries, int8 mask of 7; one game from Python"
    return Work(one_game_of(getattr(game, name)()), gives)


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
    """At its fastest batch size."""
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
    """One decision in every row; returns the next states and the number of unforced decisions."""
    import jax
    from jax import numpy as jnp

    def decide(key: Any, states: Any) -> Any:
        key, choose, deal = jax.random.split(key, 3)
        mask = states.legal_action_mask
        actions = jax.random.categorical(choose, jnp.where(mask, 0.0, -jnp.inf))
        after = step(states, actions, jax.random.split(deal, batch))
        return key, after, (mask.sum(1) > 1).sum()

    return decide
