"""What a policy thinks of a position, and the action that it then plays among people."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.policies.external.process import ProcessPolicy
from hanamachi.policies.policy import Policy
from hanamachi.policies.sampling import best
from hanamachi.sessions.players import SeatedPlayer, turn_of
from hanamachi.sessions.session import Session

HINTS = 5

ExactProbabilities = NDArray[np.float64]  # (A,) of the actions


class Thought(NamedTuple):
    """What a policy thinks in the place of the seat to move."""

    choices: list[tuple[float, str]]  # the most probable ones, with their probabilities
    value: float | None  # of the position for that seat, if the policy has values


def judgement(
    player: SeatedPlayer[Policy], session: Session, remember: bool = True
) -> tuple[ExactProbabilities, float | None]:
    """The player's probabilities for the seat to move, and its value if it has one.

    After a failure it can be asked again.
    """
    if isinstance(player.policy, ProcessPolicy):
        player.policy.ask_again()
    probabilities, values = player.distribution(turn_of(session), remember)
    exact = probabilities[0].astype(np.float64)
    return exact / exact.sum(), None if values is None else float(values[0])


def thought_of(session: Session, probabilities: ExactProbabilities, value: float | None) -> Thought:
    """A judgement in words."""
    order, position = np.argsort(-probabilities, kind="stable")[:HINTS], session.games[0]
    describe = session.variant.actions.describe
    likely = [(float(probabilities[a]), int(a)) for a in order if probabilities[a] > 0]
    return Thought([(p, describe(action, position)) for p, action in likely], value)


def choice(variant: Variant, probabilities: ExactProbabilities, rng: np.random.Generator) -> int:
    """Sampled in competitive games, and the most probable action in cooperative ones."""
    if variant.game.cooperative:
        probabilities = best(probabilities[None].astype(np.float32))[0].astype(np.float64)
        probabilities /= probabilities.sum()
    return int(rng.choice(len(probabilities), p=probabilities))


def recalled(policy: Policy, session: Session, seats: Sequence[int]) -> SeatedPlayer[Policy]:
    """The policy with the memory it would have if it had sat in these seats from the start.

    The game is played again; it must have begun from its start.
    """
    player, past = SeatedPlayer(policy, session.variant, games=1), Session(session.variant)
    if not player.memory.size:
        return player
    past.begin_dealt(session.generator, session.deal)
    for action in session.actions:
        if past.mover in seats:
            player.distribution(turn_of(past))
        past.step(action)
    return player
