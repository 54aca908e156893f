"""Approximate best responses: policies that are trained to beat a fixed one, the victim.

exploitation.py says what they are for. Each response is a run like any other, with the victim in
all other seats of all games. The first starts from random weights. Against a checkpoint, the second
starts from its weights and the third from a clone of the search that attacks it; later ones
alternate between these two starts. They learn a third as long as the first.

A response plays its most probable action, because a best response needs no chance; the victim
samples. Some deals choose the best response in this play, and others measure it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, shown
from hanamachi.limits import RESULTS_BYTES, RUNS, STEPS
from hanamachi.policies import load_policy
from hanamachi.policies.arrays import Masks, Memory, Observations, Probabilities
from hanamachi.policies.names import knows_its_game
from hanamachi.policies.networks.checkpoint import load_checkpoint
from hanamachi.policies.policy import Policy
from hanamachi.policies.sampling import best
from hanamachi.sessions.arguments import whole_number
from hanamachi.sessions.policy_checks import distribution_of, memory_of
from hanamachi.storage.reading import checked_path, read_object
from hanamachi.training.config import Config
from hanamachi.training.defaults import RESPONSES, SEARCH_GAMES
from hanamachi.training.evaluation.deals import Pairing
from hanamachi.training.evaluation.fingerprints import fingerprint
from hanamachi.training.evaluation.matches import GAMES_FOLDER
from hanamachi.training.evaluation.plan import (
    Mapper,
    Plan,
    Watch,
    check_games,
    play_pairings,
)
from hanamachi.training.evaluation.results import Row, rounded
from hanamachi.training.evaluation.saved_parts import (
    ABOUT,
    parsed,
    refuse_unclaimed,
    saved_parts,
)
from hanamachi.training.evaluation.statistics import Float64s, interval
from hanamachi.training.exploitation import (
    EXPLOITATION,
    Exploitation,
    Response,
    attacker_name,
    check_victim,
    exploit_by_search,
    read_exploitation,
    write_exploitation,
)
from hanamachi.training.exploitation_picture import PICTURE, write_picture
from hanamachi.training.response_configs import configs_against, start_of
from hanamachi.training.run import refuse_begun, train
from hanamachi.training.run_files import POLICY


class GameSet(NamedTuple):
    """Games with deals of their own."""

    folder: str
    seed_offset: int  # added to the last run's seed of the final evaluation


RATES = GameSet("rates", 1)  # that measure the responses
CHOICE = GameSet("choice", 2)  # that choose the best response
ATTACKED = GameSet("search", 3)  # of the attack by search


# --- Finding them


def exploit(
    policy: str | Path,
    out: Path | str,
    steps: int,
    seeds: int = RESPONSES,
    *,
    search: str | None = None,
    search_games: int = SEARCH_GAMES,
    game: str | None = None,
    config: Config | None = None,
    resume: bool = False,
    watch: Watch | None = None,
    mapper: Mapper = map,
    **options: Any,
) -> Exploitation:
    """Train `seeds` responses to a policy in the runs `out`/1, `out`/2, ..., and measure them.

    The first response learns from `steps` decisions. The result is also written to
    `out`/exploit.json, and drawn in `out`/exploit.png.

    - `search`: a search with this budget, such as "seconds=0.1", attacks too, in `search_games`
      games.
    - `game` and `options` replace those of `config`; a checkpoint plays its own game.
    - `config`: the settings of the learner and the number of final games. Only those that it was
      made with count. Its steps, opponents, starting point and clone are ignored, and so is what
      keeps self-play steady (magnet, past selves, distillation).
    - `resume`: the runs in `out` are resumed, games that measured them are not played again, and
      the result keeps what a search won before.
    - `watch` follows the games that measure the responses.
    - `mapper` replaces `map`, and may train the responses in parallel.

    Raises UserError if something does not fit.
    """
    out = checked_path(out)
    victim = load_victim(policy, game, config, options)
    check_counts(steps, seeds)
    if search is not None:
        check_search(attacker_name(policy, search), search_games, victim.variant)
    configs = configs_against(str(policy), victim, config, steps, seeds)
    check_deals(configs, out, search is not None)
    found = earlier_search(out, str(policy), victim) if search is None else None
    train_all(configs, out, resume, mapper)
    result = measure(configs, victim, out, watch or Watch())
    if search is not None:
        how = {"game": result.game, "watch": watch, "mapper": mapper, **result.options}
        how |= {"seed": seed_of(configs, ATTACKED), "out": out / ATTACKED.folder}
        found = exploit_by_search(policy, search, search_games, **how).search
    result = replace(result, search=found)
    write_exploitation(result, out)
    write_picture(result, out)
    return result


def load_victim(
    policy: str | Path, game: str | None, config: Config | None, options: Mapping[str, Any]
) -> Policy:
    """The policy to train against; UserError if there can be no responses to it."""
    if isinstance(policy, Policy):
        raise UserError(
            f"exploit trains against a policy by name, and {policy.name} is an object: give its "
            "checkpoint or module:factory, or attack it with exploit_by_search"
        )
    if game is None and config and not knows_its_game(str(policy)):
        game, options = config.game, {**config.options, **options}
    victim = load_policy(str(policy), game, **options)
    check_victim(victim, options)
    return victim


def earlier_search(out: Path, policy: str, victim: Policy) -> Row | None:
    """What a search in this folder won before, if there was one.

    UserError unless it is known to have attacked this policy with these weights.
    """
    file = out / ATTACKED.folder / EXPLOITATION
    if not file.exists():
        return None
    found, variant = read_exploitation(file), victim.variant
    options = json.loads(json.dumps(dict(variant.options)))
    same_game = (found.game, found.options) == (variant.id, options)
    if not same_game or not is_of(policy, out / ATTACKED.folder / GAMES_FOLDER / ABOUT):
        raise UserError(
            f"{file.parent} holds an attack that is not known to be on this policy with these "
            "weights: move it, or name another folder"
        )
    return found.search


def is_of(policy: str, about: Path) -> bool:
    """Whether the games of an attack were played with these weights, or by a policy so named."""
    played, digest = read_object(about, RESULTS_BYTES) or {}, fingerprint(policy)
    if digest:
        return isinstance(played.get("files"), dict) and digest in played["files"].values()
    return played.get("opponents") == [policy]


def train_all(configs: Sequence[Config], out: Path, resume: bool, mapper: Mapper) -> None:
    """Train every response in a folder of its number, from 1."""
    numbers = range(1, len(configs) + 1)
    folders = [out / str(number) for number in numbers]
    for folder in folders if not resume else ():
        refuse_begun(folder)
    titles = [f"response {number} of {len(configs)}" for number in numbers]
    list(mapper(respond, configs, folders, titles))


def respond(config: Config, folder: Path, title: str) -> None:
    """Train one response, or resume its run."""
    train(config, folder, resume=True, title=title, show=False)


def check_counts(steps: int, seeds: int) -> None:
    if not 1 <= whole_number(steps, "steps") <= STEPS:
        raise UserError(f"steps must be from 1 to {STEPS:,}, not {shown(steps)}")
    if not 1 <= whole_number(seeds, "seeds") <= RUNS:
        raise UserError(f"seeds must be from 1 to {RUNS:,}, not {shown(seeds)}")


def check_search(name: str, games: int, variant: Variant) -> None:
    """UserError, before anything is trained, if this search cannot play so many games."""
    check_games(games, 0, variant)
    load_policy(name, variant)


def check_deals(configs: Sequence[Config], out: Path, with_search: bool) -> None:
    """UserError, before anything is trained, if games that are kept in `out` have other deals.

    The deals depend on the number of responses. UserError, too, if results are there without games.
    """
    refuse_unclaimed(
        out / GAMES_FOLDER / CHOICE.folder / ABOUT, [out / EXPLOITATION, out / PICTURE]
    )
    kept = [(out / GAMES_FOLDER / CHOICE.folder / ABOUT, seed_of(configs, CHOICE))]
    if with_search:
        kept.append((out / ATTACKED.folder / GAMES_FOLDER / ABOUT, seed_of(configs, ATTACKED)))
    for file, seed in kept:
        if file.exists() and parsed(file).get("seed") != seed:
            names = ", ".join((GAMES_FOLDER, ATTACKED.folder, EXPLOITATION, PICTURE))
            raise UserError(
                f"{out} holds games with another number of responses, or another seed: give that "
                f"one (--seeds), name another folder, or delete these to play them again: {names}"
            )


# --- Measuring


class MostProbable(Policy):
    """Plays another policy's most probable action."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy.variant)
        self.policy, self.name = policy, policy.name

    def initial_memory(self, batch: int) -> Memory:
        return memory_of(self.policy, batch)

    def distribution(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Probabilities, None, Memory]:
        chances, _, memory = distribution_of(self.policy, observation, mask, memory)
        return best(chances), None, memory


