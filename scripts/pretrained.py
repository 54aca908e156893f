"""Make the agents that ship, and put them into the package.

    python scripts/pretrained.py hanabi:2p hanamikoji --out runs --seeds 0 1 2
    python scripts/pretrained.py hanamikoji --out runs --search seconds=0.1
    python scripts/pretrained.py hanamikoji --out runs --responses 10000000
    python scripts/pretrained.py hanamikoji --out runs --without-features
    python scripts/pretrained.py hanamikoji --learned
    python scripts/pretrained.py hanamikoji --cards

Each agent is trained with its settings in configs/pretrained, in the run OUT/NAME-SEED, where NAME
is its name with - for each colon. Of several seeds, the agent is the one with the median result,
of an even number the lower one of the two in the middle.
The checkpoint goes to policies/pretrained/NAME with the papers that say where it comes from: its
card, `run.json`, `curve.json`, `evaluation.json` and `learned.json`. Runs in OUT are resumed, so a
script that was stopped loses little.

--search lets a search with this budget attack an agent that is there already, and --responses
trains policies to beat it in OUT/NAME-responses, the first from so many decisions; `exploit.json`
keeps what they win. With --count 2 none of them starts from a clone of the search, whose labels
take hours in a long game. --without-features trains networks like it in OUT/NAME-without-FEATURE,
each without one of its feature sets, and says on its card what they score. --learned only compares
an agent with its teacher again. --cards only writes the cards and the pictures of their curves
again, from the papers that are there.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from leaderboard import searches_against

from hanamachi.errors import UserError
from hanamachi.games.registry import VARIANTS
from hanamachi.policies.agents import PARTNER, agent_folder
from hanamachi.policies.networks.checkpoint import CARD, CONFIG, WEIGHTS, load_checkpoint
from hanamachi.storage.files import replacing_folder
from hanamachi.training.best_responses import exploit
from hanamachi.training.cli.main import run
from hanamachi.training.config import Config
from hanamachi.training.curve import RESULT, Curve, evaluations, read_curve
from hanamachi.training.curve_pictures import results_picture
from hanamachi.training.evaluation.json_results import read_rows, write_json
from hanamachi.training.evaluation.learned import (
    LEARNED,
    Result,
    TeacherComparison,
    read_learned,
    result_of,
    what_is_learned,
    write_learned,
)
from hanamachi.training.evaluation.progress import ShowGames
from hanamachi.training.evaluation.results import Row, TeamScore
from hanamachi.training.exploitation import (
    EXPLOITATION,
    Exploitation,
    budget,
    exploit_by_search,
    read_exploitation,
    span,
    summary,
    write_exploitation,
)
from hanamachi.training.modelcard import model_card
from hanamachi.training.run import train
from hanamachi.training.run_files import CURVE, DESCRIPTION, LOGS, POLICY, RESULTS

CONFIGS = Path(__file__).parents[1] / "configs" / "pretrained"
LEADERBOARD = Path(__file__).parents[1] / "docs" / "leaderboard.json"
POINTS = "curve.json"
TEACHER = "expert"  # which advises those that were not cloned
LEARNED_GAMES = 2_000  # of each figure
RESPONSES: Mapping[str, Any] = {  # how policies learn to beat an agent
    "matmul_precision": "medium",
    "ppo": {"n_epochs": 2, "batch_size": 2048},
    "evaluation": {"every": 1_000_000, "final_games": 20_000},
}
COUNT = 3  # of policies that learn to beat an agent
ATTACK_SEED, LEARNED_SEED = 30_000, 40_000  # of deals that no run plays


def train_all(agents: Sequence[str], out: Path, seeds: Sequence[int]) -> None:
    """Train the agents of these names, each with each seed."""
    for agent in agents:
        for seed in seeds:
            train(settings(agent, [f"seed={seed}"]), run_of(agent, seed, out), resume=True)


def put(agent: str, out: Path, seeds: Sequence[int]) -> None:
    """Put the agent of the median seed into the package."""
    runs = {seed: run_of(agent, seed, out) for seed in seeds}
    results = {seed: main_result(run) for seed, run in runs.items()}
    seed = sorted(seeds, key=lambda seed: results[seed].mean)[(len(seeds) - 1) // 2]
    ship(agent, settings(agent, [f"seed={seed}"]), runs[seed], agent_folder(agent), results)


def run_of(agent: str, seed: int, out: Path) -> Path:
    return out / f"{agent_folder(agent).name}-{seed}"


def main_result(run: Path) -> Result:
    """The result of a run that chooses between its seeds; see `Result`."""
    rows = read_rows(run / RESULTS)
    return result_of(next(row for row in rows if is_main(row)))


def is_main(row: Row | TeamScore) -> bool:
    if isinstance(row, TeamScore):
        return row.policy == row.partners and row.play == "argmax"
    return row.opponent == TEACHER and row.play == "sample"


def settings(agent: str, overrides: Sequence[str] = ()) -> Config:
    return Config.load(recipe(agent), overrides)


def recipe(agent: str) -> Path:
    return CONFIGS / f"{agent_folder(agent).name}.yaml"


def ship(agent: str, config: Config, run: Path, to: Path, seeds: Mapping[int, Result]) -> None:
    """Put the checkpoint of a run and its papers into a folder of the package."""
    with replacing_folder(to) as aside:
        for name in (WEIGHTS, CONFIG):
            (aside / name).write_bytes((run / POLICY / name).read_bytes())
        for name in (DESCRIPTION, RESULTS):
            (aside / name).write_bytes((run / name).read_bytes())
        write_json(learning_curve(run / LOGS), aside / POINTS)
        learn_about(agent, config, aside, dict(seeds), {})
    print(f"{agent} ships: {to}")


def learn_about(
    agent: str,
    config: Config,
    folder: Path,
    seeds: dict[int, Result],
    untrained: dict[str, Result],
) -> None:
    """Measure what an agent learned beside its teacher, and write its card."""
    policy = load_checkpoint(folder, config.game, **config.options)
    found = what_is_learned(policy, config.teacher or TEACHER, LEARNED_GAMES, LEARNED_SEED)
    write_learned(replace(found, seeds=seeds, untrained=untrained), folder)
    write_card(agent, config, folder)


def attack(agent: str, search: str, out: Path) -> None:
    """Let a search attack an agent, and write its card again."""
    folder = agent_folder(agent)
    with ShowGames() as watch:
        how: dict[str, Any] = {"out": out / f"{folder.name}-search", "watch": watch}
        found = exploit_by_search(agent, search, seed=ATTACK_SEED, **how)
    write_exploitation(replace(known(folder) or found, search=found.search), folder)
    write_card(agent, shipped_settings(agent), folder)


def respond(
    agent: str, config: Config, folder: Path, how: Config, steps: int, out: Path, count: int = COUNT
) -> None:
    """Train policies to beat an agent, with the settings `how`, and write its card again."""
    before = known(folder)
    found = exploit(agent, out / f"{folder.name}-responses", steps, count, config=how, resume=True)
    write_exploitation(replace(found, search=before.search if before else None), folder)
    write_card(agent, config, folder)


def without_features(agent: str, config: Config, folder: Path, out: Path) -> None:
    """Train networks like an agent, each without one of its feature sets; write its card again."""
    given, found = config.model_dump(exclude_unset=True), {}
    for name in config.network.features:
        features = [other for other in config.network.features if other != name]
        fewer = {**given, "network": {**given["network"], "features": features}}
        run = out / f"{folder.name}-without-{name}"
        train(Config.from_dict(fewer), run, resume=True)
        found[name] = main_result(run)
    write_learned(replace(what_it_learned(folder), untrained=found), folder)
    write_card(agent, config, folder)


def compare(agent: str) -> None:
    """Measure what an agent learned beside its teacher, and write its card again."""
    folder = agent_folder(agent)
    before = what_it_learned(folder)
    learn_about(agent, shipped_settings(agent), folder, before.seeds, before.untrained)


def what_it_learned(folder: Path) -> TeacherComparison:
    """What is known of an agent beside its teacher."""
    if found := read_learned(folder):
        return found
    raise UserError(f"{folder} has no {LEARNED}: train the agent again, or restore the file")


def shipped_settings(agent: str) -> Config:
    """The settings of the agent that is there: its recipe, with its own seed."""
    made = json.loads((agent_folder(agent) / DESCRIPTION).read_text(encoding="utf-8"))
    return settings(agent, [f"seed={made['seed']}"])


def known(folder: Path) -> Exploitation | None:
    """What is known of how exploitable the agent is."""
    found = folder / EXPLOITATION
    return read_exploitation(found) if found.exists() else None


def write_card(agent: str, config: Config, folder: Path) -> None:
    """Write the card of an agent and the picture of its curve, from its papers."""
    (folder / CARD).write_text(card(agent, config, folder), encoding="utf-8")
    made = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    (folder / CURVE).write_bytes(results_picture(kept_curve(folder), made["decisions"]))


def card(agent: str, config: Config, folder: Path) -> str:
    """The card of an agent, from its papers."""
    made = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    found = known(folder)
    exploited = summary(found, others=stronger_searches(agent, folder, found)) if found else ""
    about: dict[str, Any] = {"name": agent, "exploited": exploited}
    about["compared"] = read_learned(folder)
    about["evaluations"] = evaluations(kept_curve(folder))
    return model_card(config, made, made["decisions"], read_rows(folder / RESULTS), **about)


def stronger_searches(agent: str, folder: Path, found: Exploitation) -> list[tuple[float, str]]:
    """The search on the leaderboard, if its interval begins higher than those of the papers.

    The lower end of its interval, and a sentence.
    """
    result = json.loads(LEADERBOARD.read_text(encoding="utf-8")).get(agent, {})
    weights = json.loads((folder / CONFIG).read_text(encoding="utf-8"))["weights"]
    if result.get("weights", {}).get(agent) != weights:
        return []
    rows = [Row(**each) for each in searches_against(agent, result)]
    stronger = [row for row in rows if row.low > found.strongest.low]
    return [(row.low, by_its_search(row)) for row in stronger]


def by_its_search(row: Row) -> str:
    won = f"wins {span(row)} of {row.games:,} games (`{budget(row)}`)"
    return f"Its own search, which plays on the leaderboard, {won}."


def kept_curve(folder: Path) -> Curve:
    """The learning curve of an agent, from its papers."""
    points = json.loads((folder / POINTS).read_text(encoding="utf-8"))
    return {f"{RESULT}{name}": dict(values) for name, values in points.items()}


def learning_curve(log: Path) -> dict[str, list[Any]]:
    """Each result during the run: [decisions, result] for every evaluation."""
    return {
        name.removeprefix(RESULT): [[step, round(value, 4)] for step, value in values.items()]
        for name, values in read_curve(log).items()
        if name.startswith(RESULT)
    }


def parsed() -> argparse.Namespace:
    names = [name for id in VARIANTS for name in (id, id + PARTNER) if recipe(name).exists()]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("agents", nargs="+", choices=names, metavar="AGENT", help=", ".join(names))
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--out", type=Path, help="folder of the runs")
    what.add_argument("--cards", action="store_true", help="only write their cards again")
    what.add_argument(
        "--learned", action="store_true", help="only compare them with their teachers"
    )
    then = parser.add_mutually_exclusive_group()
    then.add_argument("--seeds", type=int, nargs="+", help="one run for each; default: 0")
    then.add_argument("--search", metavar="BUDGET", help="only let a search attack them")
    then.add_argument(
        "--responses", type=int, metavar="STEPS", help="only train policies to beat them"
    )
    then.add_argument(
        "--without-features", action="store_true", help="only train networks without a feature set"
    )
    parser.add_argument(
        "--count", type=int, help=f"of policies that --responses trains; default: {COUNT}"
    )
    given = parser.parse_args()
    if given.search == "":  # not to be taken for an option left out, nor is 0
        parser.error("--search needs a budget, such as seconds=0.1")
    if any(number is not None and number < 1 for number in (given.responses, given.count)):
        parser.error("--responses and --count must be 1 or more")
    if given.count is not None and not given.responses:
        parser.error("--count is the number of policies of --responses: leave it out")
    of_runs = given.seeds or given.search or given.responses or given.without_features
    if of_runs and not given.out:
        parser.error("--cards and --learned take no other option: leave it out")
    given.seeds = given.seeds or [0]
    return given


def main(given: argparse.Namespace) -> None:
    if given.out and not (given.search or given.responses or given.without_features):
        train_all(given.agents, given.out, given.seeds)  # before a file of the package changes
    for agent in given.agents:
        if given.cards:
            write_card(agent, shipped_settings(agent), agent_folder(agent))
        elif given.learned:
            compare(agent)
        elif given.search:
            attack(agent, given.search, given.out)
        elif given.responses:
            how = Config.from_dict({"game": agent, **RESPONSES})
            config, folder = shipped_settings(agent), agent_folder(agent)
            respond(agent, config, folder, how, given.responses, given.out, given.count or COUNT)
        elif given.without_features:
            without_features(agent, shipped_settings(agent), agent_folder(agent), given.out)
        else:
            put(agent, given.out, given.seeds)


if __name__ == "__main__":
    given = parsed()
    sys.exit(run(lambda: main(given)))
