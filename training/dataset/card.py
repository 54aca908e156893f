"""The card of a dataset, in Hugging Face's form."""

from bisect import bisect
from importlib.metadata import version
from itertools import pairwise

import numpy as np
import yaml

from hanamachi.engine.entries import INT8_MAX
from hanamachi.engine.game import Variant
from hanamachi.games.registry import changed_options
from hanamachi.training.dataset.columns import Column, columns, row_size
from hanamachi.training.dataset.figures import Figures
from hanamachi.training.dataset.recipe import Recipe
from hanamachi.training.revision import git_revision

CARD = """---
{metadata}---

# {game}: {games:,} games of {policies}

Every move of {games:,} games of {game}, played by {policies}, made with the Python
package Hanamachi.

```python
from datasets import load_dataset

decisions = load_dataset("parquet", data_files="path/to/this/folder/data/*.parquet", split="train")
```

`hanamachi.training.dataset.load("path/to/this/folder")` reads the same into NumPy arrays and checks
it.

## Columns

One row is one move. Rows are sorted by `game` and `decision`.

| column | dtype | shape | what |
|---|---|---|---|
{columns}

Forced moves are rows, too, so that each game can be replayed: keep the rows with `legal > 1` to
learn from decisions only.

{units}

## How it was made

| | |
|---|---|
{recipe}

{seating}
Cards and choices follow from the seed. No evaluation by this package plays the same deals.

## Figures

| | |
|---|---|
{figures}

## Observations

{observation}

## Actions

There are {actions} actions. This says in words what action 0 is:

```python
import hanamachi

print({made_by}.actions.describe(0))
```

An action or an entry of an observation means the same wherever these digests are the same:

- actions `{actions_digest}`
- observation `{observation_digest}`

## Licence

The games in this folder are under the MIT licence, as the package is. They hold no artwork and no
rules text of the game's publishers.
"""
ONE_POLICY = "The policy plays in all seats."
TWO_POLICIES = """\
The two policies take alternate seats, and exchange them from one game to the next{same}."""
EXACT = "All entries of an observation are whole numbers up to 127, so int8 holds them exactly."
SCALED = """\
An entry of `observation` is the entry that the environments show, times its scale, rounded; divide
by the scale to get it back. The scale is 1, and the number exact, except in these segments:

| segment | entries | scale | what int8 changes |
|---|---|---|---|
{segments}"""
CHANGED = "-dirty"  # a revision that nobody else has
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)  # of Hugging Face
SIZE_NAMES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "n>100M")


def card(recipe: Recipe, figures: Figures) -> str:
    """The text of the card."""
    variant, about = recipe.variant, recipe.about()
    return CARD.format(
        metadata=yaml.safe_dump(metadata(recipe, figures), sort_keys=False),
        game=recipe.game,
        games=recipe.games,
        policies=" and ".join(recipe.policies),
        columns="\n".join(column_row(c, variant) for c in columns(recipe.judge is not None)),
        units=units(variant),
        recipe=two_columns(described(recipe)),
        seating=seating(recipe),
        figures=two_columns(summary(recipe, figures)),
        observation=variant.observation.markdown(),
        actions=variant.actions.size,
        made_by=call(variant),
        actions_digest=about["actions"],
        observation_digest=about["observation"],
    )


def call(variant: Variant) -> str:
    """The call that makes a variant."""
    options = [f"{name}={value!r}" for name, value in changed_options(variant).items()]
    return f"hanamachi.variant({', '.join([repr(variant.id), *options])})"


def metadata(recipe: Recipe, figures: Figures) -> dict[str, object]:
    """What Hugging Face's hub reads."""
    files = [{"split": "train", "path": "data/*.parquet"}]
    return {
        "pretty_name": f"{recipe.game}: games of {' and '.join(recipe.policies)}",
        "license": "mit",
        "task_categories": ["reinforcement-learning"],
        "tags": ["reinforcement-learning", "offline-rl", "card-game", recipe.game.split(":")[0]],
        "size_categories": [SIZE_NAMES[bisect(SIZES, figures.rows)]],
        "configs": [{"config_name": "default", "data_files": files}],
    }


def column_row(column: Column, variant: Variant) -> str:
    shape = f"({row_size(column, variant)},)" if column.entries else "()"
    return f"| `{column.name}` | {np.dtype(column.dtype)} | {shape} | {column.meaning} |"


def units(variant: Variant) -> str:
    """What int8 does to observations."""
    rows = []
    layout = variant.observation
    places = zip(layout.segments, pairwise(layout.offsets), layout.segment_units, strict=True)
    for segment, (begin, end), unit in places:
        where = f"| {segment.name} | {begin} to {end - 1} |"
        if segment.fraction:
            rows.append(f"{where} {unit:g} | rounded to the nearest 1/{unit:g} |")
        elif max(abs(segment.low), abs(segment.high)) > INT8_MAX:
            rows.append(f"{where} {unit:g} | above {INT8_MAX} it is {INT8_MAX} |")
    return SCALED.format(segments="\n".join(rows)) if rows else EXACT


def described(recipe: Recipe) -> dict[str, object]:
    """How the games were played."""
    code, revision = f"hanamachi {version('hanamachi')}", git_revision() or CHANGED
    options = ", ".join(f"{name}={value}" for name, value in recipe.options.items())
    return {
        "game": recipe.game,
        "options": options or "none",
        "policies": ", ".join(f"{i}: `{name}`" for i, name in enumerate(recipe.policies)),
        "choice of actions": recipe.play,
        "judge": f"`{recipe.judge}`" if recipe.judge else "none",
        "seed": recipe.seed,
        "code": code if revision.endswith(CHANGED) else f"{code}, revision {revision}",
    }


def seating(recipe: Recipe) -> str:
    if len(recipe.policies) == 1:
        return ONE_POLICY
    cooperative = recipe.variant.game.cooperative
    return TWO_POLICIES.format(same="" if cooperative else "; both games have the same deal")


def summary(recipe: Recipe, figures: Figures) -> dict[str, object]:
    """The figures in words."""
    means = zip(recipe.policies, figures.means(), strict=True)
    return {
        "games": f"{figures.games:,}",
        "decisions with two legal actions or more": f"{figures.decisions:,}",
        "forced moves": f"{figures.rows - figures.decisions:,}",
        **{
            f"mean return of {name}, as policy {i}": f"{mean:.3f}"
            for i, (name, mean) in enumerate(means)
        },
    }


def two_columns(rows: dict[str, object]) -> str:
    return "\n".join(f"| {name} | {value} |" for name, value in rows.items())
