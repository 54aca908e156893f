"""Best responses are trained against a policy that stays as it is, and measured on new deals."""

import json
import re
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from messages import assert_one_sentence
from rich.console import Console
from small_games import GIFTS

from hanamachi.errors import UserError
from hanamachi.policies import load_policy
from hanamachi.training.best_responses import earlier_search, exploit
from hanamachi.training.callbacks import Save
from hanamachi.training.cli import main as cli
from hanamachi.training.config import Config
from hanamachi.training.evaluation.playing import play_games
from hanamachi.training.evaluation.progress import ShowGames
from hanamachi.training.evaluation.saved_parts import ABOUT, claim
from hanamachi.training.exact import exploitability, tabulate, tree_of
from hanamachi.training.exploitation import exploit_by_search, summary, table
from hanamachi.training.learner.shards import one_thread_each
from hanamachi.training.response_configs import configs_against

OPTIONS = GIFTS | {"starter": 0}
SETTINGS = {
    "game": "hanamikoji",
    "options": OPTIONS,
    "num_games": 32,
    "network": {"hidden": [32]},
    "evaluation": {"games": 100, "final_games": 2_000},
    "save_every": 1_000,
}
CONFIG = Config.from_dict(SETTINGS)
STEPS = 6_000
ROLLOUT = 32 * 16  # decisions, of which a run makes whole ones
MADE = 12 * ROLLOUT
PLAY_GAMES = "hanamachi.training.evaluation.deals.play_games"  # as pairings play them
FILES = ("policy/model.safetensors", "policy/config.json", "evaluation.json", "config.yaml")


@pytest.fixture(scope="module", autouse=True)
def _alone():
    with one_thread_each():
        yield


@pytest.fixture(scope="module")
def responses(tmp_path_factory):
    """The folder of two responses to random play, and what came out."""
    out = tmp_path_factory.mktemp("random")
    return out, exploit("random", out, STEPS, 2, config=CONFIG)


@pytest.fixture(scope="module")
def victim(responses):
    """A checkpoint: the first of them."""
    return responses[0] / "1" / "policy"


def test_a_response_to_random_play_wins_and_is_a_checkpoint_like_any_other(responses):
    out, found = responses
    assert json.loads((out / "exploit.json").read_text()) == json.loads(json.dumps(asdict(found)))
    assert (out / "exploit.png").read_bytes().startswith(b"\x89PNG")
    assert [r.policy for r in found.responses] == ["1/policy", "2/policy"]
    for response in found.responses:
        assert (response.start, response.steps, response.games) == ("random", MADE, 2_000)
        assert 0.5 < response.low < response.rate < response.high
        assert load_policy(str(out / response.policy)).checkpoint.hidden == (32,)
        assert list((out / "1" / "tensorboard").iterdir())


def test_no_response_is_said_to_win_more_than_the_exact_best_response_does(responses):
    _, found = responses
    tree = tree_of(CONFIG.variant())
    best = exploitability(tree, tabulate(tree, load_policy("random", "hanamikoji", **OPTIONS)))
    most = (1 + best.responses.mean()) / 2
    assert all(response.low < most for response in found.responses)


def test_a_victim_with_weights_is_also_answered_from_these(victim, tmp_path):
    found = exploit(victim, tmp_path, 300, config=CONFIG)
    assert [(r.start, r.steps) for r in found.responses] == [
        ("random", ROLLOUT),
        ("victim's", ROLLOUT),
        ("search's", ROLLOUT),
    ]
    runs = [Config.load(tmp_path / str(n) / "config.yaml") for n in (1, 2, 3)]
    assert [run.steps for run in runs] == [300, 100, 100]
    assert all(run.opponents == {str(victim): 1} for run in runs)
    attack = f"search:improve:{victim}:random_share=0.05,worlds=8"
    assert [run.init_from for run in runs] == [None, str(victim), attack]
    assert runs[2].clone.steps == 10
    assert len({run.seed for run in runs}) == 3
    assert [run.ppo.ent_coef for run in runs] == [(0.3, 0.0), (0.02, 0.0), (0.02, 0.0)]


