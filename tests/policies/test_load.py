"""`load_policy` loads any policy by its name, path or entry point, or refuses it."""

import subprocess
import sys

import pytest
from environments import first_legal
from messages import assert_one_sentence

from hanamachi.errors import UserError
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies import load_policy
from hanamachi.policies.agents import default_policy
from hanamachi.policies.rules.rule_policy import RandomPolicy

RULE_POLICIES = ("random", "greedy", "expert")


def always_zero(observation, mask):
    return 0


def factory(variant, choose=first_legal):
    return choose


def no_policy(variant):
    return 7


def the_class_of_one(variant):
    return RandomPolicy


def for_another_game(variant):
    return RandomPolicy(make_variant("hanabi:2p"))


def without_options(variant):
    return RandomPolicy(make_variant("hanamikoji"))


def test_a_factory_gets_the_variant_and_its_own_options():
    policy = load_policy(f"{__name__}:factory", game="hanamikoji", max_rounds=2, choose=always_zero)
    assert policy.function is always_zero
    assert policy.variant == make_variant("hanamikoji", max_rounds=2)


def remembers(variant, **settings):
    def choose(observation, mask):
        return 0

    choose.settings = settings
    return choose


def test_a_variant_stands_for_its_id_and_options():
    small = make_variant("hanamikoji", max_rounds=2, starter=1)
    assert load_policy("expert", small).variant == small
    assert load_policy("search:improve:greedy:worlds=1", small).variant == small
    with pytest.raises(UserError, match="cannot play"):
        load_policy("hanamikoji:three_rounds", small)
    own = load_policy(f"{__name__}:factory", small, choose=always_zero)
    assert (own.variant, own.function) == (small, always_zero)


def test_a_name_holds_the_settings_of_a_factory_and_is_the_name_of_a_function():
    spec = f"{__name__}:remembers:depth=3,shares=[1,2],name=a/b.onnx,off=None,on=true,rate=1e-3"
    policy = load_policy(spec, game="hanamikoji", extra="y")
    assert policy.function.settings == {
        "depth": 3, "shares": [1, 2], "name": "a/b.onnx", "off": None, "on": True, "rate": 1e-3,
        "extra": "y",
    }  # fmt: skip
    assert policy.name == spec


def test_a_blueprint_may_be_a_factory_with_settings():
    own = f"{__name__}:remembers:depth=3"
    policy = load_policy(f"search:improve:{own}:worlds=4", game="hanamikoji")
    assert policy.blueprint.name == own


# --- Errors


@pytest.mark.parametrize("name", [*RULE_POLICIES, f"{__name__}:factory"])
def test_a_rule_policy_without_its_game_is_refused(name):
    with pytest.raises(UserError, match="game"):
        load_policy(name)


@pytest.mark.parametrize(
    ("spec", "options", "named"),
    [
        ("gredy", {"game": "hanamikoji"}, "greedy"),
        ("Expert", {"game": "hanamikoji"}, "expert"),
        ("zzz", {"game": "hanamikoji"}, "zzz"),
        ("greedy", {"game": "hanamikojo"}, "hanamikoji"),
        ("greedy", {"game": "hanamikoji", "max_round": 3}, "max_rounds"),
        ("greedy", {"game": "hanamikoji", "spec": 1}, "spec"),
        ("greedy", {"game": "hanamikoji", "cards": (1, 1)}, "cards"),
        ("no_such_module:factory", {"game": "hanamikoji"}, "no_such_module"),
        *((name, {"game": "hanamikoji"}, "no policy") for name in ("side:", "expert:", ":", ":x")),
        (f"{__name__}:no_such_factory", {"game": "hanamikoji"}, "no_such_factory"),
        (f"{__name__}:factory", {"game": "hanamikoji", "max_round": 3}, "max_round"),
        (f"{__name__}:factory:depth=3", {"game": "hanamikoji"}, "depth"),
        (f"{__name__}:factory:choose", {"game": "hanamikoji"}, "choose"),
        (f"{__name__}:remembers:a=1,a=2", {"game": "hanamikoji"}, "name=value"),
        (f"{__name__}:remembers:a=[1", {"game": "hanamikoji"}, "a"),
        (f"{__name__}:no_policy", {"game": "hanamikoji"}, "no_policy.*Policy.*7"),
        (f"{__name__}:the_class_of_one", {"game": "hanamikoji"}, "the_class_of_one.*class"),
        (f"{__name__}:for_another_game", {"game": "hanamikoji"}, "hanabi:2p.*hanamikoji"),
        (f"{__name__}:without_options", {"game": "hanamikoji", "max_rounds": 2}, "options"),
        ("no/such/folder", {}, "no/such/folder"),
        (5, {"game": "hanamikoji"}, "5"),
        (b"expert", {"game": "hanamikoji"}, "expert"),
        ("greedy", {"game": ["hanamikoji"]}, "hanamikoji"),
        (f"{__name__}:factory", {"game": ["hanamikoji"]}, "hanamikoji"),
    ],
)
def test_what_cannot_be_loaded_is_refused_in_one_sentence(spec, options, named):
    with pytest.raises(UserError, match=named) as caught:
        load_policy(spec, **options)
    assert_one_sentence(caught.value)


