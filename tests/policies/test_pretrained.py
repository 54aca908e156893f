"""The agents that ship: each loads by name, tells where it comes from, and can be made again."""

import json
import runpy
import sys

import numpy as np
import pytest
from root import ROOT
from samples import WHOLE

from hanamachi.errors import UserError
from hanamachi.games.registry import VARIANTS, variant
from hanamachi.policies import load_policy
from hanamachi.policies.agents import (
    PLAYED_BY,
    PRETRAINED,
    agent_folder,
    agent_for,
    agents,
    default_policy,
    ships,
    variant_of,
)
from hanamachi.policies.networks.checkpoint import load_checkpoint
from hanamachi.training import response_configs
from hanamachi.training.config import Config
from hanamachi.training.evaluation.json_results import read_rows
from hanamachi.training.evaluation.learned import Result, read_learned
from hanamachi.training.evaluation.matches import evaluate
from hanamachi.training.evaluation.results import Row
from hanamachi.training.exact import SMALL
from hanamachi.training.exploitation import read_exploitation
from hanamachi.training.run import train

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(ROOT / "scripts")  # where another script is that it needs
    SCRIPT = runpy.run_path(str(ROOT / "scripts" / "pretrained.py"))
settings_of = SCRIPT["settings"]
shipped_settings = SCRIPT["shipped_settings"]
PAPERS = {
    "model.safetensors",
    "config.json",
    "README.md",
    "run.json",
    "curve.json",
    "curve.png",
    "evaluation.json",
    "learned.json",
    "exploit.json",
}
LARGEST = 32 << 20  # bytes of all agents together
LARGEST_PICTURE = 30_000  # bytes
A_MOMENT = {
    "steps": 160,
    "num_games": 10,  # so that every opponent gets one
    "ppo.batch_size": 32,
    "clone.steps": 64,
    "evaluation.games": 2,
    "evaluation.final_games": 2,
    "evaluation.final_opponents": "[random]",
}

ONE_OF_EACH_RECIPE = ["geishas_road:2021", "hanabi:2p", "hanabi:3p"]

each_agent = pytest.mark.parametrize("agent", agents())


def a_moment(agent):
    """Settings that differ in nothing but how much is done."""
    own = settings_of(agent)
    given = {name: value for name, value in A_MOMENT.items() if own.teacher or "clone" not in name}
    return settings_of(agent, [f"{name}={value}" for name, value in given.items()])


def test_every_agent_has_settings_and_all_settings_an_agent():
    assert all(settings_of(agent).game == variant_of(agent) for agent in agents())
    assert {folder.name for folder in PRETRAINED.iterdir()} == {
        SCRIPT["recipe"](agent).stem for agent in agents()
    }
    kept = {path.name for path in (ROOT / "configs" / "pretrained").iterdir()}
    assert kept <= {SCRIPT["recipe"](agent).name for agent in agents()}


@each_agent
def test_it_loads_by_its_name_and_plays_its_game(agent):
    policy, game = load_policy(agent), variant_of(agent)  # digests refuse it if the code changed
    assert (policy.name, policy.variant) == (agent, variant(game))
    others = [] if VARIANTS[game].cooperative else ["random"]
    assert evaluate([agent, *others], game, games=2).results


def test_who_plays_with_people_is_the_partner_where_there_is_one():
    for game in ("hanabi:2p", "hanabi:3p", "hanabi:3p:multicolour", "hanabi:4p", "hanabi:5p"):
        assert default_policy(variant(game)) == f"{game}:partner"
    assert default_policy(variant("hanamikoji")) == "hanamikoji"
    assert default_policy(variant("hanabi:3p", colours=4)) == "expert"


def test_options_that_another_id_stands_for_are_played_by_its_agent():
    named = variant("hanamikoji", max_rounds=3)
    assert agent_for(named) == default_policy(named) == "hanamikoji:three_rounds"
    with pytest.raises(UserError, match="name hanamikoji:three_rounds, which can"):
        load_policy("hanamikoji", "hanamikoji", max_rounds=3)
    assert agent_for(variant("hanamikoji", max_rounds=5)) is None


