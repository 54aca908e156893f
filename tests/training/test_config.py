"""A run's settings load as they were meant, or are refused in one sentence that names the place."""

import random
from contextlib import suppress

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from messages import assert_one_sentence
from root import ROOT
from samples import sample

from hanamachi.errors import UserError
from hanamachi.games.registry import VARIANTS, variant
from hanamachi.limits import SETTINGS_BYTES
from hanamachi.storage.plain_yaml import Yaml, parse_yaml
from hanamachi.training.cli import main as cli
from hanamachi.training.config import (
    CloneSettings,
    Config,
    DistillationSettings,
    PPOSettings,
    schema,
)
from hanamachi.training.run import begin_run, write_settings
from hanamachi.training.schedules import schedule

CONFIGS = ROOT / "configs"
MUTATIONS = sample(2_000, 0.2)
ON_THE_COMMAND_LINE = sample(100, 0.1)

SMALL = "game: hanamikoji\n"
DETAILED = Config(
    game="hanamikoji:three_rounds",
    options={"cards": [2, 3, 4], "actions": ["secret", "gift"], "starter": 0},
    opponents={"self": 0.75, "past": 0.125, "runs/a/policy": 0.125},
    init_from="runs/b/policy",
    ppo=PPOSettings(learning_rate="lin_3e-4", clip_range=0.1),
)
ROAD = Config(
    game="geishas_road:advanced",
    options={"item_values": [1, 2, 3, 4, 5], "counteroffer_shares": "keep", "base": [1, 2, 3]},
    opponents={"self": 0.5, "past": 0.5},
)
TOGETHER = Config(
    game="hanabi:4p:multicolour",
    options={"starter": 3, "strikeout_score": "fireworks"},
    opponents={"self": 0.5, "past": 0.5},
)
CLONED = Config(game="hanabi:4p", init_from="hat", clone=CloneSettings(steps=1_000))
SEARCHED = Config(
    game="hanamikoji", distillation=DistillationSettings(share=0.5, kl_coef=(0.1, 0.01))
)
COLOURED = Config(game="hanabi:2p", augmentation="other_play")


@pytest.fixture
def load(tmp_path):
    """Loads settings that are given as text."""

    def from_text(text, overrides=()):
        path = tmp_path / "run.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return Config.load(path, overrides)

    return from_text


@pytest.fixture
def refusal(load, tmp_path):
    """The sentence with which settings are refused, without the name of their file."""

    def of(text, overrides=()):
        with pytest.raises(UserError) as refused:
            load(text, overrides)
        return assert_one_sentence(refused.value).removeprefix(f"{tmp_path / 'run.yaml'}: ")

    return of


# --- Settings that fit


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.name)
def test_every_configuration_of_ours_loads_and_finds_its_schema(path):
    assert Config.load(path).variant().id
    assert path.read_text().startswith("# yaml-language-server: $schema=schema.json\n")


def test_a_small_version_is_spelled_by_its_options(load):
    config = load("game: hanamikoji-gifts\noptions: {starter: 1}")
    assert config.game == "hanamikoji"
    assert config.variant() == variant("hanamikoji-gifts", starter=1)
    assert Config.from_dict(yaml.safe_load(config.to_yaml())) == config


def test_the_package_has_the_files_that_a_folder_lacks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Config.load("configs/pretrained/hanamikoji.yaml").steps == 20_000_000
    for missing in (
        "configs",
        "configs/other.yaml",
        "other/hanamikoji.yaml",
        "configs/../configs/hanamikoji.yaml",
        "configs/" + "x" * 300,
    ):
        with pytest.raises(UserError, match="cannot be read"):
            Config.load(missing)
    (tmp_path / "configs" / "pretrained").mkdir(parents=True)
    (tmp_path / "configs" / "pretrained" / "hanamikoji.yaml").write_text("game: hanabi:2p")
    assert Config.load("configs/pretrained/hanamikoji.yaml").game == "hanabi:2p"


def test_the_schema_on_disk_is_that_of_the_settings():
    command = "python -c \"from hanamachi.training.config import schema; print(schema(), end='')\""
    current = (CONFIGS / "schema.json").read_text() == schema()
    assert current, f"run: {command} > configs/schema.json"