def test_a_search_can_attack_too(victim, tmp_path):
    found = exploit(victim, tmp_path, 30, 1, config=CONFIG, search="worlds=2", search_games=4)
    assert (found.search.games, found.search.opponent) == (4, str(victim))
    assert json.loads((tmp_path / "exploit.json").read_text())["search"] == asdict(found.search)
    assert exploit(victim, tmp_path, 30, 1, config=CONFIG, resume=True) == found
    assert earlier_search(tmp_path, f"{victim}/", load_policy(str(victim))) == found.search
    file = tmp_path / "search" / "games" / "evaluation.json"
    about = json.loads(file.read_text())
    file.write_text(json.dumps(about | {"files": dict.fromkeys(about["files"], "other")}))
    with pytest.raises(UserError, match="these weights"):
        exploit(victim, tmp_path, 30, 1, config=CONFIG, resume=True)


def test_an_attack_on_another_policy_or_without_its_games_is_not_kept(tmp_path):
    how = {"game": "hanamikoji", **OPTIONS}
    exploit_by_search("greedy", "worlds=2", 4, out=tmp_path / "search", **how)
    victims = {name: load_policy(name, **how) for name in ("greedy", "random")}
    assert earlier_search(tmp_path, "greedy", victims["greedy"]).games == 4
    with pytest.raises(UserError, match="this policy"):
        earlier_search(tmp_path, "random", victims["random"])
    with pytest.raises(UserError, match="this policy"):
        earlier_search(tmp_path, "greedy", load_policy("greedy", "hanamikoji"))
    (tmp_path / "search" / "games" / "evaluation.json").unlink()
    with pytest.raises(UserError, match="this policy"):
        earlier_search(tmp_path, "greedy", victims["greedy"])


def test_settings_that_are_given_hold_for_every_response(victim, tmp_path):
    more = {"ppo": {"ent_coef": 0.1}, "critic": "all", "magnet": {"kl_coef": 0.2}}
    average = {"export": "average", "average": {"decay": 0.5}}
    how = Config.from_dict({**SETTINGS, **more, **average})
    exploit(victim, tmp_path, 30, 2, config=how)
    runs = [Config.load(tmp_path / str(n) / "config.yaml") for n in (1, 2)]
    assert [run.ppo.ent_coef for run in runs] == [0.1, 0.1]
    assert [run.critic for run in runs] == ["all", "all"]
    assert [(run.export, run.average.decay) for run in runs] == [("average", 0.5)] * 2
    assert [run.magnet.kl_coef for run in runs] == [0, 0]
    assert [run.ppo.learning_rate for run in runs] == [(1e-3, 5e-5), (4e-4, 2e-5)]


def test_a_checkpoint_knows_its_game_and_its_network(victim, tmp_path, monkeypatch):
    monkeypatch.setattr(PLAY_GAMES, few)
    found = exploit(victim, tmp_path, 1, 1)
    assert found.game == "hanamikoji"
    assert found.options["cards"] == (2, 3, 4)
    assert Config.load(tmp_path / "1" / "config.yaml").network.hidden == (32,)


def test_a_checkpoint_plays_its_own_game_whatever_game_the_settings_are_for(
    victim, tmp_path, monkeypatch
):
    monkeypatch.setattr(PLAY_GAMES, few)
    other = Config.from_dict({**SETTINGS, "options": {**OPTIONS, "max_rounds": 3}})
    assert exploit(victim, tmp_path / "own", 1, 1, config=other).options["max_rounds"] == 1
    assert exploit("random", tmp_path / "other", 1, 1, config=other).options["max_rounds"] == 3


def test_settings_hold_for_responses_also_where_they_equal_a_runs_defaults(victim):
    usual = Config(game="hanamikoji")
    meant = {"critic": usual.critic, "ppo": {"gae_lambda": usual.ppo.gae_lambda}}
    config = Config.from_dict({"game": "hanamikoji", "options": OPTIONS, **meant})
    for run in configs_against(str(victim), load_policy(str(victim)), config, 100, 3):
        assert (run.critic, run.ppo.gae_lambda) == (usual.critic, usual.ppo.gae_lambda)
        assert (run.num_games, run.ppo.batch_size, run.network.hidden) == (1024, 512, (32,))


def test_a_network_behind_a_factory_gives_no_weights_to_start_from(victim):
    for name, starts in ((str(victim), 1), ("mine:network", 3)):
        runs = configs_against(name, load_policy(str(victim)), CONFIG, 100, 3)
        assert [run.init_from for run in runs].count(None) == starts
        assert [run.network.hidden for run in runs] == [(32,)] * 3