@each_agent
def test_its_papers_fit_its_settings(agent):
    folder, config = agent_folder(agent), shipped_settings(agent)
    responses = {"exploit.json"} if VARIANTS[config.game].cooperative else set()
    assert {path.name for path in folder.iterdir()} == PAPERS - responses
    made = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    rows = read_rows(folder / "evaluation.json")
    curve = json.loads((folder / "curve.json").read_text(encoding="utf-8"))
    seeds = read_learned(folder).seeds
    ranked = sorted(seeds, key=lambda seed: seeds[seed].mean)
    assert not seeds or made["seed"] == ranked[(len(seeds) - 1) // 2]
    assert 0 < made["decisions"] <= 1.01 * config.steps
    assert {row.games for row in rows} == {config.evaluation.final_games}
    assert all(steps <= 1.01 * config.steps for points in curve.values() for steps, _ in points)


@each_agent
def test_its_card_says_nothing_but_what_its_papers_say(agent):
    folder = agent_folder(agent)
    assert (folder / "README.md").read_text(encoding="utf-8") == SCRIPT["card"](
        agent, shipped_settings(agent), folder
    )


@each_agent
def test_the_page_of_recipes_says_what_the_cards_say(agent):
    folder = agent_folder(agent)
    page = (ROOT / "docs" / "train.md").read_text(encoding="utf-8")
    (line,) = [line for line in page.splitlines() if line.startswith(f"| [{folder.name}](")]
    *_, decisions, checkpoint, _, result, _ = (cell.strip() for cell in line.split("|"))
    made = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    main = next(row for row in read_rows(folder / "evaluation.json") if SCRIPT["is_main"](row))
    rate = isinstance(main, Row)
    assert result == (f"{100 * main.rate:.1f}%" if rate else f"{main.mean:.2f}")
    assert int(decisions) * 1_000_000 == settings_of(agent).steps
    assert checkpoint == f"{made['decisions'] / 1e6:.1f}"


@pytest.mark.parametrize("agent", agents() if WHOLE else ONE_OF_EACH_RECIPE)
def test_its_settings_still_train(agent, tmp_path):
    policy = load_checkpoint(train(a_moment(agent), tmp_path / "run"))
    shipped = load_policy(agent).checkpoint
    assert policy.checkpoint.feature_sets == shipped.feature_sets
    assert policy.checkpoint.symmetries == shipped.symmetries


def test_an_agent_plays_the_variants_that_look_the_same():
    for id, played_by in PLAYED_BY.items():
        own, borrowed = load_policy(played_by), load_policy(id)
        assert (borrowed.variant.id, borrowed.name) == (id, id)
        assert own.checkpoint.weights.keys() == borrowed.checkpoint.weights.keys()
        for name, weights in own.checkpoint.weights.items():
            np.testing.assert_array_equal(weights, borrowed.checkpoint.weights[name])


def test_a_game_without_an_agent_says_which_have_one():
    (without, *_) = (id for id in VARIANTS if not ships(id))
    with pytest.raises(UserError, match=f"{without}.*hanamikoji"):
        load_policy(without)


def test_an_agent_is_refused_by_rules_that_look_otherwise():
    with pytest.raises(UserError, match="hanamikoji"):
        load_policy("hanamikoji", **SMALL["hanamikoji-gifts"].options)


def test_an_agent_can_be_trained_on(tmp_path):
    settings = [f"{name}={value}" for name, value in A_MOMENT.items() if "clone" not in name]
    policy = train(settings_of("hanamikoji", [*settings, "init_from=hanamikoji"]), tmp_path / "run")
    assert load_checkpoint(policy).checkpoint.hidden == load_policy("hanamikoji").checkpoint.hidden


@pytest.mark.parametrize(
    "options",
    [
        ("--out", "runs", "--search", ""),
        ("--out", "runs", "--responses", "0"),
        ("--out", "runs", "--search", "worlds=8", "--seeds", "1"),
        ("--out", "runs", "--seeds", "1", "--count", "2"),
        ("--out", "runs", "--responses", "64", "--count", "0"),
        ("--cards", "--search", "worlds=8"),
        ("--cards", "--seeds", "0"),
        ("--learned", "--responses", "64"),
        ("--learned", "--without-features"),
    ],
)
def test_the_script_ignores_no_option(options, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["pretrained.py", "hanamikoji", *options])
    with pytest.raises(SystemExit):
        SCRIPT["parsed"]()
    assert "error" in capsys.readouterr().err


@pytest.mark.parametrize(("means", "chosen"), [((3, 1, 2), 2), ((2, 1), 1), ((4, 1, 3, 2), 3)])
def test_the_script_ships_no_seed_better_than_the_median(means, chosen, monkeypatch, tmp_path):
    runs, shipped = (tmp_path / f"hanamikoji-{seed}" for seed in range(len(means))), []
    results = {run: Result(mean, mean, mean) for run, mean in zip(runs, means, strict=True)}
    names = SCRIPT["put"].__globals__
    monkeypatch.setitem(names, "main_result", results.get)
    monkeypatch.setitem(names, "ship", lambda agent, config, run, *to: shipped.append(run))
    SCRIPT["put"]("hanamikoji", tmp_path, range(len(means)))
    assert shipped == [tmp_path / f"hanamikoji-{chosen}"]


def test_they_are_small_enough_to_ship():
    assert sum(path.stat().st_size for path in PRETRAINED.rglob("*") if path.is_file()) < LARGEST
    assert all(path.stat().st_size < LARGEST_PICTURE for path in PRETRAINED.rglob("*.png"))


def test_the_script_ships_a_run_with_its_papers(tmp_path, monkeypatch):
    monkeypatch.setattr(response_configs, "WARM_STARTS", ("{0}",))  # a search takes long to clone
    monkeypatch.setattr(response_configs, "SETTINGS", {"num_games": 4, "ppo": {"batch_size": 32}})
    network = {"hidden": [16], "features": ["advice"]}
    tiny = {"game": "hanamikoji", "steps": 64, "num_games": 4, "network": network}
    tiny |= {"evaluation": {"games": 2, "final_games": 2, "final_opponents": ["expert"]}}
    config, run, shipped = Config.from_dict(tiny), tmp_path / "run", tmp_path / "shipped"
    train(config, run)
    seeds = {0: SCRIPT["main_result"](run)}
    SCRIPT["ship"]("hanamikoji", config, run, shipped, seeds)
    SCRIPT["respond"]("hanamikoji", config, shipped, config, 64, tmp_path)
    assert read_learned(shipped).seeds == seeds
    SCRIPT["without_features"]("hanamikoji", config, shipped, tmp_path)
    assert read_learned(shipped).untrained.keys() == {"advice"}
    assert (
        load_checkpoint(tmp_path / "shipped-without-advice" / "policy").checkpoint.feature_sets
        == ()
    )
    assert {path.name for path in shipped.iterdir()} == PAPERS
    assert load_policy(str(shipped)).checkpoint.hidden == (16,)
    made = json.loads((shipped / "run.json").read_text(encoding="utf-8"))
    curve = json.loads((shipped / "curve.json").read_text(encoding="utf-8"))
    assert made["decisions"] in [steps for steps, _ in curve["rate_against_greedy"]]
    found = read_exploitation(shipped / "exploit.json")
    assert found.victim == "hanamikoji"
    text = (shipped / "README.md").read_text(encoding="utf-8")
    assert 'load_policy("hanamikoji")' in text
    assert "](curve.png)" in text
    assert f"{found.responses[found.best].rate:.1%}" in text


@pytest.mark.parametrize("wrong", ["hanabi:2", "hanabi", "hanamikoij"])
def test_a_mistyped_id_is_met_with_the_right_one(wrong):
    with pytest.raises(UserError, match="hanabi:" if "hanabi" in wrong else "hanamikoji"):
        load_policy(wrong)