@pytest.mark.parametrize(
    "config",
    [Config(game="hanamikoji"), DETAILED, ROAD, TOGETHER, CLONED, SEARCHED, COLOURED],
    ids=lambda config: config.game,
)
def test_what_is_written_down_is_read_as_the_same(load, config):
    assert load(config.to_yaml()) == config


def test_a_file_holds_only_the_differences(load):
    config = load(SMALL + "ppo: {n_steps: 8}")
    assert config.ppo.n_steps == 8
    assert config == Config(game="hanamikoji", ppo=PPOSettings(n_steps=8))


@pytest.mark.parametrize(
    ("override", "place", "value"),
    [
        ("seed=7", "seed", 7),
        ("steps=4e6", "steps", 4_000_000),
        ("ppo.learning_rate=1e-3", "ppo.learning_rate", 0.001),
        ("ppo.learning_rate=lin_1e-3", "ppo.learning_rate", "lin_1e-3"),
        ("ppo.learning_rate=[1e-3, 0]", "ppo.learning_rate", (0.001, 0)),
        ("network.hidden=[32, 16]", "network.hidden", (32, 16)),
        ("options.max_rounds=3", "options", {"starter": 1, "max_rounds": 3}),
        ("opponents={self: 0.5, greedy: 0.5}", "opponents", {"self": 0.5, "greedy": 0.5}),
        ("init_from=null", "init_from", None),
    ],
)
def test_a_setting_can_be_overridden(load, override, place, value):
    found = load(SMALL + "options: {starter: 1}\nseed: 3\ninit_from: runs/a/policy", [override])
    for name in place.split("."):
        found = getattr(found, name)
    assert found == value


def test_a_heading_with_nothing_below_it_can_be_filled(load):
    assert load(SMALL + "ppo:\n  # gamma: 0.9", ["ppo.gamma=0.5"]).ppo.gamma == 0.5


@pytest.mark.parametrize(
    ("text", "first", "middle", "last"),
    [
        ("0.5", 0.5, 0.5, 0.5),
        ("1", 1, 1, 1),
        ("lin_3e-4", 3e-4, 1.5e-4, 0),
        ("[1e-3, 5e-4]", 1e-3, 7.5e-4, 5e-4),
        ("[0, 1]", 0, 0.5, 1),
    ],
)
def test_a_schedule_goes_from_its_first_value_to_its_last(load, text, first, middle, last):
    value = schedule(load(SMALL + f"ppo: {{learning_rate: {text}}}").ppo.learning_rate)
    assert [value(left) for left in (1, 0.5, 0)] == pytest.approx([first, middle, last])
    assert value(-0.3) == value(0)  # in a rollout that goes beyond the end


