"""The model card of a checkpoint, in Hugging Face's form, and what it takes to make it again."""

import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import yaml
from stable_baselines3.common.utils import get_device

from hanamachi.policies.networks.description import digests
from hanamachi.training.config import Config
from hanamachi.training.evaluation.matches import Row, Rows, TeamScore
from hanamachi.training.provenance import processor

if TYPE_CHECKING:
    from hanamachi.training.best_responses import Exploitation

CARD = """---
{metadata}---

# {game}: a policy from {practice}

It plays {game} {options}, in {which} seat, and was fitted by `hanamachi train` from
{origin} (seed {seed}).

```python
from hanamachi.policies import load_policy

policy = load_policy("{name}")
```

{played}

## How it scores

{table}

{measured}
These deals had no part in choosing the checkpoint.
{exploited}
## How it was made

{method}

```yaml
{settings}```

Made with: {versions}.

It is refused where the actions or what it sees have other digests than these:

- actions `{actions}`
- observation, with its features `{observation}`

## Limits

{limits}
"""
RIVALS = {
    "which": "either",
    "beside": "against",
    "played": """\
Let it sample its actions, as it does unless told otherwise: whoever knows its most probable ones
can answer them.""",
    "measured": """\
Each deal is played twice with the seats exchanged, draws count half, and the 95 % intervals are
clustered by deal.""",
    "limits": """\
{weakest}Whoever adapts to it may find more than the opponents above have found.
It remembers nothing from one round to the next but the markers.""",
}
PARTNERS = {
    "which": "any",
    "beside": "with",
    "played": """\
Let it play its most probable action (`deterministic=True`): its partners count on that.""",
    "measured": """\
The policy and its partners sit in turn, on new cards in every game; itself means that all seats are
played by copies of it. Where others play alone, on the same cards, it has no seat.""",
    "limits": """\
{weakest}It was measured with the partners above only: with others it may do worse.
It remembers nothing but what it sees in its turn{memory}.""",
}
CLONING = """\
Cloning: in games that {0} led at first and the network played later, it learned by cross-entropy
what {0} would have done at each decision (DAgger)."""
LEARNING = """\
Proximal policy optimisation over the legal actions, with advantages signed by who moves next."""
SELVES = {"self", "past"}
FEATURES = "Beside the observation its network gets the features {}."
ADVICE = "`advice` is what the rule policy `expert`, asked at every decision, makes of each action."
HEADINGS = ["| opponent | play | games | rate | 95 % interval |", "|---|---|---|---|---|"]
TEAM_HEADINGS = [
    "| partners | play | games | mean score | 95 % interval | perfect | lost |",
    "|---|---|---|---|---|---|---|",
]


EXPLOITED = """
Who knows it may win more. Of {count} policies that learned to beat it, the best one, from {start}
weights and {steps:,} decisions, wins {rate:.1%} ({low:.1%} to {high:.1%}) of {games:,} games, so a
best response wins at least {low:.1%}.
"""


def model_card(
    config: Config,
    run: Mapping[str, Any],
    learned: int,
    rows: Rows,
    *,
    name: str = "path/to/this/folder",
    exploitation: "Exploitation | None" = None,
) -> str:
    """The card of a run's policy after so many decisions in its games: 0 for a mere clone.

    `rows` may be empty before the final evaluation. `name` is what loads the policy.
    """
    words = PARTNERS if config.variant().game.cooperative else RIVALS
    memory = " and what its features keep" if config.network.features else ""
    return CARD.format(
        metadata=yaml.safe_dump(metadata(config, rows), sort_keys=False),
        game=config.game,
        practice=practice(config),
        options=f"with {config.options}" if config.options else "with its default options",
        origin=origin(config, learned),
        method=method(config, learned),
        seed=config.seed,
        table=table(rows),
        settings=config.to_yaml(),
        versions=", ".join(
            f"{what} {value}"
            for what, value in run.items()
            if what != "decisions" and value is not None
        ),
        name=name,
        played=words["played"],
        **digests(config.variant(), config.network.features),
        exploited=exploited(exploitation) if exploitation else "",
        which=words["which"],
        measured=words["measured"],
        limits=words["limits"].format(memory=memory, weakest=weakest(rows)),
    )


def exploited(exploitation: "Exploitation") -> str:
    """What the best response to it wins."""
    best = exploitation.responses[exploitation.best]
    start = "its own" if best.start == "victim's" else best.start
    return EXPLOITED.format(count=len(exploitation.responses), **asdict(best) | {"start": start})


