"""A checkpoint is loaded as it was written, or refused; nothing in it is ever executed."""

import json
import os
import pickle
import random
import shutil
import stat
import subprocess
import sys
import tracemalloc
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import torch
from messages import assert_one_sentence
from plain_network import plain_network
from safetensors.torch import load_file, save
from samples import sample
from small_games import GIFTS

from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.errors import UserError
from hanamachi.games.registry import variant as make_variant
from hanamachi.limits import FEATURE_SETS, LAYERS, WIDTH
from hanamachi.policies import load_policy
from hanamachi.policies.export import export
from hanamachi.policies.networks import checkpoint
from hanamachi.policies.networks.checkpoint import load_checkpoint, save_checkpoint
from hanamachi.policies.networks.description import (
    config_digest,
    describes_network,
    plays_other_rules,
)
from hanamachi.policies.networks.network import Network, checkpoint_of, for_variant
from hanamachi.policies.networks.onnx_policy import load_onnx
from hanamachi.policies.sampling import sample as draw
from hanamachi.training.cli import main as cli

pytestmark = pytest.mark.usefixtures("on_one_thread")

ROAD = {"colours": 2, "item_values": (1, 2, 3, 4), "actions": ("reveal", "gift"), "rounds": 1}
OTHER_OPTIONS = [
    {"cards": (2, 3, 5), "actions": ("secret", "gift"), "max_rounds": 1},
    {"cards": (2, 3, 4), "actions": ("secret", "trade_off"), "max_rounds": 1},
    {"cards": (2, 3, 4), "actions": ("secret", "gift"), "max_rounds": 3},
    {},
]
HIDDEN = (32, 16)
MUTATIONS = sample(2_000, 0.3)
ON_THE_COMMAND_LINE = sample(100, 0.05)
WEIGHTS, CONFIG = "model.safetensors", "config.json"
LONG_ENOUGH = bytes(100_000)  # to hold the network


@pytest.fixture(scope="module")
def network():
    return some_network(make_variant("hanamikoji", **GIFTS), HIDDEN)


def some_network(variant, hidden) -> Network:
    torch.manual_seed(0)
    network = for_variant(variant, hidden)
    for weights in network.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    return network


@pytest.fixture(scope="module")
def whole(network, tmp_path_factory):
    """A checkpoint as it was written."""
    folder = tmp_path_factory.mktemp("whole") / "policy"
    save_checkpoint(
        folder, checkpoint_of(network, make_variant("hanamikoji", **GIFTS)), "# A card\n"
    )
    return folder


@pytest.fixture(scope="module")
def road(tmp_path_factory):
    """One of another game."""
    folder, variant = (
        tmp_path_factory.mktemp("road") / "policy",
        make_variant("geishas_road:advanced", **ROAD),
    )
    save_checkpoint(folder, checkpoint_of(some_network(variant, HIDDEN), variant), "# A card\n")
    return folder


@pytest.fixture
def folder(whole, tmp_path):
    """A copy that may be damaged."""
    return Path(shutil.copytree(whole, tmp_path / "policy"))


def refusal(folder, game=None, **options):
    with pytest.raises(UserError) as refused:
        load_policy(str(folder), game, **options)
    return assert_one_sentence(refused.value)


# --- Whole checkpoints


def test_what_is_loaded_is_what_was_saved(network, whole):
    policy = load_policy(str(whole))
    assert policy.variant is make_variant("hanamikoji", **GIFTS)
    assert policy.checkpoint.hidden == HIDDEN
    for name, weights in network.state_dict().items():
        np.testing.assert_array_equal(policy.checkpoint.weights[name], weights)


def test_a_checkpoint_is_weights_a_description_and_a_card(whole):
    assert {path.name for path in whole.iterdir()} == {WEIGHTS, CONFIG, "README.md"}
    assert load_file(whole / WEIGHTS).keys() == load_policy(str(whole)).checkpoint.weights.keys()


def test_a_link_to_the_folder_is_the_folder(whole, tmp_path):
    (tmp_path / "link").symlink_to(whole, target_is_directory=True)
    assert load_policy(str(tmp_path / "link")).checkpoint.hidden == HIDDEN