# --- Settings that do not fit


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("{}", "game", ""),
        (SMALL + "stepz: 3", "stepz", "steps?"),
        ("gmae: hanamikoji", "gmae", "game?"),
        (SMALL + "ppo: {learning_rat: 1}", "ppo.learning_rat", "learning_rate?"),
        (SMALL + "evaluation: {opponent: [random]}", "evaluation.opponent", "opponents?"),
        (SMALL + "past: {lr: 1}", "past.lr", "every, keep"),
        (SMALL + 'past: {"a\\nb": 1}', "past.'a\\nb'", "every, keep"),
        ("game: hanamikji", "'hanamikji'", "hanamikoji?"),
        (SMALL + "options: {max_round: 3}", "'max_round'", "max_rounds?"),
        (SMALL + "options: {max_rounds: 0}", "max_rounds", "from 1 to 1000, not 0"),
        (SMALL + "options: {starter: {a: 1}}", "starter", "{'a': 1}"),
        (SMALL + "steps: 0", "steps", "(not 0)"),
        (SMALL + "steps: true", "steps", "(not True)"),
        (SMALL + "opponents: {self: true}", "opponents.self", "(not True)"),
        (SMALL + "network: {hidden: [16384, 15644]}", "1026.2 MiB", "smaller layers"),
        (SMALL + "network: {hidden: [true]}", "network.hidden", "(not [True])"),
        (SMALL + "ppo: {learning_rate: [true, 0.1]}", "ppo.learning_rate", "neither true nor"),
        (SMALL + "steps: 1e400", "steps", "(not inf)"),
        (SMALL + "seed: 4294967296", "seed", "(not 4294967296)"),
        (SMALL + "ppo: {learning_rate: -1}", "ppo.learning_rate: must", "(not -1)"),
        (SMALL + "ppo: {learning_rate: .inf}", "ppo.learning_rate", "(not inf)"),
        (SMALL + "evaluation: {games: 3}", "evaluation.games", "(not 3)"),
        (SMALL + "opponents: {self: 0.5}", "opponents", "0.5"),
        (SMALL + "clone: null", "clone: must", "steps, learning_rate, value_steps (not None)"),
        (SMALL + "opponents: 3", "opponents: must", "name: value (not 3)"),
        (SMALL + "init_from: 'dataset:'", "init_from: must name", "dataset:FOLDER"),
        (SMALL + "init_from: ''", "init_from: must", "character"),
        (SMALL + "device: gpu", "device", "'cpu', 'cuda' or 'mps' (not 'gpu')"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_the_nearest_right_word(refusal, text, place, hint):
    sentence = refusal(text)
    assert place in sentence
    assert hint in sentence


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "game: ..."),
        ("- game", "game: ..."),
        (SMALL + "seed: [", "line 2"),
        (SMALL + "seed: 1\nseed: 2", "seed"),
        (SMALL + "ppo: {gamma: 1, gamma: 1}", "line 2"),
        (SMALL + "seed: 1\n\nseed: 2", "line 4"),
        (SMALL + "seed: 1" + 5_000 * "0", "YAML"),
        (5_000 * "[", "YAML"),
        (b"game: \xff", "run.yaml"),
        (SMALL + "ppo: {learning_rate: lin_1e999}", "ppo.learning_rate"),
        (SMALL + "evaluation: {opponents: []}", "evaluation.opponents"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(refusal, text, words):
    assert words in refusal(text)


def test_the_file_of_a_sweep_is_no_run_and_names_the_command_for_it(refusal):
    assert "hanamachi sweep" in refusal(SMALL + "sweep: {over: {ppo.gamma: [0.9, 1]}}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("magnet: {kind: average}", "kl_coef"),
        ("magnet: {every: 1}", "kl_coef"),
        ("magnet: {kl_coef: 0.1, kind: start, every: 1}", "refreshed"),
        ("average: {decay: 0.9}", "export"),
        ("average: {decay: 0.9}\nmagnet: {kl_coef: 0.1}", "export"),
        ("past: {keep: 2}", "opponents"),
        ("past: {every: 1}\nopponents: {self: 1, past: 0}", "opponents"),
        ("distillation: {share: 0.5}\nppo: {clip_range: 0.1}", "clip_range"),
    ],
)
def test_a_setting_that_would_change_nothing_is_refused(refusal, text, words):
    assert words in refusal(SMALL + text)


def test_opponents_that_would_judge_no_cooperative_game_are_refused(load, refusal):
    text = "game: hanabi:2p\nevaluation: "
    assert "partners" in refusal(text + "{opponents: [random]}")
    usual = load(text + "{partners: [random]}")
    assert load(usual.to_yaml()) == usual  # which names the opponents that nothing reads


def test_a_checkpoint_to_start_from_is_one_in_every_folder(load, refusal, tmp_path, monkeypatch):
    (tmp_path / "first").mkdir()
    monkeypatch.chdir(tmp_path)
    assert "./first" in refusal(SMALL + "init_from: first")
    (tmp_path / "first" / "dataset.json").touch()
    assert "dataset:first" in refusal(SMALL + "init_from: first")
    assert "dataset:./first" in refusal(SMALL + "init_from: ./first")
    (tmp_path / "first" / "dataset.json").unlink()
    found = load(SMALL + "init_from: ./first")
    monkeypatch.chdir("/")
    assert found.teacher is None
    assert load(found.to_yaml()) == found


@pytest.mark.parametrize(
    "text",
    [
        "magnet: {kl_coef: 0, kind: average}",
        "magnet: {kl_coef: [0.1, 0], every: 1}",
        "average: {decay: 0.9}\nexport: average",
        "average: {decay: 0.9}\nmagnet: {kl_coef: 0, kind: average}",
        "past: {keep: 2}\nopponents: {self: 0.5, past: 0.5}",
    ],
)
def test_a_setting_whose_part_is_there_or_set_to_0_is_accepted(load, text):
    config = load(SMALL + text)
    assert load(config.to_yaml()) == config


