"""The same seed and the same actions give the same game, whoever asks and however it is run."""

import os
import subprocess
import sys
from hashlib import sha256

import numpy as np
import pytest
from samples import WHOLE, sample

from hanamachi import VARIANTS
from hanamachi import variant as make_variant
from hanamachi.adapters.aec import AEC
from hanamachi.adapters.gymnasium import SeatEnv
from hanamachi.adapters.gymnasium_vector import VectorSeatEnv
from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.engine.threads import parallel_for

IDS = list(VARIANTS)
HEAVY = ["hanamikoji:three_rounds", "geishas_road:advanced", "hanabi:3p"]  # also many at once
UNCOMPILED = IDS if WHOLE else HEAVY
SEED = 100  # of the first game; the next has the next
MANY = sample(4096, 0.25)
FEW = 3
SOME = sample(4096, 1 / 256)
NO_DECISION = "the game ended before the learner's first decision"


def choose(masks):
    """The actions, (B,), that everyone in this file chooses: they depend on the masks alone."""
    counts = masks.sum(1, dtype=np.int64)
    ranks = (counts * counts // 3 + 5) % counts
    return (masks.cumsum(1, dtype=np.int32) > ranks[:, None]).argmax(1)


def choose_one(observation, mask):
    return int(choose(mask[None])[0])


class Transcript:
    """What the learner, in seat 0, sees at its decisions and at the end, and has earned by then.

    Not what it has earned by its first decision: some adapters give that with its first step.
    """

    def __init__(self):
        self.digest, self.earned, self.begun, self.done = sha256(), 0.0, False, False
        self.decided = False  # whether the learner has decided anything

    def earns(self, reward):
        self.earned += reward

    def sees(self, observation):
        self.digest.update(observation.tobytes())
        if self.begun:
            self.digest.update(np.float64(self.earned).tobytes())
        self.begun = True

    def ends(self, observation):
        self.decided = self.begun
        self.sees(observation)
        self.done = True


def digests(transcripts):
    assert all(transcript.done for transcript in transcripts)
    return [t.digest.hexdigest() if t.decided else NO_DECISION for t in transcripts]


# --- The ways to play


def by_aec(id, games):
    env, transcripts = AEC(id), [Transcript() for _ in range(games)]
    for i, transcript in enumerate(transcripts):
        env.reset(seed=SEED + i)
        while not any(env.terminations.values()):
            seen, reward, *_ = env.last()
            if env.agent_selection == "player_0":
                transcript.earns(reward)
                transcript.sees(seen["observation"])
            env.step(choose_one(*seen.values()))
        assert env.agent_selection == "player_0"
        seen, reward, *_ = env.last()
        transcript.earns(reward)
        transcript.ends(seen["observation"])
    return digests(transcripts)


def by_single(id, games):
    env = SeatEnv(id, seat=0, opponent=choose_one)
    transcripts = [Transcript() for _ in range(games)]
    for i, transcript in enumerate(transcripts):
        observation, info = env.reset(seed=SEED + i)
        while not transcript.done:
            transcript.sees(observation)
            action = choose_one(observation, info["action_mask"])
            observation, reward, terminated, _, info = env.step(action)
            transcript.earns(reward)
            if terminated:
                transcript.ends(observation)
    return digests(transcripts)


class Opponent:
    def act(self, observation, mask, memory, rng):
        return choose(mask), memory


def by_vector(id, games, threads=1):
    envs = VectorSeatEnv(id, games, seat=0, opponent=Opponent(), threads=threads)
    transcripts = [Transcript() for _ in range(games)]
    observations, infos = envs.reset(seed=SEED)
    while not all(transcript.done for transcript in transcripts):
        playing = [i for i, transcript in enumerate(transcripts) if not transcript.done]
        for i in playing:
            transcripts[i].sees(observations[i])
        observations, rewards, terminated, _, infos = envs.step(choose(infos["action_mask"]))
        for i in playing:
            transcripts[i].earns(rewards[i])
            if terminated[i]:
                transcripts[i].ends(infos["final_obs"][i])
    return digests(transcripts)


def by_kernels(id, games, threads=1):
    """In one batch of all; returns the digests and the final records."""
    variant = make_variant(id)
    batch = variant.new(SEED + np.arange(games, dtype=np.uint64))
    transcripts = [Transcript() for _ in range(games)]
    parallel_for(kernels.reset, variant.rule_set, batch, threads=threads)
    while len(rows := np.flatnonzero(batch["mover"] != OVER)):
        playing = batch[rows]
        masks = np.empty((len(rows), variant.actions.size), np.int8)
        parallel_for(kernels.masks, variant.rule_set, playing, masks, threads=threads)
        for row, seen in zip(rows, learners_view(variant, playing, threads), strict=True):
            if batch["mover"][row] == 0:
                transcripts[row].sees(seen)
        parallel_for(kernels.step, variant.rule_set, playing, choose(masks), threads=threads)
        batch[rows] = playing
        for row, reward in zip(rows, playing["rewards"][:, 0], strict=True):
            transcripts[row].earns(reward)
    for transcript, seen in zip(transcripts, learners_view(variant, batch, threads), strict=True):
        transcript.ends(seen)
    return digests(transcripts), batch


def learners_view(variant, games, threads):
    seen = np.empty((len(games), variant.observation.size), np.float32)
    seats = np.zeros(len(games), np.int64)
    parallel_for(kernels.observations, variant.rule_set, games, seats, seen, threads=threads)
    return seen


# --- The same


@pytest.mark.parametrize("id", IDS)
def test_in_every_adapter(id):
    expected, _ = by_kernels(id, SOME)
    decided = [digest for digest in expected if digest != NO_DECISION]
    assert len(set(decided)) == len(decided) > 0.9 * SOME
    assert by_aec(id, SOME) == expected
    for played in (by_single(id, SOME), by_vector(id, SOME)):
        # where the learner decides nothing, its environment begins another game
        both = zip(played, expected, strict=True)
        assert [mine for mine, other in both if other != NO_DECISION] == decided


@pytest.fixture(scope="module", params=HEAVY)
def many(request):
    """An id, and what many games of it at once show and end with."""
    return request.param, *by_kernels(request.param, MANY)


def test_in_every_batch_size(many):
    id, expected, _ = many
    assert by_vector(id, MANY) == expected
    assert by_kernels(id, SOME)[0] == expected[:SOME]
    assert by_vector(id, 1) == by_kernels(id, 1)[0] == expected[:1]


def test_on_one_thread_and_on_two(many):
    id, expected, ended = many
    again, games = by_kernels(id, MANY, threads=2)
    assert again == expected
    assert (games == ended).all()
    assert by_vector(id, MANY, threads=2) == expected


def test_compiled_and_uncompiled():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    uncompiled = subprocess.run(
        [sys.executable, __file__], env=environment, capture_output=True, text=True, check=True
    )
    assert uncompiled.stdout.split() == [d for id in UNCOMPILED for d in by_kernels(id, FEW)[0]]


if __name__ == "__main__":
    for id in UNCOMPILED:
        expected, _ = by_kernels(id, FEW)
        assert by_aec(id, FEW) == by_single(id, FEW) == by_vector(id, FEW) == expected
        print(*expected)