@pytest.mark.parametrize(
    "spec", ["mine.py:make", "bots/mine.py:make", "bots/mine:make", "../mine.py:make:depth=3"]
)
def test_a_factory_that_is_named_by_its_file_is_met_with_its_right_name(spec):
    with pytest.raises(UserError, match=r"module:factory.* mine:make$"):
        load_policy(spec, game="hanamikoji")


def test_a_module_in_the_current_folder_needs_the_name_of_a_function(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "student.py").touch()
    with pytest.raises(UserError, match="student:FUNCTION") as caught:
        load_policy("student", game="hanamikoji")
    assert_one_sentence(caught.value)


def test_a_folder_whose_name_looks_like_a_factory_is_still_a_checkpoint(tmp_path):
    folder = tmp_path / "mine:make"
    folder.mkdir()
    with pytest.raises(UserError, match=r"config\.json"):
        load_policy(str(folder))


def test_a_missing_module_is_told_with_the_place_where_it_was_looked_for():
    with pytest.raises(UserError, match=r"no_such_module.*folder"):
        load_policy("no_such_module:factory", game="hanamikoji")
    with pytest.raises(UserError, match=r"no_such_module.*folder"):
        load_policy("no_such_module.part:factory", game="hanamikoji")


@pytest.mark.parametrize(
    "spec",
    ["a\0b", "a/b\0c", "a\0.onnx", "a/\ud800", "\ud800.onnx", "\ud800:factory", "x" * 5_000_000,
     "search:mcts:expert:" + "worlds=1," * 1_000_000, "search:mcts:" * 1_000 + "expert",
     "search:mcts:" * 300 + "expert", "search:mcts:search:mcts:expert:worlds=2:worlds=2",
     "search:mcts:expert:worlds=99999999999999999999", "search:mcts:expert:seconds=1e300",
     "search:mcts:expert:worlds=2,explore=" + "9" * 400, "search:mcts:expert:worlds=nan",
     "/", ":", ".x:y", "x:", "search:", "search::", "search:mcts:", "/" * 5_000],
)  # fmt: skip
def test_no_name_breaks_the_process(spec):
    with pytest.raises(UserError) as caught:
        load_policy(spec, game="hanamikoji")
    assert_one_sentence(caught.value)


def leaves(variant):
    sys.exit(3)


def fails(variant):
    return 1 // 0


def adds_what_cannot_be_added(variant):
    return 1 + "1"


def lacks_a_package(variant):
    import no_such_package

    return no_such_package


@pytest.mark.parametrize(
    "statement", ["1 // 0", "import sys; sys.exit(3)", "def", "raise KeyError"]
)
def test_a_module_that_fails_is_named(statement, tmp_path, monkeypatch):
    (tmp_path / "failing_module.py").write_text(statement)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match="failing_module:factory"):
        load_policy("failing_module:factory", game="hanamikoji")


@pytest.mark.parametrize(
    ("factory", "why"),
    [
        (leaves, "SystemExit"),
        (fails, "ZeroDivisionError"),
        (adds_what_cannot_be_added, "TypeError: unsupported"),
        (lacks_a_package, "no_such_package"),
    ],
)
def test_a_factory_that_fails_is_named_with_what_it_raised(factory, why):
    with pytest.raises(UserError, match=f"{factory.__name__}.*{why}"):
        load_policy(f"{__name__}:{factory.__name__}", game="hanamikoji")


def test_where_there_is_no_expert_people_play_with_random(monkeypatch):
    small = make_variant("hanamikoji-gifts")
    assert default_policy(small) == "expert"
    monkeypatch.setattr("hanamachi.policies.rules.registry.RULE_POLICIES", {})
    assert default_policy(small) == "random"


def test_rule_policies_need_no_learning_library():
    code = (
        "import sys; from hanamachi.policies import load_policy; "
        "load_policy('expert', game='hanamikoji'); "
        "assert not {'torch', 'stable_baselines3', 'pydantic'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_training_without_pytorch_names_the_extra():
    code = "import sys; sys.modules['torch'] = None; from hanamachi.training import train"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode
    assert "hanamachi[train]" in done.stderr
