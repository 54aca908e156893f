"""The model card of a checkpoint, in Hugging Face's form."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from hanamachi.policies.networks.canonical import CANONICAL
from hanamachi.policies.networks.description import digests
from hanamachi.training.config import PAST, SELF, Config
from hanamachi.training.evaluation.learned import Result, TeacherComparison
from hanamachi.training.evaluation.results import Row, Rows, TeamScore
from hanamachi.training.provenance import RESUMED
from hanamachi.training.run_files import CURVE, POLICIES

CARD = """---
{metadata}---

# {title}: a policy {made}

It plays {game} {options}, in {which} seat. `hanamachi train` made it from
{origin} (seed {seed}).

```python
from hanamachi.policies import load_policy

policy = load_policy("{name}")
```

{played}

## How it scores

{table}

{measured}
{exploited}{lesson}
## How it was made

{method}
{curve}
All its settings, with those that have no effect:

```yaml
{settings}```

Made with: {versions}.

A game loads it only if the digests of its actions and of what the network sees are these:

- actions `{actions}`
- observation, with its features `{observation}`

## Limits

{limits}
"""
COMPETITIVE = {
    "which": "either",
    "versus": "against",
    "played": """\
It samples its actions by default.""",
    "measured": """\
Each deal is played twice with the seats exchanged. A draw counts half. The 95% intervals are
clustered by deal.""",
    "learning": """\
Proximal policy optimisation over the legal actions, with advantages signed by who moves next: what
is good for the opponent counts as bad.""",
    "limits": """\
{weakest}An opponent that knows it may win far more often than those in the table.
From one round to the next it remembers only the markers.""",
}
COOPERATIVE = {
    "which": "any",
    "versus": "with",
    "played": """\
Let it play its most probable action (`deterministic=True`), which its partners expect.""",
    "measured": """\
The policy and its partner sit in turn, and every game has new cards; "itself" means that copies of
the policy sit in all seats. A partner "alone" plays the same cards with copies of itself.""",
    "learning": "Proximal policy optimisation over the legal actions.",
    "limits": """\
{weakest}It was measured with the partners above only: with others it may do worse.
It remembers only what it sees in its turn{memory}.""",
}
CLONING = """\
Cloning: it learned by cross-entropy what {0} would do at each decision (DAgger). At first {0}
played these games, later the network."""
BEHAVIOUR_CLONING = """\
Behaviour cloning: it learned by cross-entropy the probabilities in {0}, and from its returns."""
DISTILLATION = """\
Distillation of search: at {share:.1%} of the decisions, a search over the policy itself tried up to
{tried} of its likeliest actions (worlds: {worlds}), and the policy moved towards what earned more,
without moving far at once."""
UNCHANGED = """\
It has the weights of {0}, unchanged: no later checkpoint of the run replaced them."""
OTHER_PLAY = """\
Other-Play: each of its seats saw each game under another symmetry of the rules, such as other
colours, so no convention depends on them."""
ONE_FORM = """\
Its network sees positions that differ only by a symmetry of the rules in one form, and so plays
much alike in them."""
SELVES = {SELF, PAST}
PICTURE = f"""
![Its results during training, by the decisions that it had learned from]({CURVE})