@pytest.mark.parametrize("name", ["mine", "past", "self"])
def test_a_checkpoint_in_the_current_folder_is_victim_and_start(
    name, victim, tmp_path, monkeypatch
):
    """Whatever its name, and wherever the run is resumed."""
    shutil.copytree(victim, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    runs = configs_against(name, load_policy(name), CONFIG, 100, 3)
    assert [run.opponents for run in runs] == [{f"./{name}": 1.0}] * 3
    assert [run.init_from for run in runs[:2]] == [None, f"./{name}"]
    assert runs[1].teacher is None
    assert f"./{name}" in runs[2].teacher


def few(policies, variant, seating, deals, *how):
    """Play two deals for all."""
    pair = [0, len(deals) // 2]
    returns, games = play_games(policies, variant, seating[pair], deals[pair], *how)
    return np.repeat(returns, len(deals) // 2, axis=0), games


@pytest.fixture
def calls(monkeypatch):
    """The arguments of every call that plays games."""
    found = []

    def noted(*how):
        found.append(how)
        return play_games(*how)

    monkeypatch.setattr(PLAY_GAMES, noted)
    return found


def test_the_rates_come_from_deals_that_chose_nothing(tmp_path, calls):
    exploit("random", tmp_path, 32, 2, config=CONFIG)
    seeds = [seed for _, _, _, _, seed, *_ in calls]
    assert seeds[-2] == seeds[-1]  # one measurement of each
    assert seeds[-1] not in seeds[:-2]


def test_an_interrupted_exploit_goes_on_to_the_same_end(responses, tmp_path, monkeypatch):
    whole, found = responses
    act, saves = Save.act, []

    def interrupted(self):
        act(self)
        saves.append(self.file.parent)
        if len(saves) == 9:
            raise KeyboardInterrupt

    monkeypatch.setattr(Save, "act", interrupted)
    with pytest.raises(KeyboardInterrupt):
        exploit("random", tmp_path, STEPS, 2, config=CONFIG)
    assert saves[-1] == tmp_path / "2"
    with pytest.raises(UserError, match="--resume"):
        exploit("random", tmp_path, STEPS, 2, config=CONFIG)
    assert exploit("random", tmp_path, STEPS, 2, config=CONFIG, resume=True) == found
    for name in (*(f"{n}/{name}" for n in (1, 2) for name in FILES), "exploit.json"):
        assert (tmp_path / name).read_bytes() == (whole / name).read_bytes(), name


@pytest.mark.parametrize("seeds", [1, 3])
def test_another_number_of_responses_is_refused_before_any_is_trained(seeds, responses, tmp_path):
    out = Path(shutil.copytree(responses[0], tmp_path / "out"))
    before = sorted(out.rglob("*"))
    with pytest.raises(UserError, match="number of responses") as error:
        exploit("random", out, STEPS, seeds, config=CONFIG, resume=True)
    assert_one_sentence(error.value, "--seeds", "games", "search", "exploit.json", "exploit.png")
    assert sorted(out.rglob("*")) == before


def test_a_search_that_attacked_on_other_deals_is_found_before_any_response_is_trained(tmp_path):
    claim(tmp_path / "search" / "games" / ABOUT, {"seed": 1}, "an evaluation")
    with pytest.raises(UserError, match="number of responses"):
        exploit("random", tmp_path, 32, 1, config=CONFIG, search="worlds=2", search_games=2)
    assert not (tmp_path / "1").exists()


def test_a_damaged_result_of_a_search_is_found_before_any_response_is_trained(tmp_path):
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "exploit.json").write_text('{"victim": "random", "resp')
    with pytest.raises(UserError, match="restore it") as error:
        exploit("random", tmp_path, 32, 1, config=CONFIG, resume=True)
    assert_one_sentence(error.value, "exploit.json")
    assert not (tmp_path / "1").exists()


def test_the_card_of_a_response_says_against_whom_it_learned(responses):
    card = (responses[0] / "1" / "policy" / "README.md").read_text()
    assert "games against random" in card
    assert "self-play" not in card


def test_the_table_shows_every_response(responses, capsys):
    _, found = responses
    Console(width=120).print(table(found))
    shown = capsys.readouterr().out
    for response in found.responses:
        assert f"{100 * response.rate:.1f}" in shown


def test_games_that_measure_are_not_played_again(responses, tmp_path, calls):
    out, found = tmp_path / "out", responses[1]
    shutil.copytree(responses[0], out)
    shutil.rmtree(out / "games" / "rates" / "1")
    with ShowGames() as watch:
        again = exploit("random", out, STEPS, 2, config=CONFIG, resume=True, watch=watch)
    assert again == found
    assert len(calls) == 1
    assert (watch.games, watch.kept) == (4_000, 2_000)


def test_it_says_which_play_is_measured_and_what_a_low_bound_means(responses):
    _, found = responses
    low = replace(found.responses[found.best], low=0.49)
    weak = replace(found, responses=[low] * 2)
    for told in (printed(found), printed(weak), summary(found), summary(weak)):
        assert "most probable actions" in told
        assert "sample" in told
    assert (found.play, found.victim_play) == ("argmax", "sample")
    for tell in (printed, summary):
        assert ("at least" in tell(found), "at least" in tell(weak)) == (True, False)


def printed(found):
    console = Console(width=80)
    with console.capture() as shown:
        console.print(table(found))
    return " ".join(shown.get().split())


def test_json_is_all_that_the_command_prints(responses, tmp_path, capsys):
    shutil.copytree(responses[0], tmp_path / "out")
    (tmp_path / "how.yaml").write_text(json.dumps(SETTINGS))
    how = f"--steps {STEPS} --seeds 2 --out {tmp_path / 'out'} --config {tmp_path / 'how.yaml'}"
    with pytest.raises(SystemExit):
        cli.main(f"exploit random {how} --resume --json".split())
    assert json.loads(capsys.readouterr().out)["victim"] == "random"


def test_what_does_not_fit_is_refused_in_one_sentence(victim, tmp_path):
    with pytest.raises(UserError, match="steps"):
        exploit("random", tmp_path, 0, config=CONFIG)
    with pytest.raises(UserError, match="steps"):
        exploit("random", tmp_path, "5", config=CONFIG)
    with pytest.raises(UserError, match="seeds"):
        exploit("random", tmp_path, 5, seeds=True, config=CONFIG)
    with pytest.raises(UserError, match="path"):
        exploit("random", 5, 5, config=CONFIG)
    with pytest.raises(UserError, match="hanabi:2p"):
        exploit("random", tmp_path, 10, game="hanabi:2p")
    with pytest.raises(UserError, match="hanamikoji"):
        exploit(victim, tmp_path, 10, game="geishas_road:2021")
    with pytest.raises(UserError, match="exploit_by_search"):
        exploit(load_policy(victim), tmp_path, 10)
    assert list(tmp_path.iterdir()) == []


def test_settings_of_a_policy_that_are_not_in_its_name_are_refused(tmp_path, monkeypatch):
    (tmp_path / "sized.py").write_text("def make(variant, size=1):\n    return lambda *seen: 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match=r"size.*module:factory"):
        exploit("sized:make", tmp_path / "out", 30, 1, config=CONFIG, size=2)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("search", "games", "named"),
    [("second=0.1", 4, "second"), ("", 4, "budget"), ("worlds=2", 3, "games")],
)
def test_an_attack_that_cannot_be_is_refused_before_anything_is_trained(
    search, games, named, tmp_path
):
    with pytest.raises(UserError, match=named):
        exploit("random", tmp_path, 30, 1, config=CONFIG, search=search, search_games=games)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["exploit.json", "exploit.png"])
def test_the_result_of_another_attack_is_not_replaced(name, tmp_path):
    (tmp_path / name).write_text("theirs")
    with pytest.raises(UserError, match=re.escape(name)):
        exploit("random", tmp_path, 30, 1, config=CONFIG)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["theirs"]


def test_the_command_trains_measures_and_writes(victim, tmp_path, capsys):
    (tmp_path / "how.yaml").write_text(json.dumps(SETTINGS))
    out = tmp_path / "out"
    command = f"exploit {victim} --steps 100 --seeds 1 --out {out} --config {tmp_path / 'how.yaml'}"
    with pytest.raises(SystemExit) as ended:
        cli.main(command.split())
    assert not ended.value.code
    assert str(victim) in "".join(capsys.readouterr().out.split())
    assert json.loads((out / "exploit.json").read_text())["responses"][0]["steps"] == ROLLOUT