def test_an_opponent_with_a_share_of_0_is_none(load, refusal):
    config = load(SMALL + "opponents: {self: 1, past: 0, greedy: 0}")
    assert config.opponents == {"self": 1}
    assert "opponents" in refusal(SMALL + "opponents: {self: 0}")


def test_only_the_value_learns_unless_a_rollout_is_more_than_a_tenth_of_the_run():
    def held(steps):
        """Rollouts from which only the value learns."""
        config = Config(game="hanamikoji", init_from="greedy", num_games=10, steps=steps)
        return config.value_steps // config.rollout

    assert [held(steps) for steps in (1_599, 1_600, 10_000_000)] == [0, 1, 250]


def test_several_mistakes_are_named_at_once(refusal):
    sentence = refusal("{game: hanamikoji, stepz: 1, num_games: x, ppo: {learning_rate: foo}}")
    for place in ("stepz", "num_games", "ppo.learning_rate"):
        assert sentence.count(place) == 1
    unknown = [f"setting_{n}" for n in range(1_000)]
    sentence = refusal(f"{{game: hanamikoji, {', '.join(f'{name}: 1' for name in unknown)}}}")
    named = [name for name in unknown if f"{name}:" in sentence]
    assert named
    assert f"{len(unknown) - len(named)} more" in sentence


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(UserError) as refused:
        Config.load(tmp_path)
    assert_one_sentence(refused.value, str(tmp_path))


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("seed", "--set seed "),
        ("=1", "--set =1 "),
        ("game.title=1", "--set game.title=1"),
        ("ppo.lr=1", "ppo.lr"),
        ("seed=[", "--set seed=["),
        ("seed=&a [*a]", "aliases"),
        ("seed=1:30", "seed: must be a valid integer"),
    ],
)
def test_an_override_that_does_not_fit_is_refused(refusal, override, words):
    assert words in refusal(SMALL, [override])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("seed=1", "seed=2"),
        ("seed=1", " seed =1"),
        ("ppo.gamma=0.9", "ppo.gamma=0.8"),
        ("ppo.gamma=0.9", "ppo={n_steps: 8}"),
        ("ppo={gamma: 0.9}", "ppo.gamma=0.8"),
    ],
)
def test_a_setting_that_is_given_twice_is_refused(refusal, first, second):
    assert first.partition("=")[0] in refusal(SMALL, [first, "steps=8", second])


def test_neighbours_below_a_heading_may_be_set_together(load):
    ppo = load(SMALL, ["ppo.gamma=0.9", "ppo.gae_lambda=0.8"]).ppo
    assert (ppo.gamma, ppo.gae_lambda) == (0.9, 0.8)


LAUGHS = ["a: &a [ha, ha, ha, ha, ha, ha, ha, ha, ha]"] + [
    f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}]"
    for a, b in zip("abcdefghijk", "bcdefghijkl", strict=True)
]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(["game: hanamikoji", *LAUGHS]),
        "\n".join(["game: hanamikoji", "options:", *(f"  {line}" for line in LAUGHS)]),
        SMALL + "options: &o {cards: *o}",
        SMALL + "steps: !!python/object/apply:os.mkdir [MARK]",
        SMALL + "steps: !!python/object/new:os.mkdir [MARK]",
        SMALL + "options: !!python/object/apply:os.mkdir {args: [MARK]}",
        SMALL + "options: !!map [1]",
        SMALL + "steps: !!int ''",
        SMALL + "steps: !!timestamp tomorrow",
    ],
)
def test_nothing_but_plain_data_is_read(refusal, tmp_path, text):
    mark = tmp_path / "executed"
    assert "aliases" in refusal(text.replace("MARK", str(mark)))
    assert not mark.exists()


