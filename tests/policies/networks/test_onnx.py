"""An exported policy decides as its checkpoint does, needs no PyTorch, and is loaded or refused."""

import copy
import io
import json
import pickle
import random
import shutil
import subprocess
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import gymnasium
import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from messages import assert_one_sentence
from onnx import TensorProto, helper, numpy_helper
from samples import sample
from small_games import GIFTS

from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.errors import UserError
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies import load_policy
from hanamachi.policies.agents import agents
from hanamachi.policies.export import export
from hanamachi.policies.networks import protobuf
from hanamachi.policies.networks.checkpoint import save_checkpoint
from hanamachi.policies.networks.description import config_digest
from hanamachi.policies.networks.network import checkpoint_of, for_variant
from hanamachi.policies.networks.onnx_graph import DESCRIPTION, graph_of
from hanamachi.policies.networks.protobuf import compare, encoded
from hanamachi.policies.networks.tables import tables_of, zeros
from hanamachi.policies.sampling import sample as draw
from hanamachi.sessions.observations import observe
from hanamachi.training.cli import main as cli
from hanamachi.training.config import Config
from hanamachi.training.run import train

pytestmark = pytest.mark.usefixtures("on_one_thread")

POSITIONS = sample(10_000, 0.02)
CLOSE = 1e-5
CHANGES = sample(2_000, 0.1)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """Of a small game, with a feature set."""
    folder, variant = (
        tmp_path_factory.mktemp("small") / "policy",
        make_variant("hanamikoji", **GIFTS),
    )
    torch.manual_seed(0)
    network = for_variant(variant, (32, 16), ("advice",))
    for weights in network.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    save_checkpoint(folder, checkpoint_of(network, variant), "# A card\n")
    return folder


@pytest.fixture(scope="module")
def exported(checkpoint, tmp_path_factory):
    return export(str(checkpoint), tmp_path_factory.mktemp("exported") / "policy.onnx")


@pytest.fixture
def file(exported, tmp_path):
    """A copy that may be damaged."""
    return Path(shutil.copy(exported, tmp_path / "policy.onnx"))


def decisions(policy, count):
    """Observations, masks and memories of at least so many decisions, a turn of many games each."""
    variant, rng, met = policy.variant, np.random.default_rng(0), 0
    while met < count:
        games = variant.new(rng.integers(0, 2**63, 64).astype(np.uint64))
        kernels.reset(variant.rule_set, games)
        memory = policy.initial_memory(64 * variant.seats).reshape(64, variant.seats, -1)
        while met < count and (rows := np.flatnonzero(games["mover"] != OVER)).size:
            going, place = games[rows], (rows, games["mover"][rows].astype(np.int64))
            seen = *observe(variant, going, place[1]), memory[place]
            yield seen
            met += len(rows)
            chances, _, memory[place] = policy.distribution(*seen)
            mixed = (chances + seen[1] / seen[1].sum(1, keepdims=True)) / 2
            kernels.step(
                variant.rule_set, going, draw(mixed.astype(np.float32), rng.random(len(rows)))
            )
            games[rows] = going


def many(policy, count):
    """The same of exactly so many decisions, as one batch."""
    return [np.concatenate(parts)[:count] for parts in zip(*decisions(policy, count), strict=True)]


# --- The same decisions


@pytest.mark.parametrize("id", agents())
def test_an_exported_agent_decides_as_its_checkpoint_does(id, tmp_path):
    agent, ours = load_policy(id), load_policy(export(id, tmp_path / "agent.onnx"))
    seen = many(agent, POSITIONS)
    expected, found = agent.distribution(*seen), ours.distribution(*seen)
    for theirs, mine in zip(expected[:2], found[:2], strict=True):
        assert mine.dtype == theirs.dtype == np.float32
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=CLOSE)
    assert (found[0][seen[1] == 0] == 0).all()
    np.testing.assert_array_equal(found[2], expected[2])
    assert len(seen[0]) == POSITIONS


def test_rows_are_independent_of_each_other_to_the_bit(exported):
    policy = load_policy(exported)
    seen = many(policy, 300)
    together = policy.distribution(*seen)
    for size in (1, 7):
        for rows in np.split(np.arange(70), range(size, 70, size)):
            parts = policy.distribution(*(s[rows] for s in seen))
            for part, whole in zip(parts, together, strict=True):
                np.testing.assert_array_equal(part, whole[rows])