def measure(configs: Sequence[Config], victim: Policy, out: Path, watch: Watch) -> Exploitation:
    """What the responses in `out` win: some deals choose the best one, and others measure all."""
    play = partial(scores_of_each, configs, victim, out, watch)
    choice, rates = play(CHOICE), play(RATES)
    return Exploitation(
        victim=configs[0].evaluation.opponents[0],
        game=victim.variant.id,
        options=dict(victim.variant.options),
        best=int(np.argmax([each.mean() for each in choice])),
        responses=responses_of(configs, rates),
    )


def seed_of(configs: Sequence[Config], games: GameSet) -> int:
    """The seed of deals that no run has played."""
    return configs[-1].final_seed + games.seed_offset


def responses_of(configs: Sequence[Config], scores: Sequence[Float64s]) -> list[Response]:
    """What every response wins, given its scores on the same deals, (D,) each."""
    games, responses = configs[0].evaluation.final_games, []
    for number, (config, each) in enumerate(zip(configs, scores, strict=True), 1):
        rates = map(rounded, (each.mean(), *interval(each)))
        steps = config.in_rollouts(config.steps)
        responses.append(Response(policy_of(number), start_of(config), steps, games, *rates))
    return responses


def policy_of(number: int) -> str:
    """The checkpoint of a response, in the folder of all."""
    return f"{number}/{POLICY}"


def scores_of_each(
    configs: Sequence[Config], victim: Policy, out: Path, watch: Watch, games_set: GameSet
) -> list[Float64s]:
    """Each response's score on every deal, (D,) each; what is kept in `out` is not played again."""
    spec, games = configs[0].evaluation.opponents[0], configs[0].evaluation.final_games
    seed = seed_of(configs, games_set)
    pairings, files = [], {"victim": fingerprint(spec)}
    for number, config in enumerate(configs, 1):
        checkpoint = out / policy_of(number)
        response = MostProbable(load_checkpoint(checkpoint, config.game, **config.options))
        names = policy_of(number), spec
        pairings.append(Pairing((response, victim), names, victim.variant, "sample"))
        files[str(number)] = fingerprint(str(checkpoint.absolute()))
    about = {"games": games, "seed": seed, "files": files}
    with saved_parts(out / GAMES_FOLDER / games_set.folder, about) as saved:
        parts = play_pairings(pairings, Plan(games, seed, saved=saved, watch=watch))
    return [part.scores for part in parts]