{{chosen}}
"""
FRESH = "These deals had no part in choosing the checkpoint of a run."
CHOOSING = """\
These evaluations chose the checkpoint, so they flatter it. The games of the table above did not."""
ONLY = "This was the only evaluation during training, so there was no checkpoint to choose."
FEATURES = "Besides the observation, its network reads {}."
FEATURE_MEANINGS = {  # what each tells the network
    "advice": "how the rule policy `expert` rates each action",
    "belief": "which cards each hidden card can be",
    "convention": "what clues say about hidden cards by the conventions of `expert`",
    "hat": "what hat guessers conclude from all clues, more than people can work out",
}
HEADINGS = ["| opponent | play | games | wins, per cent | 95% interval |", "|---|---|---|---|---|"]
TEAM_HEADINGS = [
    "| partners | play | games | mean score | 95% interval | perfect | lost |",
    "|---|---|---|---|---|---|---|",
]


def model_card(
    config: Config,
    run: Mapping[str, Any],
    learned: int,
    rows: Rows,
    *,
    name: str | None = None,
    exploited: str = "",
    compared: TeacherComparison | None = None,
    evaluations: int = 0,
) -> str:
    """The card of a run's policy that learned from this many decisions, 0 for a clone.

    `rows` is empty before the final evaluation; later the card shows the learning curve, CURVE.
    `name` loads the policy, if it is one of the package. `exploited` is a paragraph on what the
    strongest attacker wins, if there was one. `compared` says what it learned of its teacher.
    `evaluations` is how many there were during the run.
    """
    words = words_for(config)
    return CARD.format(
        metadata=yaml.safe_dump(metadata(config, learned, rows, name), sort_keys=False),
        title=name or config.game,
        game=config.game,
        made=made(config, learned),
        options=f"with {config.options}" if config.options else "with its default options",
        origin=origin(config, learned),
        method=method(config, learned),
        curve=PICTURE.format(chosen=ONLY if evaluations == 1 else CHOOSING) if rows else "",
        seed=config.seed,
        table=table(rows),
        settings=config.to_yaml(),
        versions=versions(run),
        name=name or "path/to/this/folder",
        **digests(config.variant(), config.network.features),
        exploited=exploited,
        lesson=lesson(compared, rows) if compared else "",
        measured=f"{words['measured']}\n{FRESH}" if rows else "",
        **{part: words[part] for part in ("which", "played")},
        limits=limits(config, rows),
    )


def limits(config: Config, rows: Rows) -> str:
    """What the policy was not measured for, and what it does not remember."""
    memory = " and what its features keep" if config.network.features else ""
    return words_for(config)["limits"].format(memory=memory, weakest=weakest(rows))


def versions(run: Mapping[str, Any]) -> str:
    """What a run was made with, and what of it differed each time that it was resumed."""
    known = {
        what: value for what, value in run.items() if what not in ("decisions", POLICIES, RESUMED)
    }
    words = [together(known), *(f"{RESUMED} {together(each)}" for each in run.get(RESUMED, []))]
    return "; ".join(words)


def together(made_with: Mapping[str, Any]) -> str:
    return ", ".join(f"{what} {value}" for what, value in made_with.items() if value is not None)


def words_for(config: Config) -> Mapping[str, str]:
    return COOPERATIVE if config.variant().game.cooperative else COMPETITIVE


def weakest(rows: Rows) -> str:
    """Its worst result, in its own way of play."""
    if not rows:
        return ""
    if isinstance(rows[0], TeamScore):
        modes = (row for row in rows if row.play == "argmax" and is_own(row, rows))
        team = min(modes, key=lambda row: row.mean)
        score = f"{team.mean:.2f} points, {team.lost:.1%} lost"
        return f"It does worst with {team.other}: {score}.\n"
    worst = min((row for row in rows if row.play == "sample"), key=lambda row: row.rate)
    opponent = f"Of the opponents in the table, `{worst.opponent}` is the hardest for it"
    return f"{opponent}: it wins {worst.rate:.1%} of the games.\n"


def origin(config: Config, learned: int) -> str:
    """What the policy learned from."""
    sources = [f"{learned:,} decisions of {practice(config)}"] * bool(learned)
    if config.teacher:
        labelled = "of" if config.dataset else "labelled by"
        decisions = config.in_rollouts(config.clone.steps)
        sources = [f"{decisions:,} decisions {labelled} {config.teacher}", *sources]
    elif config.init_from:
        sources = [f"the checkpoint {config.init_from}", *sources]
    return " and ".join(sources)


def made(config: Config, learned: int) -> str:
    """How it came about, such as "cloned from expert, then trained by self-play"."""
    if is_unchanged(config, learned):
        return f"with the weights of {config.init_from}, unchanged"
    steps = [f"cloned from {config.teacher}"] * bool(config.teacher)
    search = "distillation of search in " * bool(config.distillation.share)
    steps += [f"trained by {search}{practice(config)}"] * bool(learned)
    return ", then ".join(steps)


def is_unchanged(config: Config, learned: int) -> bool:
    """Whether the checkpoint that the run began with is the one that it kept."""
    return not learned and config.teacher is None


def practice(config: Config) -> str:
    """The games that it learned from: self-play, or games with other policies."""
    others = " and ".join(sorted(config.opponents.keys() - SELVES))
    kinds = ["self-play"] * bool(config.opponents.keys() & SELVES)
    return " and ".join(kinds + [f"games {words_for(config)['versus']} {others}"] * bool(others))


def method(config: Config, learned: int) -> str:
    """How it was trained, step by step."""
    cloning = BEHAVIOUR_CLONING if config.dataset else CLONING
    searched = config.distillation
    ppo = words_for(config)["learning"]
    learning = DISTILLATION.format(**searched.model_dump()) if searched.share else ppo
    steps = [UNCHANGED.format(config.init_from)] * is_unchanged(config, learned)
    steps += [cloning.format(config.teacher)] * bool(config.teacher) + [learning] * bool(learned)
    steps += [OTHER_PLAY] * bool(learned and config.augmentation == "other_play")
    if config.network.features:
        read = (f"`{name}` ({FEATURE_MEANINGS[name]})" for name in config.network.features)
        steps.append(FEATURES.format(" and ".join(read)))
    steps += [ONE_FORM] * (config.network.symmetries == CANONICAL)
    return "\n".join(steps)


def lesson(compared: TeacherComparison, rows: Rows) -> str:
    """What the network learned of its teacher and beyond: a section of the card."""
    teacher, together = compared.teacher, isinstance(rows[0], TeamScore)
    unit = "points with itself" if together else f"of the games against `{teacher}`"
    lines = [
        f"Its most probable action is one that `{teacher}` rates highest in "
        f"{compared.agreement:.1%} of {compared.decisions:,} decisions in games with itself."
    ]
    teams = [row for row in rows if isinstance(row, TeamScore)]
    lines += [gain_over(teacher, teams)] if teams else []
    for name, found in compared.without.items():
        lines.append(f"With the inputs of `{name}` set to 0, it {reaches(found, together)} {unit}.")
    for name, found in compared.untrained.items():
        lines.append(f"A network trained without `{name}` {reaches(found, together)} {unit}.")
    if len(compared.seeds) > 1:
        lines.append(of_each_seed(compared.seeds, together, unit))
    return "\n".join(["", "## What it learned", "", *(f"- {line}" for line in lines), ""])


def gain_over(teacher: str, rows: Sequence[TeamScore]) -> str:
    """How much more than its teacher a policy scores in a cooperative game."""
    alone = {row.policy: row for row in rows if row.policy == row.partners and row.play == "argmax"}
    gain = alone[rows[0].policy].mean - alone[teacher].mean
    more = "more" if gain >= 0 else "less"
    return f"On the same deals it scores {abs(gain):.2f} points {more} than `{teacher}` alone."


def reaches(found: Result, together: bool) -> str:
    """A result in words, without its unit."""
    if together:
        return f"scores {found.mean:.2f} ({found.low:.2f} to {found.high:.2f})"
    return f"wins {found.mean:.1%} ({found.low:.1%} to {found.high:.1%})"


def of_each_seed(seeds: Mapping[int, Result], together: bool, unit: str) -> str:
    """The results of runs that differ in their seeds alone."""
    form = ".2f" if together else ".1%"
    each = ", ".join(f"{result.mean:{form}} (seed {seed})" for seed, result in seeds.items())
    verb = "scored" if together else "won"
    return (
        f"Runs that differ in their seed alone {verb} {each} {unit}. This policy is of the run "
        "with the median, so these games chose between the runs."
    )


def metadata(config: Config, learned: int, rows: Rows, name: str | None) -> dict[str, Any]:
    """What Hugging Face's hub reads."""
    results = [
        {
            "task": {"type": "reinforcement-learning"},
            "dataset": {"name": config.game, "type": f"hanamachi/{config.game}"},
            "metrics": [metric(row) | {"verified": False}],
        }
        for row in rows
        if is_own(row, rows)
    ]
    tags = ["imitation-learning"] * bool(config.teacher)
    tags += ["self-play"] * bool(learned and config.opponents.keys() & SELVES)
    return {
        "library_name": "hanamachi",
        "license": "mit",
        "pipeline_tag": "reinforcement-learning",
        "tags": ["reinforcement-learning", *tags, "card-game", config.game.split(":")[0]],
        "model-index": [{"name": name or config.game, "results": results}],
    }