# --- Settings beyond all bounds


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SMALL + "#" * SETTINGS_BYTES, "run.yaml"),
        (SMALL + "options: " + "[" * 600 + "]" * 600, "line 2"),
        (SMALL + "options: " + "{a: " * 600 + "}" * 600, "line 2"),
        (SMALL + "- " * 10_000, "line 2"),
        (SMALL + "seed: 0x" + 5_000 * "f", "line 2"),
        (SMALL + "seed: 1" + 5_000 * "_0", "line 2"),
        (SMALL + "seed: 1" + 5_000 * ":59", "seed"),
        (SMALL + "seed: 1" + 5_000 * ":59" + ".5", "seed"),
        (SMALL + "<<: {seed: 1}", "<<"),
        (SMALL + "seed: 2001-01-01", "seed"),
        (SMALL + "steps: 1" + 30 * "0", "steps"),
        (SMALL + "num_games: 100000000", "num_games"),
        (SMALL + "num_games: 1000000\nppo: {n_steps: 1000000}", "n_steps"),
        (SMALL + "ppo: {n_epochs: 1000000000}", "n_epochs"),
        (SMALL + "ppo: {vf_coef: 1e300}", "vf_coef"),
        (SMALL + "ppo: {learning_rate: 1e300}", "learning_rate"),
        (SMALL + "ppo: {learning_rate: lin_1e99}", "learning_rate"),
        (SMALL + f"network: {{hidden: {[1] * 10_000}}}", "hidden"),
        (SMALL + f"network: {{hidden: {[16_384] * 4}}}", "hidden"),
        (SMALL + f"network: {{features: {['advice'] * 1_000}}}", "features"),
        (SMALL + f"opponents: {{{', '.join(f'p{i}: 0' for i in range(5_000))}}}", "opponents"),
        (SMALL + f"evaluation: {{opponents: {['random'] * 5_000}}}", "evaluation.opponents"),
        (SMALL + "evaluation: {games: 1000000000000}", "evaluation.games"),
        (SMALL + "past: {keep: 1000000000}", "past.keep"),
        (SMALL + f"init_from: {'a/' * 5_000}", "init_from"),
        (SMALL + 'init_from: "a/\\0"', "init_from"),
    ],
    ids=lambda text: str(text)[17:60],
)
def test_settings_beyond_all_bounds_are_refused_before_they_cost_anything(refusal, text, words):
    assert words in refusal(text)


@pytest.mark.parametrize(
    "override",
    [
        "a." * 10_000 + "b=1",
        "seed=" + "[" * 600,
        "seed=" + "1" * SETTINGS_BYTES,
        "\ud800=1",
        "a=\0",
    ],
    ids=["deep name", "deep value", "long value", "surrogate", "NUL"],
)
def test_overrides_beyond_all_bounds_are_refused(refusal, override):
    assert refusal(SMALL, [override])


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 5_000, "missing", None, 3])
def test_a_name_that_no_file_can_have_is_refused(name):
    with pytest.raises(UserError) as error:
        Config.load(name)
    assert_one_sentence(error.value)


@pytest.mark.parametrize("value", [10**5_000, {10**5_000: 1}, "\ud800", float("nan")], ids=range(4))
@pytest.mark.parametrize("setting", ["seed", "options", "opponents", "unknown"])
def test_any_value_from_python_is_refused_in_a_sentence(setting, value):
    with pytest.raises(UserError) as error:
        Config.from_dict({"game": "hanamikoji", setting: value})
    assert_one_sentence(error.value)


@pytest.mark.parametrize("key", ["'[]'", "'x)'", "a.b", "[5]", "{}"])
def test_an_odd_key_is_no_setting(key, load):
    with pytest.raises(UserError) as error:
        load(f"{SMALL}\n? {key}\n: 1\n".encode())
    assert_one_sentence(error.value)


def test_a_file_may_begin_with_a_byte_order_mark(load):
    assert load(b"\xef\xbb\xbf" + SMALL.encode()) == load(SMALL)