def test_a_checkpoint_loads_from_within_its_folder(whole, monkeypatch):
    monkeypatch.chdir(whole)
    assert load_checkpoint(".").name == whole.name
    (whole / "below").mkdir()
    monkeypatch.chdir(whole / "below")
    assert load_checkpoint("..").name == whole.name


@pytest.mark.parametrize("option", ["folder", "path", "game"])
@pytest.mark.parametrize("load", [load_checkpoint, load_onnx])
def test_no_option_is_taken_for_an_argument(load, option, whole, tmp_path):
    if load is load_onnx:
        whole = export(str(whole), tmp_path / "policy.onnx")
    with pytest.raises(UserError, match=option):
        load(whole, None, **{option: 3})


@pytest.mark.parametrize("load", [load_checkpoint, load_onnx])
@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 5000, ""])
def test_a_name_that_no_file_can_have_is_refused(load, name):
    with pytest.raises(UserError):
        load(name)


def test_a_save_that_fails_leaves_the_one_before(network, folder):
    before = contents(folder.parent)
    with pytest.raises(UnicodeEncodeError):
        save_checkpoint(folder, checkpoint_of(network, make_variant("hanamikoji")), "\ud800")
    assert contents(folder.parent) == before
    assert load_policy(str(folder)).variant is make_variant("hanamikoji", **GIFTS)


@pytest.mark.parametrize(
    ("id", "options"),
    [("hanamikoji", GIFTS), ("hanamikoji", {}), ("geishas_road:advanced", {})],
    ids=["small", "standard", "another game"],
)
def test_the_policy_equals_the_network_in_every_batch_size_to_the_bit(id, options, tmp_path):
    variant = make_variant(id, **options)
    network = some_network(variant, HIDDEN)
    save_checkpoint(tmp_path / "policy", checkpoint_of(network, variant), "")
    policy = load_policy(str(tmp_path / "policy"))
    observations, masks = positions(variant, 1_000)
    together, values, _ = policy.distribution(observations, masks, policy.initial_memory(1_000))
    assert_is_softmax_of(network, observations, masks, together, values)
    for size, count in ((1, 100), (7, 1_000)):
        for rows in np.split(np.arange(count), range(size, count, size)):
            memory = policy.initial_memory(len(rows))
            part, value, _ = policy.distribution(observations[rows], masks[rows], memory)
            np.testing.assert_array_equal(part, together[rows])
            np.testing.assert_array_equal(value, values[rows])


@torch.no_grad()
def assert_is_softmax_of(network, observations, masks, probabilities, values):
    """In double precision, straight from the definition."""
    logits, expected = plain_network(network.double(), torch.from_numpy(observations).double())
    weights = logits.exp().numpy() * masks
    np.testing.assert_allclose(probabilities, weights / weights.sum(1, keepdims=True), atol=1e-5)
    np.testing.assert_allclose(values, expected.numpy(), rtol=1e-3, atol=1e-4)
    assert (probabilities[masks == 0] == 0).all()


def positions(variant, count):
    """Observations and masks of the first decisions of random games."""
    rng = np.random.default_rng(0)
    games = variant.new(np.arange(count, dtype=np.uint64))
    kernels.reset(variant.rule_set, games)
    for decisions in range(3):
        _, masks = at_turn(variant, games)
        later = np.arange(count) % 4 > decisions
        actions = draw(masks / masks.sum(1, keepdims=True), rng.random(count))
        moved = games[later]
        kernels.step(variant.rule_set, moved, actions[later])
        games[later] = moved
        assert (games["mover"] != OVER).all()
    return at_turn(variant, games)


def at_turn(variant, games):
    observations = np.zeros((len(games), variant.observation.size), np.float32)
    masks = np.zeros((len(games), variant.actions.size), np.int8)
    kernels.observations(variant.rule_set, games, games["mover"].astype(np.int64), observations)
    kernels.masks(variant.rule_set, games, masks)
    return observations, masks


@pytest.mark.parametrize("options", OTHER_OPTIONS)
def test_a_checkpoint_is_not_played_under_other_rules(whole, options):
    assert "hanamikoji" in refusal(whole, "hanamikoji", **options)


