"""What a policy plays with tells it from another, also where it has no name; nothing else does."""

import os
import shlex
import subprocess
import sys
from functools import partial, wraps

import numpy as np
import pytest
import torch
from stable_baselines3 import PPO

from hanamachi.errors import UserError
from hanamachi.games.registry import variant
from hanamachi.policies.external.bot import Limits
from hanamachi.policies.external.model import ModelPolicy
from hanamachi.policies.external.model_settings import Settings
from hanamachi.policies.external.process import ProcessPolicy
from hanamachi.policies.networks.network import checkpoint_of, for_variant
from hanamachi.policies.networks.onnx_export import write_onnx
from hanamachi.policies.networks.onnx_policy import load_onnx
from hanamachi.policies.policy import Policy
from hanamachi.policies.rules.rule_policy import RandomPolicy
from hanamachi.policies.sampling import uniform
from hanamachi.policies.search.endgame import Endgame
from hanamachi.policies.search.improve import Improve
from hanamachi.policies.search.mcts import Mcts
from hanamachi.policies.tabular import TabularPolicy
from hanamachi.policies.user_functions import BatchPolicy, as_policy
from hanamachi.training import evaluate
from hanamachi.training.evaluation.fingerprints import digest_of_object

RULES = variant("hanamikoji", max_rounds=1)
BLUEPRINT = RandomPolicy(RULES)


def first(observation, mask):
    return mask.argmax(1)


def last(observation, mask):
    return mask.shape[1] - 1 - mask[:, ::-1].argmax(1)


def choosing(place):
    return lambda observation, mask: np.flatnonzero(mask)[place]


def decorated(function):
    @wraps(function)
    def called(*seen):
        return function(*seen)

    return called


def table(chance):
    seen = np.zeros((1, RULES.observation.size), np.float32)
    chances = np.zeros((1, RULES.actions.size), np.float32)
    chances[0, :2] = chance, 1 - chance
    return TabularPolicy(RULES, seen, chances)


def bot(program, **limits):
    return ProcessPolicy(RULES, shlex.split(program), Limits(**limits), name="bot")


def model(**settings):
    return ModelPolicy(RULES, "model", Settings(url="http://127.0.0.1:9/v1", **settings))


def module(number):
    torch.manual_seed(number)
    return torch.nn.Linear(2, 2)


def using(part):
    return lambda observation, mask: part(torch.zeros(2))


class Own(Policy):
    name = "own"

    def __init__(self, variant, **settings):
        super().__init__(variant)
        vars(self).update(settings)

    def distribution(self, observation, mask, memory):
        return uniform(mask), None, memory


UNLIKE = {
    "functions": lambda n: BatchPolicy((first, last)[n], RULES),
    "lambdas": lambda n: (lambda o, m: 0, lambda o, m: 1)[n],
    "what a function was made with": lambda n: as_policy(choosing((0, -1)[n]), RULES),
    "what is given beforehand": lambda n: partial(choosing, n),
    "what is decorated": lambda n: decorated((first, last)[n]),
    "the policy of a method": lambda n: table(n / 2).distribution,
    "tables": lambda n: table(n / 2),
    "programs": lambda n: bot(("./a", "./b")[n]),
    "limits": lambda n: bot("./a", seconds=1 + n),
    "settings of a model": lambda n: model(sampling={"temperature": n / 2}),
    "positions": lambda n: Endgame(RULES, BLUEPRINT, worlds=1, positions=10 + n),
    "random shares": lambda n: Endgame(RULES, BLUEPRINT, worlds=1, random_share=(1 + n) / 2),
    "explore": lambda n: Mcts(RULES, None, worlds=1, explore=1.0 + n),
    "widen": lambda n: Mcts(RULES, None, worlds=1, widen=1.0 + n),
    "top": lambda n: Improve(RULES, BLUEPRINT, worlds=1, top=1 + n),
    "budgets": lambda n: Improve(RULES, BLUEPRINT, **({"worlds": 1}, {"seconds": 1.0})[n]),
    "blueprints": lambda n: Improve(RULES, table(n / 2), worlds=1),
    "classes": lambda n: (Own, RandomPolicy)[n](RULES),
    "numbers of one's own policy": lambda n: Own(RULES, sharpness=n / 2),
    "arrays of one's own policy": lambda n: Own(RULES, weights=np.full(3, n)),
    "policies in one's own policy": lambda n: Own(RULES, inner=(table(n / 2),)),
    "modules in one's own policy": lambda n: Own(RULES, module=module(n)),
    "the module of a function": lambda n: using(module(n)),
    "a learner": lambda n: BatchPolicy(PPO("MlpPolicy", "CartPole-v1", seed=n).predict, RULES),
}


@pytest.mark.parametrize("kind", UNLIKE)
def test_other_content_is_another_policy_and_the_same_content_the_same(kind):
    made = UNLIKE[kind]
    assert digest_of_object(made(0)) == digest_of_object(made(0))
    assert digest_of_object(made(0)) != digest_of_object(made(1))


def test_a_program_that_changes_is_another_policy(tmp_path):
    file = tmp_path / "mine.py"
    digests = set()
    for text in ("a", "b"):
        file.write_text(text)
        digests.add(digest_of_object(bot(f"python {file}")))
    assert len(digests) == 2


def test_an_exported_file_is_known_by_its_content(tmp_path):
    pytest.importorskip("onnxruntime")
    paths = [tmp_path / folder / "policy.onnx" for folder in "ab"]
    for path in paths:
        write_onnx(checkpoint_of(for_variant(RULES, [4]), RULES), path)
    one, again, other = (digest_of_object(load_onnx(paths[n])) for n in (0, 0, 1))
    assert one == again != other


def test_what_changes_as_a_policy_plays_does_not_make_it_another():
    known, policy = {}, BLUEPRINT

    def remembering(observation, mask):
        return known.setdefault(mask.tobytes(), int(mask.argmax()))

    def calling_itself(observation, mask):
        return calling_itself

    kept = []
    partly = partial(remembering, kept=kept, pair=(1, kept))
    all_of_them = remembering, calling_itself, policy, partly
    before = [digest_of_object(each) for each in all_of_them]
    remembering(None, np.ones(3, np.int8))
    kept.append(1)
    policy.rng.random()
    assert [digest_of_object(each) for each in all_of_them] == before
    assert digest_of_object(partial(remembering, pair=(1, 2))) != digest_of_object(
        partial(remembering, pair=(1, 3))
    )


MINE = """
from hanamachi.training.evaluation.fingerprints import digest_of_object

def act(observation, mask):
    return "a" in {"a", "b", "c", "d", "e", "f", "g"}

print(digest_of_object(act))
"""


def test_every_process_gives_the_same_digest(tmp_path):
    """Python orders the entries of a set in another way in each."""
    (tmp_path / "mine.py").write_text(MINE)
    run = partial(subprocess.run, capture_output=True, text=True, check=True, cwd=tmp_path)
    environments = [{**os.environ, "PYTHONHASHSEED": seed} for seed in "12"]
    digests = {run([sys.executable, "mine.py"], env=each).stdout for each in environments}
    assert len(digests) == 1


def test_results_of_another_function_are_not_taken_for_its_own(tmp_path, monkeypatch):
    def won(function):
        policies = [BatchPolicy(function, RULES), "random"]
        return evaluate(policies, "hanamikoji", 4, out=tmp_path, max_rounds=1)

    won(first)
    won(first)
    monkeypatch.setattr(last, "__name__", "first")
    with pytest.raises(UserError, match="has changed"):
        won(last)