class Counted(str):
    """A text that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)


def test_repeated_keys_are_found_in_work_that_grows_with_their_number():
    keys = [yaml.ScalarNode("tag:yaml.org,2002:str", Counted(f"k{i}")) for i in range(2_000)]
    Yaml("").construct_mapping(yaml.MappingNode("tag:yaml.org,2002:map", [(k, k) for k in keys]))
    assert Counted.compared <= 20 * len(keys)


@settings(max_examples=sample(5_000, 0.008), deadline=None)
@given(st.text() | st.text(alphabet="[]{}:,?-'\"#&*!|>%@`~ \n\t0123456789.eExabn_<="))
def test_any_text_is_plain_data_or_refused(text):
    with suppress(UserError):
        parse_yaml(text, "text")


@pytest.mark.parametrize(
    ("value", "spellings"),
    [
        (None, ("None", "null", "Null", "~", "")),
        (True, ("True", "true")),
        (False, ("False", "false")),
        ("none", ("none",)),  # the value of an option
    ],
)
def test_python_and_yaml_spell_the_same_values(value, spellings):
    assert all(parse_yaml(text, "text") is value or value == "none" for text in spellings)
    options = f"game: hanamikoji\noptions: {{max_rounds: {spellings[0]}}}\n"
    assert parse_yaml(options, "text")["options"]["max_rounds"] == value


@pytest.mark.parametrize("text", ["1:30", "-1:30", "190:20:30", "1:30.5"])
def test_no_number_counts_in_sixties(text, refusal):
    assert parse_yaml(text, "text") == text
    assert f"(not '{text}')" in refusal(f"{{game: hanamikoji, num_games: {text}}}")


def test_a_run_begun_with_other_settings_names_each_with_both_values(tmp_path):
    begun = Config(game="hanamikoji", seed=1, ppo=PPOSettings(gamma=0.5))
    begin_run(begun, tmp_path, resume=False)
    begin_run(begun, tmp_path, resume=True)
    changed = begun.model_copy(update={"seed": 2, "ppo": PPOSettings(gamma=0.25)})
    with pytest.raises(UserError) as error:
        begin_run(changed, tmp_path, resume=True)
    sentence = assert_one_sentence(error.value)
    assert "seed was 1 and is 2" in sentence
    assert "ppo.gamma was 0.5 and is 0.25" in sentence
    assert "n_steps" not in sentence


def test_a_run_resumes_whatever_the_order_of_its_options(tmp_path):
    options = {"colours": 2, "ranks": 3}
    swapped = dict(reversed(options.items()))
    begin_run(Config(game="hanabi:2p", options=options), tmp_path, resume=False)
    begin_run(Config(game="hanabi:2p", options=swapped), tmp_path, resume=True)


def test_a_run_resumes_with_settings_that_are_spelled_in_another_way(tmp_path):
    config, begun = Config(game="hanamikoji"), tmp_path / "config.yaml"
    begin_run(config, tmp_path, resume=False)
    begun.write_text(f"# mine\n{begun.read_text()}")
    begin_run(config, tmp_path, resume=True)


def test_the_order_of_the_opponents_is_a_setting(tmp_path):
    shares = {"self": 0.5, "greedy": 0.25, "expert": 0.25}
    swapped = dict(reversed(shares.items()))
    begin_run(Config(game="hanamikoji", opponents=shares), tmp_path, resume=False)
    with pytest.raises(UserError, match="another order") as error:
        begin_run(Config(game="hanamikoji", opponents=swapped), tmp_path, resume=True)
    assert_one_sentence(error.value)


# --- Damaged files


def change_a_byte(rng, text):
    damaged = bytearray(text.encode())
    damaged[rng.randrange(len(damaged))] = rng.randrange(256)
    return bytes(damaged)


def cut(rng, text):
    return text[: rng.randrange(len(text))].encode()


def repeat_a_line(rng, text):
    lines = text.splitlines()
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    return "\n".join(lines).encode()


def shift_a_line(rng, text):
    lines = text.splitlines()
    lines[rng.randrange(len(lines))] += rng.choice([":", "\t", " #", "  x: 1", "'", "{", "\x00"])
    lines[rng.randrange(len(lines))] = "  " + rng.choice(lines)
    return "\n".join(lines).encode()


def tag_a_value(rng, text):
    tags = ["!!python/object/apply:os.mkdir", "!!python/name:os.system", "!!int", "!!set", "!x"]
    tags += ["!!binary", "!!bool", "!!omap", "&a", "*a", "!"]
    lines = text.splitlines()
    i = rng.randrange(len(lines))
    lines[i] = lines[i].replace(": ", f": {rng.choice(tags)} ", 1)
    return "\n".join(lines).encode()


def rename_a_key(rng, text):
    data = yaml.load(text, Yaml)
    mapping, key = rng.choice(places(data, dict))
    names = [f"{key}s", key[:-1], key.upper(), "", "a b", 1, None, True, 1.5, "k" * 5_000, "\n"]
    mapping[rng.choice(names)] = mapping.pop(key)
    return yaml.safe_dump(data).encode()


def change_a_value(rng, text):
    data = yaml.load(text, Yaml)
    container, key = rng.choice(places(data, (dict, list)))
    container[key] = rng.choice(VALUES)
    return yaml.safe_dump(data).encode()


VALUES = [
    None, True, False, 0, -1, 2, 10**30, -(10**400), 0.5, -0.5, 1e-300, 1e300,
    float("inf"), float("-inf"), float("nan"), "", "abc", "\n", "lin_", "lin_1", "lin_1e99", "1e5",
    "é\u2028", "k" * 5_000, "../../etc", [], [[]], [0], [1, 1], [1] * 1_000, ["self"], [{}], {},
    {"self": 1}, {"a": {"b": {"c": []}}}, {1: 2}, {None: None},
]  # fmt: skip


def nest(rng, text):
    depth = rng.choice([10, 100, 1_000, 10_000])
    opening, closing = rng.choice([("[", "]"), ("{a: ", "}"), ("- ", "")])
    lines = text.splitlines()
    i = rng.randrange(len(lines))
    key = lines[i].partition(":")[0]
    lines[i] = f"{key}: {opening * depth}{closing * depth}"
    return "\n".join(lines).encode()


DAMAGES = [
    change_a_byte, cut, repeat_a_line, shift_a_line, tag_a_value,
    rename_a_key, change_a_value, nest,
]  # fmt: skip


def places(data, kinds):
    """Every (container, key) in the data whose container is of these kinds."""
    if not isinstance(data, dict | list):
        return []
    keys = list(data) if isinstance(data, dict) else range(len(data))
    here = [(data, key) for key in keys] if isinstance(data, kinds) else []
    return here + [place for key in keys for place in places(data[key], kinds)]


def damaged_files(count):
    """Settings as they may arrive: each one of the texts with one or two damages."""
    rng = random.Random(0)
    texts = [path.read_text() for path in sorted(CONFIGS.glob("*.yaml"))]
    texts += [
        DETAILED.to_yaml(),
        ROAD.to_yaml(),
        CLONED.to_yaml(),
        Config(game="hanamikoji").to_yaml(),
    ]
    return [rng.choice(DAMAGES)(rng, rng.choice(texts)) for _ in range(count)]


def test_a_damaged_file_is_refused_in_one_sentence_or_loads_unharmed(tmp_path):
    path = tmp_path / "run.yaml"
    refused = 0
    for content in damaged_files(MUTATIONS):
        path.write_bytes(content)
        try:
            config = Config.load(path)
        except UserError as error:
            assert_one_sentence(error)
            refused += 1
        else:
            assert config.variant().id in VARIANTS
            path.write_text(config.to_yaml())
            assert Config.load(path) == config
    assert MUTATIONS / 2 < refused < MUTATIONS
    assert [file.name for file in tmp_path.iterdir()] == ["run.yaml"]


def test_the_command_line_refuses_a_damaged_file_with_code_2(refused_files, tmp_path, capsys):
    for path in refused_files:
        with pytest.raises(SystemExit) as ended:
            cli.main(["train", str(path), "--out", str(tmp_path / "out")])
        out, err = capsys.readouterr()
        assert (ended.value.code, out) == (2, "")
        assert err.startswith(f"hanamachi: {path}")
        assert err.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.fixture
def refused_files(tmp_path):
    """Damaged files that do not load."""
    return [path for path in written_files(tmp_path) if not loads(path)][:ON_THE_COMMAND_LINE]


def written_files(folder):
    for i, content in enumerate(damaged_files(2 * ON_THE_COMMAND_LINE)):
        path = folder / f"{i}.yaml"
        path.write_bytes(content)
        yield path


def loads(path):
    try:
        Config.load(path)
    except UserError:
        return False
    return True


def test_a_run_writes_no_settings_that_it_could_not_read_again(load, tmp_path):
    names = [f"{n}" + 900 * "界" for n in range(20)]  # 54,000 bytes, and twice as many in ASCII
    with pytest.raises(UserError, match="settings"):
        write_settings(tmp_path, load(SMALL + f"evaluation: {{final_opponents: {names}}}"))
    assert not (tmp_path / "config.yaml").exists()