def metric(row: Row | TeamScore) -> dict[str, Any]:
    if isinstance(row, TeamScore):
        name = f"with {row.other}, {row.play}"
        return {"type": "mean_score", "name": name, "value": row.mean}
    return {"type": "win_rate", "name": f"against {row.opponent}, {row.play}", "value": row.rate}


def table(rows: Rows) -> str:
    if not rows:
        return "Not evaluated yet: the run has not ended."
    headings = TEAM_HEADINGS if isinstance(rows[0], TeamScore) else HEADINGS
    lines = (cells(row, is_own(row, rows)) for row in rows)
    return "\n".join([*headings, *(f"| {' | '.join(line)} |" for line in lines)])


def is_own(row: Row | TeamScore, rows: Rows) -> bool:
    """Whether the card's policy played: its rows come first, then those of partners alone."""
    return row.policy == rows[0].policy


def cells(row: Row | TeamScore, own: bool) -> list[str]:
    """The cells of a row, of the policy's own games or of those that a partner plays alone."""
    if isinstance(row, TeamScore):
        who = row.other if own else f"{row.policy} alone"
        span = f"{row.low:.3f} to {row.high:.3f}"
        shares = [f"{row.perfect:.1%}", f"{row.lost:.1%}"]
        return [who, row.play, f"{row.games:,}", f"{row.mean:.3f}", span, *shares]
    low, rate, high = (f"{100 * share:.1f}" for share in (row.low, row.rate, row.high))
    return [row.opponent, row.play, f"{row.games:,}", rate, f"{low} to {high}"]