@pytest.mark.parametrize("size", [1, 7, 300])
def test_other_programs_need_nothing_but_the_file(exported, checkpoint, size):
    policy = load_policy(str(checkpoint))
    observation, mask, memory = many(policy, size)
    features, _ = policy.features.extend(observation, mask, memory)
    session = onnxruntime.InferenceSession(exported, providers=["CPUExecutionProvider"])
    given = {"observation": features, "mask": mask != 0}
    probabilities, value = session.run(["probabilities", "value"], given)
    expected = policy.distribution(observation, mask, memory)
    np.testing.assert_allclose(probabilities, expected[0], rtol=0, atol=CLOSE)
    np.testing.assert_allclose(value, expected[1], rtol=0, atol=CLOSE)


def test_a_file_is_what_onnx_calls_valid_and_describes_itself(exported, checkpoint):
    onnx.checker.check_model(exported, full_check=True)
    model = onnx.load(exported)
    (described,) = model.metadata_props
    told, config = json.loads(described.value), json.loads((checkpoint / "config.json").read_text())
    assert described.key == DESCRIPTION
    assert told.keys() == config.keys()
    assert {name for name in told if told[name] != config[name]} == {"weights", "digest"}


def test_a_policy_can_be_copied_and_pickled(exported):
    policy = load_policy(exported)
    seen = many(policy, 10)
    for twin in (copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))):
        np.testing.assert_array_equal(twin.distribution(*seen)[0], policy.distribution(*seen)[0])


# --- Wherever a policy can be named

WITHOUT_TORCH = """
import sys
for name in ("torch", "safetensors", "onnx", "stable_baselines3", "pydantic", "typer"):
    sys.modules[name] = None  # as if it were not installed

import gymnasium
import hanamachi
from hanamachi.policies import load_policy

for spec in (sys.argv[1], f"search:improve:{sys.argv[1]}:worlds=2"):
    env = gymnasium.make(
        "hanamachi/Hanamikoji-v0",
        opponent=load_policy(spec),
        cards=(2, 3, 4), actions=("secret", "gift"), max_rounds=1,
    )
    me, (seen, info), over = load_policy(sys.argv[1]), env.reset(seed=0), False
    while not over:
        action, _ = me.predict(seen, action_masks=info["action_mask"])
        seen, reward, over, _, info = env.step(int(action))
    print(reward)
"""


def test_it_plays_where_torch_is_not_installed(exported):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, exported], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 2


def command(*arguments):
    """The exit code of `hanamachi` with these arguments."""
    with pytest.raises(SystemExit) as ended:
        cli.main([str(argument) for argument in arguments])
    return ended.value.code


OPTIONS = [f"--set={name}={json.dumps(value)}" for name, value in GIFTS.items()]


def test_evaluate_takes_its_path(exported, checkpoint, tmp_path):
    policies = [str(exported), str(checkpoint), "greedy", f"search:improve:{exported}:worlds=2"]
    budget = "--games", 4, "--out", tmp_path
    assert command("evaluate", *policies, "--game", "hanamikoji", *budget, *OPTIONS) == 0
    assert json.loads((tmp_path / "evaluation.json").read_text())["policies"] == policies


