"""What the names of policies mean."""

import shutil

import pytest
from messages import assert_one_sentence

from hanamachi.errors import UserError
from hanamachi.policies import load_policy
from hanamachi.policies.agents import agent_folder
from hanamachi.policies.names import (
    Kind,
    is_bare_folder,
    is_checkpoint,
    kind_of,
    knows_its_game,
    search_parts,
)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("expert", Kind.RULES),
        ("hanabi:2p", Kind.AGENT),
        ("hanabi:3p:partner", Kind.AGENT),
        ("search:improve:runs/mine/policy:worlds=8", Kind.SEARCH),
        ("process:./bot.onnx", Kind.PROCESS),
        ("model:name?url=http://127.0.0.1/v1", Kind.MODEL),
        ("dataset:runs/games", Kind.DATASET),
        ("my_bots:make", Kind.FACTORY),
        ("package.bots:make:net=runs/mine.onnx,depth=3", Kind.FACTORY),
        ("runs/mine.onnx", Kind.ONNX),
        ("mine.onnx", Kind.ONNX),
        ("runs/mine/policy", Kind.CHECKPOINT),
        ("runs/mine:make", Kind.CHECKPOINT),
        ("hanabi:9p", None),
        ("expertt", None),
    ],
)
def test_a_name_means_one_kind_of_policy(name, kind):
    assert kind_of(name) == kind
    assert is_checkpoint(name) == (kind in (Kind.AGENT, Kind.CHECKPOINT))
    played_by_its_own_variant = is_checkpoint(name) or kind in (Kind.ONNX, Kind.SEARCH)
    assert knows_its_game(name) == played_by_its_own_variant


def test_a_folder_here_is_a_checkpoint_whatever_it_is_called(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert kind_of("policy") is None
    (tmp_path / "policy").mkdir()
    assert kind_of("policy") == Kind.CHECKPOINT
    assert is_bare_folder("policy")
    assert not is_bare_folder("./policy")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("search:mcts", ("mcts", "", "")),
        ("search:mcts:expert", ("mcts", "expert", "")),
        ("search:mcts::worlds=4", ("mcts", "", "worlds=4")),
        ("search:improve:hanabi:2p", ("improve", "hanabi:2p", "")),
        ("search:improve:my:make:depth=3:worlds=4", ("improve", "my:make:depth=3", "worlds=4")),
        ("search:improve:runs/lr=1e-3/policy", ("improve", "runs/lr=1e-3/policy", "")),
        ("search:improve:lr=1e-3/policy", ("improve", "lr=1e-3/policy", "")),
        ("search:improve:runs/lr=1/policy:worlds=4", ("improve", "runs/lr=1/policy", "worlds=4")),
    ],
)  # fmt: skip
def test_the_name_of_a_search_holds_its_kind_its_blueprint_and_its_settings(name, parts):
    assert search_parts(name) == parts


def test_a_search_finds_a_checkpoint_whose_path_has_an_equals_sign(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(agent_folder("hanamikoji"), tmp_path / "lr=1e-3" / "policy")
    for place in ("lr=1e-3/policy", str(tmp_path / "lr=1e-3" / "policy")):
        assert load_policy(f"search:improve:{place}:worlds=4").variant.id == "hanamikoji"
        with pytest.raises(UserError, match=r"budget.*worlds=64"):
            load_policy(f"search:improve:{place}")


@pytest.mark.parametrize("last", ["64", "worlds-64", "0.1s", "worlds", "seconds"])
def test_a_setting_of_a_search_without_a_name_is_refused(last):
    with pytest.raises(UserError, match=f"worlds=64.*{last}") as caught:
        load_policy(f"search:improve:greedy:{last}", game="hanamikoji")
    assert_one_sentence(caught.value)


@pytest.mark.parametrize("name", ["anna.py", "bots/anna.js", "Anna.EXE", "search:mcts:anna.sh"])
def test_a_file_of_code_that_is_not_there_is_missed_and_no_other_policy_offered(name):
    with pytest.raises(UserError, match=r"no file.*process:FILE") as caught:
        load_policy(name, game="hanamikoji")
    assert "mean" not in assert_one_sentence(caught.value)


def test_the_folder_of_a_dataset_is_told_from_a_checkpoint(tmp_path):
    (tmp_path / "dataset.json").touch()
    with pytest.raises(UserError, match="init_from: dataset:") as caught:
        load_policy(str(tmp_path))
    assert_one_sentence(caught.value)


def test_a_dataset_is_refused_as_a_policy():
    with pytest.raises(UserError, match="init_from") as caught:
        load_policy("dataset:runs/games", game="hanamikoji")
    assert_one_sentence(caught.value)
