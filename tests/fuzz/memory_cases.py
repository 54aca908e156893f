"""What a policy remembers, altered between two decisions, as a caller or a damaged file may do."""

from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from hanamachi.policies.load import load_policy
from hanamachi.policies.policy import Policy
from hanamachi.sessions.players import SeatedPlayer, turn_of
from hanamachi.sessions.session import Session

SEARCH = "search:single_agent:{}:worlds=1,hands=20"
POLICIES = (
    ("expert", "hanabi:2p"), ("hat", "hanabi:4p"), ("hanabi:2p", "hanabi:2p"),
    ("hanabi:3p", "hanabi:3p"), (SEARCH.format("greedy"), "hanabi:2p"),
    (SEARCH.format("hat"), "hanabi:4p"), (SEARCH.format("hanabi:2p"), "hanabi:2p"),
)  # fmt: skip
DECISIONS = 12  # before or after which a memory is altered


class Altered(NamedTuple):
    """A policy and a game in which its memory is altered."""

    policy: str
    game: str
    decisions: int  # until then
    seed: int


def draw(rng: Random, folder: Path) -> Altered:
    return Altered(*rng.choice(POLICIES), rng.randrange(DECISIONS), rng.randrange(1 << 30))


def use(case: Altered) -> None:
    """The policy plays on, whatever it finds in its memory, or UserError refuses that."""
    policy, rng = load_policy(case.policy, case.game), Random(case.seed)
    session, player = Session(policy.variant), SeatedPlayer(policy, policy.variant, 1)
    session.begin(case.seed)
    for number in range(2 * DECISIONS):
        if session.mover < 0:
            break
        if number >= case.decisions and rng.random() < 0.5:
            alter(player, session.mover, rng)
        probabilities, _ = player.distribution(turn_of(session))
        session.step(int(probabilities[0].argmax()))


def alter(player: SeatedPlayer[Policy], seat: int, rng: Random) -> None:
    """Change bytes of what the policy remembers in a seat."""
    memory = player.memory[0, seat].copy()
    content = memory.reshape(-1).view(np.uint8)
    if content.size:
        begin = rng.randrange(content.size)
        part = content[begin : begin + rng.choice([1, 8, 1000, content.size])]
        part[:] = np.frombuffer(rng.randbytes(part.size), np.uint8) if rng.random() < 0.7 else 255
    player.memory[0, seat] = memory