def test_play_takes_its_path(exported, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    assert command("play", "hanamikoji", "--opponent", exported, *OPTIONS) == 0
    assert "policy.onnx" in capsys.readouterr().out


def test_it_can_be_the_opponent_of_many_games(exported):
    opponent = load_policy(exported)
    env = gymnasium.make_vec("hanamachi/Hanamikoji-v0", num_envs=3, opponent=opponent, **GIFTS)
    _, info = env.reset(seed=0)
    ended = 0
    while ended < 3:
        *_, terminated, _, info = env.step(info["action_mask"].argmax(1))
        ended += terminated.sum()


def test_runs_learn_against_it_and_from_it(exported, tmp_path):
    it = str(exported)
    tiny = {"game": "hanamikoji", "options": GIFTS, "steps": 64, "num_games": 4}
    tiny |= {"network": {"hidden": [16]}, "ppo": {"batch_size": 32}, "clone": {"steps": 64}}
    judged = {"games": 2, "final_games": 2, "opponents": [it], "final_opponents": [it]}
    learning = {"opponents": {"self": 0.5, it: 0.5}, "init_from": it, "evaluation": judged}
    policy = train(Config.from_dict(tiny | learning), tmp_path / "run")
    assert load_policy(str(policy)).checkpoint.hidden == (16,)


# --- Exporting


def test_the_command_writes_a_file_named_after_the_policy(checkpoint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command("export", checkpoint) == 0
    assert command("export", "hanabi:2p") == 0
    assert command("export", checkpoint, "--out", "deep/down/it.onnx") == 0
    assert {p.name for p in tmp_path.iterdir()} == {"policy.onnx", "hanabi-2p.onnx", "deep"}
    assert load_policy("hanabi-2p.onnx").variant is make_variant("hanabi:2p")
    assert load_policy("deep/down/it.onnx").variant is make_variant("hanamikoji", **GIFTS)


@pytest.mark.parametrize("kind", [str, Path])
def test_a_checkpoint_and_its_file_may_be_texts_or_paths(kind, checkpoint, tmp_path):
    out = tmp_path / "policy.onnx"
    assert export(kind(checkpoint), kind(out)) == out
    assert out.is_file()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["greedy"], "greedy"),
        (["search:improve:hanamikoji:worlds=2"], "search:improve:hanamikoji:worlds=2"),
        (["other.onnx"], "other.onnx"),
        (["nowhere/policy"], "nowhere/policy"),
        (["hanamikoji", "--out", "policy"], ".onnx"),
    ],
)
def test_what_cannot_be_exported_is_said_in_one_sentence(
    arguments, named, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert command("export", *arguments) == 2
    error = capsys.readouterr().err
    assert named in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_an_export_without_a_name_replaces_no_other(checkpoint, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.onnx").write_text("of another run")
    assert command("export", checkpoint) == 2
    assert "name another file" in capsys.readouterr().err
    assert (tmp_path / "policy.onnx").read_text() == "of another run"
    assert command("export", checkpoint, "--out", "other.onnx") == 0


def test_an_export_that_fails_leaves_what_was_there(checkpoint, tmp_path):
    place = tmp_path / "policy.onnx"
    (place / "inside").mkdir(parents=True)
    with pytest.raises(UserError, match="is a folder"):
        export(str(checkpoint), place)
    assert list(tmp_path.iterdir()) == [place]


def test_the_same_checkpoint_gives_the_same_file(checkpoint, exported, tmp_path):
    again = export(str(checkpoint), tmp_path / "again.onnx")
    assert again.read_bytes() == exported.read_bytes()


# --- Files that do not fit


def refusal(file, game=None, **options):
    with pytest.raises(UserError) as refused:
        load_policy(str(file), game, **options)
    return assert_one_sentence(refused.value)


def changed(file, change, **config):
    """Change a model as somebody would who knows of the checksums, and perhaps what it says."""
    model = onnx.load(file, load_external_data=False)
    change(model)
    (described,) = model.metadata_props
    told = json.loads(described.value)
    told |= {"weights": sha256(model.graph.SerializeToString()).hexdigest(), **config}
    told["digest"] = config_digest(told)
    described.value = json.dumps(told)
    file.write_bytes(model.SerializeToString())


def as_it_is(model):
    pass


def initializer(model, size=4):
    """Weights of the first layer, large enough for anything."""
    return next(t for t in model.graph.initializer if len(t.dims) == 2 and t.dims[1] > size)


def keep_weights_elsewhere(model):
    tensor = initializer(model)
    elsewhere = [
        ("location", "weights.bin"),
        ("offset", "0"),
        ("length", str(len(tensor.raw_data))),
    ]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in elsewhere:
        tensor.external_data.add(key=key, value=value)


def keep_a_constant_elsewhere(model):
    tensor = TensorProto(name="c", data_type=1, dims=[1], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="weights.bin")
    model.graph.node.insert(0, helper.make_node("Constant", [], ["c"], value=tensor))


def add_a_branch(model):
    graph = helper.make_graph([], "inner", [], [])
    model.graph.node.append(
        helper.make_node("If", ["mask"], ["x"], then_branch=graph, else_branch=graph)
    )


def add_a_function(model):
    model.functions.append(helper.make_function("own", "f", ["x"], ["x"], [], model.opset_import))


def use_a_foreign_operation(model):
    model.graph.node[1].op_type = "Tile"


def use_a_foreign_domain(model):
    model.graph.node[1].domain = "com.microsoft"


def add_sparse_weights(model):
    model.graph.sparse_initializer.add()


def put_what_is_no_number(model):
    tensor = initializer(model)
    values = numpy_helper.to_array(tensor).copy()
    values[0, 0] = np.nan
    tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))


def put_halves(model):
    tensor = initializer(model)
    values = numpy_helper.to_array(tensor).astype(np.float16)
    tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))


def cut_weights(model):
    initializer(model).raw_data = initializer(model).raw_data[:-8]


def put_numbers_that_overflow(model):
    for tensor in model.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            values = numpy_helper.to_array(tensor)
            tensor.CopyFrom(numpy_helper.from_array(np.full_like(values, 3e38), tensor.name))


