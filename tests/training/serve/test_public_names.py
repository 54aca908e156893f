"""What browsers read of a policy tells it from others, and names no folder of the user."""

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from serving import HUMAN, served

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.games.registry import variant
from hanamachi.policies.agents import agent_folder
from hanamachi.policies.networks.checkpoint import CONFIG, expected_shapes, save_checkpoint
from hanamachi.policies.networks.tables import Checkpoint
from hanamachi.training.serve.offers import Offers, name_there, ours, public_name


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("/home/me/runs/b/policy", "b/policy"),
        ("/home/me/runs/b/best.onnx", "b/best.onnx"),
        ("search:improve:/home/me/runs/b/policy:worlds=4", "search improve b/policy worlds=4"),
        ("search:improve:greedy", "search improve greedy"),
        ("process:'/home/me/my bots/bad.pl' hang", "bad.pl"),
        ("process:./bot.py --api-key sk-SECRET", "bot.py"),
        ("process:/usr/bin/python sk-SECRET", "python"),
    ],
)
def test_a_name_shows_no_path_and_no_argument(spec: str, name: str) -> None:
    assert public_name(spec, "policy") == name


def test_a_game_without_worlds_offers_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    played = variant("hanamikoji")
    assert any(name.startswith("search:") for name in ours(played))
    monkeypatch.setattr(Variant, "has", lambda chosen, part: part != "redeal")
    assert [*ours(played)] == ["hanamikoji", "expert", "greedy", "random"]


def always_first(variant: Variant, **settings: Any) -> Any:
    return lambda observation, mask: mask.argmax()


def test_a_name_shows_no_setting_of_a_factory() -> None:
    factory = f"{__name__}:{always_first.__name__}"
    spec = f"{factory}:key=sk-SECRET,weights=/home/me/w.npz"
    name = factory.replace(":", " ")
    assert name_there(spec, "hanamikoji") == name
    assert name_there(factory, "hanamikoji") == name
    search = f"search:improve:{spec}:worlds=4"
    assert name_there(search, "hanamikoji") == f"search improve {name} worlds=4"


def test_a_script_of_an_interpreter_is_named(tmp_path: Path) -> None:
    script = tmp_path / "bot.py"
    script.touch()
    assert public_name(f"process:/usr/bin/python {script} sk-SECRET", "policy") == "python bot.py"
    assert public_name(f"process:/usr/bin/python {'x' * 300}", "policy") == "python"  # no file


def test_a_checkpoint_is_called_after_its_run_from_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path / "run")
    assert public_name(f"policy{os.sep}", "policy") == "run/policy"


def test_a_table_goes_on_with_the_same_policies_alone(tmp_path: Path) -> None:
    shutil.copytree(agent_folder("hanamikoji"), tmp_path / "a" / "policy")
    policies = [str(tmp_path / "a" / "policy")]
    with served(tmp_path / "data", policies) as client:
        key = client.table("hanamikoji", HUMAN, "a/policy (policy 1)")["keys"]["0"]
    with served(tmp_path / "data", policies) as client, client.sit(key) as seat:
        assert seat.position()["view"]["legal"]
    with (tmp_path / "a" / "policy" / CONFIG).open("a") as config:
        config.write("\n")
    with served(tmp_path / "data", policies) as client, client.sit(key) as seat:
        assert "other policies" in seat.until("refused")["words"]


def test_a_checkpoint_sits_where_the_options_are_those_that_it_has_learned(tmp_path: Path) -> None:
    learned = variant("hanabi:2p", colours=2)
    weights = {
        name: np.zeros(shape, np.float32)
        for name, shape in expected_shapes(tmp_path, learned, [4], []).items()
    }
    folder = tmp_path / "run" / "policy"
    save_checkpoint(folder, Checkpoint(learned, (4,), (), weights), "")
    offers, name = Offers([str(folder)]), "run/policy (policy 1)"
    assert offers.spec(learned, name, with_people=True) == str(folder)
    with pytest.raises(UserError, match="hanabi:2p colours=2"):
        offers.spec(variant("hanabi:2p"), name, with_people=True)
