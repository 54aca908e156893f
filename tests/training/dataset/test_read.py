"""A dataset comes back as it was written; one that does not fit is refused in one sentence."""

import json
from shutil import copytree

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from messages import assert_one_sentence
from small_datasets import JUDGES, SMALL, content, made

from hanamachi.errors import UserError
from hanamachi.training.dataset import load
from hanamachi.training.dataset.read import shipped_ids

FILE = "data/train-00000-of-00001.parquet"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A judged dataset in one file."""
    return made(tmp_path_factory.mktemp("whole"), judge=JUDGES["hanamikoji"])


@pytest.fixture
def copy(whole, tmp_path):
    return copytree(whole, tmp_path / "copy")


# --- Reading


@pytest.mark.parametrize("game", SMALL)
def test_arrays_have_the_shapes_of_the_game(game, tmp_path):
    found = load(made(tmp_path, game, games=2))
    seen, actions, rows = found.variant.observation.size, found.variant.actions.size, len(found)
    assert found.observations.dtype == np.float32
    assert found.observation.shape == found.observations.shape == (rows, seen)
    assert found.mask.shape == found.probabilities.shape == (rows, actions)
    assert found.returns.shape == found.seat.shape == (rows,)
    assert (found.decisions.legal > 1).all()
    assert found.recipe.games == 2


def test_any_reader_of_parquet_reads_it(whole):
    table = pq.read_table(whole / "data")
    found = load(whole)
    assert table["action"].to_pylist() == found.action.tolist()
    assert table["mask"].to_pylist() == found.mask.tolist()
    assert table["return"].to_pylist() == found.returns.tolist()


def test_each_game_has_a_dataset_that_ships():
    assert {id.partition(":")[0] for id in shipped_ids()} == {
        "hanamikoji", "geishas_road", "hanabi",
    }  # fmt: skip
    for id in shipped_ids():
        found = load(id)
        assert found.variant.id == id
        assert len(found.decisions) > 1_000
        assert np.isfinite(found.decisions.values).any(1).all()


# --- Refused


def refused(dataset):
    with pytest.raises(UserError) as error:
        load(dataset)
    return assert_one_sentence(error.value)


@pytest.mark.parametrize("name", ["hanabi:5p", "runs/nowhere", "expert", "a\0b"])
def test_there_is_no_such_dataset(name):
    refused(name)


def test_a_name_that_is_of_a_folder_and_of_the_package_must_say_which(copy, monkeypatch):
    copy.rename(copy.parent / "hanamikoji")
    monkeypatch.chdir(copy.parent)
    assert "./hanamikoji" in refused("hanamikoji")
    assert len(load("./hanamikoji"))
    (copy.parent / "hanamikoji" / "dataset.json").unlink()
    assert len(load("hanamikoji"))


def rewritten(folder, change):
    """The dataset after `change` of the columns, {name: NumPy rows}."""
    table = pq.read_table(folder / FILE)
    columns = {name: np.array(table[name].to_pylist()) for name in table.column_names}
    change(columns)
    arrays = [
        pa.array(rows.tolist(), table.schema.field(name).type) for name, rows in columns.items()
    ]
    pq.write_table(pa.table(dict(zip(columns, arrays, strict=True))), folder / FILE)
    return folder


def put(name, value, place=(3,)):
    def change(columns):
        columns[name][place] = value

    return change


def swap_rows(columns):
    for rows in columns.values():
        rows[[1, 2]] = rows[[2, 1]]


WRONG = {
    "seats": put("seat", 2),
    "policies": put("policy", 1),
    "masks": put("mask", 2, (3, 0)),
    "legal actions": put("legal", 500),
    "action": put("action", -1),
    "observation": put("observation", 100, (3, 0)),
    "probabilities": put("probabilities", np.nan, (3, 0)),
    "distribution": put("probabilities", 0.5, (3, slice(None))),
    "returns": put("return", np.inf),
    "earned": put("earned", np.nan),
    "return of no game": put("return", 1e30),
    "earned in no game": put("earned", -1.5),
    "values": put("values", np.nan, (slice(None), slice(None))),
    "order": swap_rows,
    "numbers": put("game", 7, (slice(None),)),
    "no rows": lambda columns: columns.update({k: v[:0] for k, v in columns.items()}),
    "no column": lambda columns: columns.pop("earned"),
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_rows_that_do_not_fit_the_game_are_refused(change, copy):
    load(rewritten(copy, lambda columns: None))  # which only writes it again
    assert str(copy) in refused(rewritten(copy, change))


def test_a_file_without_its_last_rows_is_refused(copy):
    table = pq.read_table(copy / FILE)
    pq.write_table(table[:-1], copy / FILE)
    assert "fewer rows" in refused(copy)


def test_columns_of_another_type_are_refused(copy):
    table = pq.read_table(copy / FILE)
    for name, kind in (("action", pa.float64()), ("seat", pa.string())):
        place = table.column_names.index(name)
        changed = table.set_column(place, name, table[name].cast(kind))
        pq.write_table(changed, copy / FILE)
        assert name in refused(copy)


@pytest.mark.parametrize("name", ["seat", "mask"])
def test_a_column_with_an_empty_place_or_that_is_there_twice_is_refused(name, copy):
    table = pq.read_table(copy / FILE)
    place, rows = table.column_names.index(name), table[name].to_pylist()
    kind = pa.list_(pa.int8(), len(rows[0])) if name == "mask" else pa.int8()
    empty = pa.array([None, *rows[1:]], kind)
    for changed in (table.set_column(place, name, empty), table.append_column(name, table[name])):
        pq.write_table(changed, copy / FILE)
        assert f"column {name}" in refused(copy)


POOLS = []  # kept, as a thread of pyarrow may give memory back to one when its test is over


def counting(pool):
    """From now on pyarrow takes memory from this pool, and what it takes is counted."""
    POOLS.append(pa.proxy_memory_pool(pool))
    pa.set_memory_pool(POOLS[-1])
    return POOLS[-1]


@pytest.fixture
def pool():
    """Counts what pyarrow takes during a test alone."""
    before = pa.default_memory_pool()
    yield counting(before)
    pa.set_memory_pool(before)


@pytest.mark.parametrize("name", ["unknown", "seat"])
def test_a_small_file_that_unfolds_to_a_large_column_takes_no_memory(name, whole, copy, pool):
    load(whole)
    enough = 2 * pool.max_memory()
    table = pq.read_table(copy / FILE)
    table = table.drop_columns([name]) if name in table.column_names else table
    width = 4 * enough // len(table)
    large = np.zeros(len(table) * width, np.int8)
    column = pa.FixedSizeListArray.from_arrays(large, width)
    pq.write_table(table.append_column(name, column), copy / FILE)
    del column, table
    taken = counting(pool)
    if name == "unknown":
        assert len(load(copy)) == len(load(whole))
    else:
        assert name in refused(copy)
    assert taken.max_memory() < enough < len(large)


@pytest.mark.parametrize(
    "change",
    [
        {"game": "hanabi:2p"},
        {"game": "chess"},
        {"options": {"max_rounds": 0}},
        {"options": {}},
        {"observation": "0"},
        {"games": 9},
        {"games": 10**30},
        {"games": True},
        {"games": 10**8, "games_a_file": 1},
        {"games_a_file": 0},
        {"games_a_file": 1},
        {"policies": "expert"},
        {"judge": None},
    ],
    ids=str,
)
def test_a_description_that_does_not_fit_is_refused(change, copy):
    about = json.loads((copy / "dataset.json").read_text())
    (copy / "dataset.json").write_text(json.dumps(about | change))
    if change == {"judge": None}:  # the values of a judge are one column more
        assert load(copy).values is None
    else:
        refused(copy)


@pytest.mark.parametrize("name", ["judge", "games"])
def test_a_description_without_an_entry_is_refused(name, copy):
    about = json.loads((copy / "dataset.json").read_text())
    del about[name]
    (copy / "dataset.json").write_text(json.dumps(about))
    assert name in refused(copy)


@pytest.mark.parametrize("text", ["", "[]", "{}", "{"])
def test_a_damaged_description_is_refused(text, copy):
    (copy / "dataset.json").write_text(text)
    assert "dataset.json" in refused(copy)


def test_a_dataset_that_is_not_complete_is_refused(copy):
    (copy / FILE).unlink()
    assert "1 of 1" in refused(copy)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(place=st.integers(0, 10**6), value=st.integers(0, 255))
def test_a_damaged_file_is_read_as_it_was_or_refused(place, value, whole, copy):
    damaged = bytearray(content(whole)[FILE])
    damaged[place % len(damaged)] = value
    (copy / FILE).write_bytes(damaged)
    try:
        found = load(copy)
    except UserError:
        return
    assert (found.action == load(whole).action).all()