def rename_an_input(model):
    for node in model.graph.node:
        node.input[:] = ["given" if name == "mask" else name for name in node.input]
    model.graph.input[1].name = "given"


def leave_out_an_output(model):
    del model.graph.output[1]


def exchange_outputs(model):
    model.graph.node[-1].output[0], model.graph.node[-2].output[0] = "probabilities", "value"


def leave_the_mask_out(model):
    where = next(node for node in model.graph.node if node.op_type == "Where")
    where.op_type = "Add"
    where.input[:] = [where.input[1], where.input[2]]
    del model.graph.input[1]


def forget_a_node(model):
    del model.graph.node[0]


def make_a_large_intermediate(model):
    """Of 1.6 GB in a chunk, from a few hundred kilobytes."""
    more = {"many": np.zeros(32_000, np.int64), "last": np.array([2]), "both": np.array([1, 2])}
    more |= {"row": np.zeros((1, 1, 100), np.float32)}
    model.graph.initializer.extend(numpy_helper.from_array(a, name) for name, a in more.items())
    model.graph.node[-1].output[0] = "small"
    model.graph.node.extend(
        [
            helper.make_node("Gather", ["observation", "many"], ["wide"], axis=1),
            helper.make_node("Unsqueeze", ["wide", "last"], ["deep"]),
            helper.make_node("Mul", ["deep", "row"], ["large"]),
            helper.make_node("ReduceSum", ["large", "both"], ["sum"], keepdims=0),
            helper.make_node("Add", ["small", "sum"], ["value"]),
        ]
    )


def read_other_entries(model):
    """Indices are ints, and so part of the graph."""
    index = next(t for t in model.graph.initializer if t.data_type == TensorProto.INT64)
    values = numpy_helper.to_array(index).copy()
    values.flat[0] = 10**6
    index.CopyFrom(numpy_helper.from_array(values, index.name))


def promise_another_shape(model):
    tensor = initializer(model)
    tensor.dims[:] = [tensor.dims[1], tensor.dims[0]]


def change_an_attribute(model):
    next(node for node in model.graph.node if node.op_type == "Softmax").attribute[0].i = 0


SEALED = [
    keep_weights_elsewhere,
    keep_a_constant_elsewhere,
    add_a_branch,
    add_a_function,
    use_a_foreign_operation,
    use_a_foreign_domain,
    add_sparse_weights,
    put_what_is_no_number,
    put_halves,
    cut_weights,
    put_numbers_that_overflow,
    rename_an_input,
    leave_out_an_output,
    exchange_outputs,
    leave_the_mask_out,
    forget_a_node,
    make_a_large_intermediate,
    read_other_entries,
    promise_another_shape,
    change_an_attribute,
]


@pytest.mark.parametrize("change", SEALED, ids=lambda change: change.__name__)
def test_a_graph_that_is_not_an_exported_network_is_refused(change, file):
    changed(file, as_it_is)
    assert load_policy(file)
    changed(file, change)
    assert file.name in refusal(file)


def test_no_other_file_is_read(file, monkeypatch):
    """Even if it lies where onnxruntime would look for it."""
    monkeypatch.chdir(file.parent)
    (file.parent / "weights.bin").write_bytes(bytes(100_000))
    changed(file, keep_weights_elsewhere)
    assert onnxruntime.InferenceSession(file), "it would be read"
    assert str(file) in refusal(file)


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"format": 2}, "2"),
        ({"version": "\ud800"}, "version"),
        ({"actions": "0" * 64}, "actions"),
        ({"observation": "0" * 64}, "observation"),
        ({"game": "hanabi:2p", "options": {}}, "hanabi:2p"),
        ({"game": "chess"}, "chess"),
        ({"options": {}}, "hanamikoji"),
        ({"network": {"hidden": [32, 16]}}, "observation"),
        ({"network": {"hidden": [32, 16], "features": ["belief"]}}, "belief"),
        ({"network": {}}, "network"),
        ({"weights": "0" * 64}, "graph"),
        ({"more": 1}, "description"),
    ],
)
def test_a_description_of_something_else_is_refused(config, named, file):
    changed(file, as_it_is, **config)
    assert named in refusal(file)


def test_it_is_not_played_in_another_game(exported):
    assert "hanabi:2p" in refusal(exported, "hanabi:2p")
    assert "hanamikoji" in refusal(exported, "hanamikoji")


def test_it_plays_rules_with_the_same_actions_and_observations(exported):
    policy = load_policy(exported, "hanamikoji", **GIFTS, starter=1)
    assert policy.variant.options["starter"] == 1


