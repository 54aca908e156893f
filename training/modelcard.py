"""The model card of a checkpoint, in Hugging Face's form."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from hanamachi.training.config import Config
from hanamachi.training.evaluation import Row

CARD = """---
{metadata}---

# {game}: a policy from self-play

It plays {game} {options}, in either seat, and was fitted by `hanamachi train` from {steps:,}
decisions of self-play (seed {seed}).

```python
from hanamachi.policies import load_policy

policy = load_policy("path/to/this/folder")
```

## How it scores

{table}

Each deal is played twice with the seats exchanged, draws count half, and the 95 % intervals are
clustered by deal. These deals had no part in choosing the checkpoint.

## How it was made

Proximal policy optimisation over the legal actions, with advantages signed by who moves next.

```yaml
{settings}```

Versions: {versions}.

## Limits

It was measured against the opponents above only: an opponent that adapts to it may find more.
It knows no other rule set, and remembers nothing from one round to the next but the markers.
"""


def model_card(config: Config, run: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """The card of a run's policy; `rows` may be empty before the final evaluation."""
    return CARD.format(
        metadata=yaml.safe_dump(metadata(config, rows), sort_keys=False),
        game=config.game,
        options=f"with {config.options}" if config.options else "by its standard rules",
        steps=config.steps,
        seed=config.seed,
        table=table(rows),
        settings=config.to_yaml(),
        versions=", ".join(f"{name} {value}" for name, value in run.items() if value is not None),
    )


def metadata(config: Config, rows: Sequence[Row]) -> dict[str, Any]:
    """What Hugging Face's hub reads."""
    results = [
        {
            "task": {"type": "reinforcement-learning"},
            "dataset": {"name": config.game, "type": f"hanamachi/{config.game}"},
            "metrics": [
                {
                    "type": "win_rate",
                    "name": f"against {row.opponent}, {row.play}",
                    "value": row.rate,
                    "verified": False,
                }
            ],
        }
        for row in rows
    ]
    return {
        "library_name": "hanamachi",
        "license": "mit",
        "pipeline_tag": "reinforcement-learning",
        "tags": ["reinforcement-learning", "self-play", "card-game", config.game.split(":")[0]],
        "model-index": [{"name": config.game, "results": results}],
    }


def table(rows: Sequence[Row]) -> str:
    if not rows:
        return "Not evaluated yet: the run has not ended."
    lines = ["| opponent | play | games | rate | 95 % interval |", "|---|---|---|---|---|"]
    lines += [
        f"| {r.opponent} | {r.play} | {r.games:,} | {r.rate:.3f} | {r.low:.3f} to {r.high:.3f} |"
        for r in rows
    ]
    return "\n".join(lines)