@pytest.mark.parametrize("options", [{}, {"max_rounds": 2}])
def test_a_refusal_spells_the_options_that_the_checkpoint_plays(options, whole, monkeypatch):
    monkeypatch.chdir(whole.parent)
    said = refusal("policy", "hanamikoji", **options)
    assert "--set 'cards=[2,3,4]'" in said
    assert said.endswith("name its own game and options, or none of them")


def test_a_refusal_without_room_for_the_options_still_says_what_to_do():
    variant = make_variant("hanamikoji", **GIFTS, starter=1, limit_rule="charm")
    error = plays_other_rules(Path("x" * 100), variant, "hanamikoji has other actions")
    said = assert_one_sentence(error, "hanamikoji with options of its own")
    assert said.endswith("name its own game and options, or none of them")


def test_a_checkpoint_plays_rules_with_the_same_actions_and_observations(whole):
    policy = load_policy(str(whole), "hanamikoji", **GIFTS, starter=1)
    assert policy.variant.options["starter"] == 1


# --- Damaged ones: the weights, not mentioned in the description


def change_a_byte_of_the_weights(rng, folder):
    content = bytearray((folder / WEIGHTS).read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    (folder / WEIGHTS).write_bytes(content)


def cut_the_weights(rng, folder):
    content = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(content[: rng.randrange(len(content))])


def lengthen_the_weights(rng, folder):
    content = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(content + bytes(rng.randrange(1, 100)))


def exchange_the_weights(rng, folder):
    tensors = {name: t + rng.random() for name, t in load_file(folder / WEIGHTS).items()}
    (folder / WEIGHTS).write_bytes(save(tensors))


# --- The weights, with a description that fits them


def forge(folder, weights):
    """Exchange the weights as somebody would who knows of the checksums."""
    (folder / WEIGHTS).write_bytes(weights)
    seal(folder, weights=sha256(weights).hexdigest())


def seal(folder, **changes):
    """Change the description and its digest with it."""
    config = json.loads((folder / CONFIG).read_text()) | changes
    config["digest"] = config_digest(config)
    (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n")


def put_what_is_no_number(rng, folder):
    tensors = load_file(folder / WEIGHTS)
    weights = rng.choice(list(tensors.values())).view(-1)
    weights[rng.randrange(len(weights))] = rng.choice([np.nan, np.inf, -np.inf])
    forge(folder, save(tensors))


def change_a_shape(rng, folder):
    tensors = load_file(folder / WEIGHTS)
    name = rng.choice(list(tensors))
    t = tensors[name]
    tensors[name] = rng.choice(
        [t[:-1], t[..., None], t[None], t.flatten()[1:], torch.cat([t, t]), t.flatten()[:0]]
    ).contiguous()
    forge(folder, save(tensors))


def change_a_type(rng, folder):
    tensors = load_file(folder / WEIGHTS)
    types = [torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.bool]
    name = rng.choice(list(tensors))
    tensors[name] = tensors[name].to(rng.choice([*types, torch.float8_e4m3fn, torch.complex64]))
    forge(folder, save(tensors))


def rename_a_tensor(rng, folder):
    tensors = load_file(folder / WEIGHTS)
    name = rng.choice(list(tensors))
    tensors[rng.choice([f"{name}.x", "", "../x", "\n", "trunk.9.weight"])] = tensors.pop(name)
    forge(folder, save(tensors))


def leave_out_or_add_a_tensor(rng, folder):
    tensors = load_file(folder / WEIGHTS)
    if rng.random() < 0.5:
        tensors.pop(rng.choice(list(tensors)))
    else:
        tensors["more"] = torch.zeros(rng.randrange(3))
    forge(folder, save(tensors))


def change_the_header(rng, folder):
    content = bytearray((folder / WEIGHTS).read_bytes())
    written = content[8:].index(b"}}") + 2  # then come blanks, which mean nothing
    content[rng.randrange(8 + written)] ^= 1 << rng.randrange(8)
    forge(folder, bytes(content))


def put_a_foreign_header(rng, folder):
    tensor = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    change = rng.choice(
        [{"dtype": "F99"}, {"dtype": 1}, {"shape": [-1]}, {"shape": [2**62, 4]}, {"shape": "1"},
         {"data_offsets": [0, 2**63]}, {"data_offsets": [4, 0]}, {"data_offsets": [-4, 0]}]
    )  # fmt: skip
    header = json.dumps({"value.bias": tensor | change}).encode()
    length = rng.choice([len(header), 0, 2**63, 10**8])
    forge(folder, length.to_bytes(8, "little") + header + LONG_ENOUGH)


class Trap:
    """Makes a folder when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def put_a_pickle(rng, folder):
    trap = Trap(folder.parent / "executed")
    saved = BytesIO()
    torch.save({"value.bias": trap}, saved)
    pickled = rng.choice([pickle.dumps(trap, rng.randrange(6)), saved.getvalue()])
    forge(folder, pickled + LONG_ENOUGH)


# --- The description


def change_a_value(rng, folder):
    """By hand, that is, with the digest that it had."""
    config = json.loads((folder / CONFIG).read_text())
    container, key = rng.choice(places(config))
    old = container[key]
    container[key] = rng.choice([value for value in VALUES if value != old])
    (folder / CONFIG).write_text(json.dumps(config))


VALUES = [
    None, True, False, -1, 0, 7, 1e300, "", "x", [], [1], {}, {"a": 1}, "2", "two",
]  # fmt: skip


def places(data):
    """Every (container, key) in the data."""
    if not isinstance(data, dict | list):
        return []
    keys = list(data) if isinstance(data, dict) else range(len(data))
    return [(data, key) for key in keys] + [place for key in keys for place in places(data[key])]


def leave_out_or_add_a_key(rng, folder):
    config = json.loads((folder / CONFIG).read_text())
    container, key = rng.choice([place for place in places(config) if isinstance(place[0], dict)])
    if rng.random() < 0.5:
        del container[key]
    else:
        container[f"{key}s"] = container[key]
    (folder / CONFIG).write_text(json.dumps(config))


def cut_the_description(rng, folder):
    content = (folder / CONFIG).read_bytes()
    (folder / CONFIG).write_bytes(content[: rng.randrange(len(content) - 2)])


def put_what_is_no_description(rng, folder):
    contents = ["", "[]", "3", "null", "{}", '{"format": 1}', "[" * 100_000, '{"a":' * 100_000]
    contents += [
        "\x00",
        "\ufeff",
        '"',
        "NaN",
        "1" * 5_000,
        "\udcff",
        '{"format": ' + "9" * 4_000 + "}",
    ]
    content = rng.choice(contents).encode(errors="surrogateescape")
    (folder / CONFIG).write_bytes(content)


def repeat_a_key(rng, folder):
    lines = (folder / CONFIG).read_text().splitlines()
    keyed = [i for i, line in enumerate(lines) if line.endswith(('",', "1,")) and ": " in line]
    i = rng.choice(keyed)
    lines.insert(i, lines[i])
    (folder / CONFIG).write_text("\n".join(lines))


# --- The description, with its own digest computed anew


def put_a_wrong_type(rng, folder):
    config = json.loads((folder / CONFIG).read_text())
    key = rng.choice(list(config.keys() - {"digest"}))
    seal(
        folder,
        **{key: rng.choice([value for value in WRONG if type(value) is not type(config[key])])},
    )


WRONG = [
    None, True, 1, 1.0, -1, 10**300, 1e300, float("nan"), "", "x", "\n\x1b[31m", "\ud800",
    [], ["x"], [[]], {}, {"hidden": 3}, {"a": {"b": []}}, "k" * 5_000,
]  # fmt: skip


def put_a_wrong_network(rng, folder):
    hidden = rng.choice(
        [[], [32], [16, 32], [32, 16, 16], [0], [-1], [32, 0], [1 << 40], [16_384] * 100,
         [1] * 100_000, [32, True], [32.0, 16.0], ["32", "16"], [[32], 16], "32", 32, None, {},
         [None], [10**400], [1] * 65]
    )  # fmt: skip
    seal(folder, network={"hidden": hidden})


def nest_a_value(rng, folder):
    value = rng.choice([[], {}, 1])
    for _ in range(rng.choice([2, 50, 150, 300, 450, 900])):
        value = [value] if rng.random() < 0.5 else {"cards": value}
    options = json.loads((folder / CONFIG).read_text())["options"]
    options[rng.choice(["cards", "actions", "starter", "more"])] = value
    seal(folder, options=options)


def put_a_wrong_option(rng, folder):
    options = json.loads((folder / CONFIG).read_text())["options"]
    options[
        rng.choice(["cards", "actions", "max_rounds", "limit_rule", "starter", "more", "id"])
    ] = rng.choice([True, -1, 10**300, 0.5, "x", "\n", [], [[]], [{}], {}, {"a": []}, [0], ["x"]])
    seal(folder, options=options)


def put_a_foreign_game(rng, folder):
    games = ["hanamikoji:two_rounds", "hanamikoj", "HANAMIKOJI", "", "../hanamikoji", "os:mkdir"]
    seal(folder, game=rng.choice(games))


def put_foreign_options(rng, folder):
    options = json.loads((folder / CONFIG).read_text())["options"]
    seal(folder, options=options | rng.choice(OTHER_OPTIONS[:3]))


def put_a_foreign_digest(rng, folder):
    foreign = make_variant("hanamikoji", **rng.choice(OTHER_OPTIONS))
    what = rng.choice(["actions", "observation"])
    options = {"actions": OTHER_OPTIONS[1]} if what == "actions" else {}
    foreign = make_variant("hanamikoji", **options.get(what, OTHER_OPTIONS[2]))
    seal(folder, **{what: getattr(foreign, what).digest})


def put_another_format(rng, folder):
    seal(folder, format=rng.choice([0, 2, -1, 10**300]))


def put_another_checksum(rng, folder):
    seal(folder, weights=rng.choice(["", "0" * 64, "../../model.safetensors", "sha256"]))


# --- The folder


def lead_out_of_the_folder(rng, folder):
    """By links whose targets would otherwise do."""
    name = rng.choice([WEIGHTS, CONFIG])
    (folder / name).rename(folder.parent / "elsewhere")
    target = rng.choice(["../elsewhere", folder.parent / "elsewhere", "/dev/zero", "/dev/stdin"])
    (folder / name).symlink_to(target)


def lead_nowhere(rng, folder):
    name = rng.choice([WEIGHTS, CONFIG])
    (folder / name).unlink()
    (folder / name).symlink_to(rng.choice([name, "nothing", ".", ".."]))


def put_what_is_no_file(rng, folder):
    name = rng.choice([WEIGHTS, CONFIG])
    (folder / name).unlink()
    rng.choice([getattr(os, "mkfifo", os.mkdir), os.mkdir])(folder / name)


def remove_a_file(rng, folder):
    (folder / rng.choice([WEIGHTS, CONFIG])).unlink()


DAMAGES = [
    change_a_byte_of_the_weights, cut_the_weights, lengthen_the_weights, exchange_the_weights,
    put_what_is_no_number, change_a_shape, change_a_type, rename_a_tensor,
    leave_out_or_add_a_tensor, change_the_header, put_a_foreign_header, put_a_pickle,
    change_a_value, leave_out_or_add_a_key, cut_the_description, put_what_is_no_description,
    repeat_a_key, put_a_wrong_type, put_a_wrong_network, nest_a_value, put_a_wrong_option,
    put_a_foreign_game, put_foreign_options, put_a_foreign_digest, put_another_format,
    put_another_checksum, lead_out_of_the_folder, lead_nowhere, put_what_is_no_file, remove_a_file,
]  # fmt: skip


def contents(folder):
    """Every path below, with what it is and what it holds."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        found[path] = mode, path.read_bytes() if stat.S_ISREG(mode) else None
    return found


@pytest.mark.parametrize("which", ["whole", "road"])
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_checkpoint_is_refused_and_nothing_else_happens(which, tmp_path, damage, request):
    rng, whole = random.Random(damage.__name__), request.getfixturevalue(which)
    for i in range(max(1, MUTATIONS // len(DAMAGES))):
        folder = Path(shutil.copytree(whole, tmp_path / str(i) / "policy"))
        damage(rng, folder)
        before = contents(folder.parent)
        refusal(folder)
        assert contents(folder.parent) == before


def test_the_command_line_refuses_a_damaged_checkpoint_with_code_2(whole, tmp_path, capsys):
    assert evaluated(whole) == 0
    capsys.readouterr()
    for i, damage in enumerate(random.Random(0).choices(DAMAGES, k=ON_THE_COMMAND_LINE)):
        folder = Path(shutil.copytree(whole, tmp_path / str(i) / "policy"))
        damage(random.Random(i), folder)
        assert evaluated(folder) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("hanamachi: ")
        assert err.count("\n") == 1


def evaluated(folder):
    """The exit code of `hanamachi evaluate` for this checkpoint."""
    arguments = ["evaluate", str(folder), "random", "--game", "hanamikoji", "--games", "2"]
    for name, value in GIFTS.items():
        arguments += ["--set", f"{name}={json.dumps(value)}"]
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    return ended.value.code


# --- What it costs to refuse


def bytes_allocated(action):
    """The most memory that Python had in use at once during an action."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "hidden",
    [[1] * 300_000, [1] * 65, [16_384] * 64, [16_385], [16_384] * 3],
    ids=["countless", "too many", "all too wide", "too wide", "too large"],
)
def test_a_network_that_is_too_large_is_refused_before_it_is_built(hidden, folder, monkeypatch):
    forge(folder, bytes(3_000_000))
    seal(folder, network={"hidden": hidden})
    monkeypatch.setattr(checkpoint, "load", must_not_happen)
    refusal(folder)


def test_no_network_is_built_that_no_checkpoint_holds():
    """Its trunk alone would fit; all weights together do not."""
    with pytest.raises(UserError, match="MiB"):
        for_variant(make_variant("hanamikoji"), [16_384, 16_129])


def test_a_description_that_is_too_large_is_not_read(folder):
    (folder / CONFIG).write_text('{"format": 1, "list": [' + "1," * 10_000_000 + "1]}")
    assert bytes_allocated(lambda: refusal(folder)) < 2**20


def test_weights_larger_than_the_network_are_not_read(folder):
    with (folder / WEIGHTS).open("r+b") as file:
        file.truncate(2**30)
    assert bytes_allocated(lambda: refusal(folder)) < 2**20


def test_a_file_that_says_nothing_of_its_size_is_not_read(folder, monkeypatch):
    """As files of the kernel do, or one that is written meanwhile."""
    status = Path.lstat
    monkeypatch.setattr(Path, "lstat", lambda path: with_size(100, status(path)))
    assert bytes_allocated(lambda: refusal(folder)) < 2**20


def with_size(size, status):
    return os.stat_result((*status[:6], size, *status[7:10]))


@pytest.mark.parametrize("levels", [600, 5_000])
def test_a_description_nested_too_deep_is_refused(levels, folder):
    text = (folder / CONFIG).read_text()
    (folder / CONFIG).write_text(text.replace('"secret"', "[" * levels + "]" * levels))
    refusal(folder)


def test_a_header_of_countless_tensors_is_refused_before_any_is_made(folder, monkeypatch):
    tensor = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    header = json.dumps({str(i): tensor for i in range(1_000)}).encode()
    monkeypatch.setattr(checkpoint, "load", must_not_happen)
    forge(folder, len(header).to_bytes(8, "little") + header)
    refusal(folder)


def test_a_header_that_promises_less_than_the_file_holds_is_refused(folder):
    content = (folder / WEIGHTS).read_bytes()
    forge(folder, content + bytes(100))
    refusal(folder)


def test_a_network_without_memory_for_it_is_refused(folder, monkeypatch):
    monkeypatch.setattr(checkpoint, "load", partial(must_not_happen, error=MemoryError()))
    refusal(folder)


def must_not_happen(*_, error=None):
    raise error or AssertionError("it was built")


def test_an_agent_loads_and_plays_without_pytorch():
    program = """
import sys
import hanamachi
from hanamachi.policies import load_policy
from hanamachi.policies.export import export
env = hanamachi.make("hanamikoji")
env.reset(seed=0)
observation = env.observe(env.agent_selection)
agent = load_policy("hanamikoji")
action, _ = agent.predict(observation["observation"], action_masks=observation["action_mask"])
assert observation["action_mask"][action]
print("torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == b"False\n"


def test_the_largest_networks_that_can_be_trained_can_be_described():
    assert describes_network({"hidden": [WIDTH] * LAYERS})
    assert not describes_network({"hidden": []})
    assert not describes_network({"hidden": [1], "features": ["advice"] * (FEATURE_SETS + 1)})