def test_a_model_of_others_is_refused(file):
    model = onnx.load(file)
    del model.metadata_props[:]
    file.write_bytes(model.SerializeToString())
    assert str(file) in refusal(file)


def test_what_protocol_buffers_would_pass_over_is_refused(file):
    """As if an operation were a number: who looks at the last one only would miss the first."""
    model = onnx.load(file)
    node = model.graph.node[1].SerializeToString()
    model.graph.node[1].ParseFromString(node + bytes([4 << 3, 1]))
    file.write_bytes(model.SerializeToString())
    assert str(file) in refusal(file)


def test_two_files_in_one_are_refused(file):
    file.write_bytes(file.read_bytes() * 2)  # protocol buffers would merge them
    assert str(file) in refusal(file)


def test_a_file_of_countless_fields_is_refused_after_the_first_ones(file, monkeypatch):
    file.write_bytes(bytes([8, 0]) * 10**7)
    read, numbers = protobuf.number_at, []
    monkeypatch.setattr(protobuf, "number_at", lambda *place: numbers.append(place) or read(*place))
    assert str(file) in refusal(file)
    assert len(numbers) < 100


def test_a_large_intermediate_is_refused_before_onnxruntime_starts(file, monkeypatch):
    changed(file, make_a_large_intermediate)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert "hanamachi[onnx]" not in refusal(file)


def test_the_graphs_of_all_agents_follow_from_their_descriptions():
    """Apart from the weights: this is what loading accepts."""
    for id in agents():
        checkpoint, layout = load_policy(id).checkpoint, load_policy(id).features.layout
        shapes = {name: weights.shape for name, weights in checkpoint.weights.items()}
        untrained = checkpoint._replace(weights=zeros(shapes))
        ours = graph_of(tables_of(untrained, layout), layout.size)
        theirs = encoded(graph_of(tables_of(checkpoint, layout), layout.size))
        compare(memoryview(theirs), ours)


@pytest.mark.parametrize("content", [b"", b"x", b"\x80" * 50, b"# text\n" * 9, b"PK\x03\x04" * 9])
def test_what_is_no_onnx_file_is_refused(content, file):
    file.write_bytes(content)
    assert str(file) in refusal(file)
    file.write_bytes(pickle.dumps(content))
    assert str(file) in refusal(file)


def test_a_file_that_is_not_there_or_no_file_is_refused(tmp_path):
    assert "nothing.onnx" in refusal(tmp_path / "nothing.onnx")
    (tmp_path / "folder.onnx").mkdir()
    assert "folder.onnx" in refusal(tmp_path / "folder.onnx")
    (tmp_path / "ring.onnx").symlink_to("ring.onnx")
    assert "ring.onnx" in refusal(tmp_path / "ring.onnx")


def test_a_cut_file_is_refused_wherever_it_is_cut(exported, tmp_path):
    whole, rng, cut = exported.read_bytes(), random.Random(0), tmp_path / "cut.onnx"
    for _ in range(CHANGES):
        cut.write_bytes(whole[: rng.randrange(len(whole))])
        assert str(cut) in refusal(cut)


def test_a_changed_byte_is_refused_or_harmless(exported, tmp_path):
    whole, rng, changed = exported.read_bytes(), random.Random(0), tmp_path / "changed.onnx"
    policy, harmless = load_policy(exported), 0
    seen = many(policy, 20)
    expected = policy.distribution(*seen)
    for _ in range(CHANGES):
        content = bytearray(whole)
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        changed.write_bytes(content)
        with suppress(UserError):
            found = load_policy(changed).distribution(*seen)
            harmless += 1
            np.testing.assert_array_equal(found[0], expected[0])
            np.testing.assert_array_equal(found[1], expected[1])
    assert harmless < 0.1 * CHANGES


def test_a_network_that_fails_at_play_says_so(exported):
    policy = load_policy(exported)
    observations, masks, memory = many(policy, 3)
    rows, _ = policy.features.extend(observations, masks, memory)
    with pytest.raises(UserError, match=r"policy\.onnx"):
        policy.evaluate(np.full_like(rows, np.inf), masks)


# --- What is not installed


def test_without_onnxruntime_the_extra_is_named(exported, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert "hanamachi[onnx]" in refusal(exported)


def test_exporting_needs_no_library_of_onnx(checkpoint, exported, tmp_path, monkeypatch):
    for name in ("onnx", "onnxruntime"):
        monkeypatch.setitem(sys.modules, name, None)
    assert export(str(checkpoint), tmp_path / "it.onnx").read_bytes() == exported.read_bytes()