def weakest(rows: Rows) -> str:
    """What it is worst at of all that was measured, in its own way of play."""
    if not rows:
        return ""
    if isinstance(rows[0], TeamScore):
        modes = (row for row in rows if row.play == "argmax" and owned(row, rows))
        team = min(modes, key=lambda row: row.mean)
        score = f"{team.mean:.2f} points, {team.lost:.1%} lost"
        return f"It does worst with {team.partner_label}: {score}.\n"
    rival = min((row for row in rows if row.play == "sample"), key=lambda row: row.rate)
    return f"It does worst against {rival.opponent}: {rival.rate:.1%} of the games.\n"


def origin(config: Config, learned: int) -> str:
    """What the policy learned from."""
    sources = [f"{learned:,} decisions of {practice(config)}"] * bool(learned)
    if config.teacher:
        sources = [f"{config.clone.steps:,} decisions labelled by {config.teacher}", *sources]
    elif config.init_from:
        sources = [f"the checkpoint {config.init_from}", *sources]
    return " and ".join(sources)


def practice(config: Config) -> str:
    """The games that it learned in: with itself, earlier selves too, or with other policies."""
    others = " and ".join(sorted(config.opponents.keys() - SELVES))
    words = PARTNERS if config.variant().game.cooperative else RIVALS
    kinds = ["self-play"] * bool(config.opponents.keys() & SELVES)
    return " and ".join(kinds + [f"games {words['beside']} {others}"] * bool(others))


def method(config: Config, learned: int) -> str:
    """How it was fitted, step by step."""
    steps = [CLONING.format(config.teacher)] * bool(config.teacher) + [LEARNING] * bool(learned)
    if config.network.features:
        steps.append(FEATURES.format(" and ".join(config.network.features)))
    steps += [ADVICE] * ("advice" in config.network.features)
    return "\n".join(steps)


def metadata(config: Config, rows: Rows) -> dict[str, Any]:
    """What Hugging Face's hub reads."""
    results = [
        {
            "task": {"type": "reinforcement-learning"},
            "dataset": {"name": config.game, "type": f"hanamachi/{config.game}"},
            "metrics": [metric(row) | {"verified": False}],
        }
        for row in rows
        if owned(row, rows)
    ]
    tags = ["self-play"] * bool(config.opponents.keys() & SELVES)
    return {
        "library_name": "hanamachi",
        "license": "mit",
        "pipeline_tag": "reinforcement-learning",
        "tags": ["reinforcement-learning", *tags, "card-game", config.game.split(":")[0]],
        "model-index": [{"name": config.game, "results": results}],
    }


def metric(row: Row | TeamScore) -> dict[str, Any]:
    if isinstance(row, TeamScore):
        name = f"with {row.partner_label}, {row.play}"
        return {"type": "mean_score", "name": name, "value": row.mean}
    return {"type": "win_rate", "name": f"against {row.opponent}, {row.play}", "value": row.rate}


def table(rows: Rows) -> str:
    if not rows:
        return "Not evaluated yet: the run has not ended."
    headings = TEAM_HEADINGS if isinstance(rows[0], TeamScore) else HEADINGS
    lines = (cells(row, owned(row, rows)) for row in rows)
    return "\n".join([*headings, *(f"| {' | '.join(line)} |" for line in lines)])


def owned(row: Row | TeamScore, rows: Rows) -> bool:
    """Whether the policy of the card played; the others' own scores come after its own."""
    return row.policy == rows[0].policy


def cells(row: Row | TeamScore, own: bool) -> list[str]:
    """A line of the table, of the policy's own games or of those that its partners play alone."""
    span = f"{row.low:.3f} to {row.high:.3f}"
    if isinstance(row, TeamScore):
        who = row.partner_label if own else f"{row.policy} alone"
        shares = [f"{row.perfect:.1%}", f"{row.lost:.1%}"]
        return [who, row.play, f"{row.games:,}", f"{row.mean:.3f}", span, *shares]
    return [row.opponent, row.play, f"{row.games:,}", f"{row.rate:.3f}", span]


def provenance(config: Config) -> dict[str, Any]:
    """What it takes to make the run again."""
    packages = ("numpy", "numba", "torch", "stable-baselines3", "sb3-contrib")
    return {
        "hanamachi": version("hanamachi"),
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
        "processor": processor(),
        "device": device(config),
        "threads": torch.get_num_threads(),
        "seed": config.seed,
        "revision": git_revision(),
    }


def device(config: Config) -> str:
    """Where the network learns."""
    chosen = get_device(config.device)
    return torch.cuda.get_device_name(chosen) if chosen.type == "cuda" else chosen.type


def git_revision() -> str | None:
    """The commit that this code is, if it runs from a repository; "-dirty" where it was changed."""
    here = Path(__file__).parent
    try:
        asked = subprocess.run(
            ["git", "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"],
            cwd=here,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return asked.stdout.strip()
