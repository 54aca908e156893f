"""How policies do in words: the table of docs/load/language-models.md, for a scripted model each.

    python scripts/text_table.py --games 200

Each policy gets the prompts of a text game and replies in words. In Hanamikoji it plays `expert`,
every deal twice with the seats exchanged; in Hanabi it plays with itself.
"""

import argparse

import numpy as np

from hanamachi.adapters.text import ScriptedModel, TextGame
from hanamachi.policies import Policy, load_policy
from hanamachi.training.evaluation.statistics import interval, normal_interval

POLICIES = {
    "hanamikoji": ("random", "greedy", "expert", "hanamikoji", "search:improve:hanamikoji"),
    "hanabi:2p": ("random", "greedy", "expert", "hanabi:2p", "search:single_agent:hanabi:2p"),
}
FOE = "expert"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--worlds", type=int, default=32, help="of each decision of a search")
    given = parser.parse_args()
    print("| game | policy | result | characters of a game |", "|---|---|---|---:|", sep="\n")
    for id, names in POLICIES.items():
        for name in names:
            spec = f"{name}:worlds={given.worlds}" if name.startswith("search:") else name
            figure, characters = measured(load_policy(spec, id), id, given.games)
            print(f"| {id} | `{spec}` | {figure} | {characters:,.0f} |", flush=True)


def measured(policy: Policy, id: str, games: int) -> tuple[str, float]:
    """The result in words, and how many characters the policy was sent in a game on average."""
    if policy.variant.game.cooperative:
        results = [play([policy, policy], id, deal) for deal in range(games)]
        points = np.array([returns[0] for returns, _ in results])
        low, high = normal_interval(points)
        figure = f"{points.mean():.2f} points ({low:.2f} to {high:.2f})"
        return figure, float(np.mean([sum(sent) for _, sent in results]))
    foe = load_policy(FOE, id)
    scores, characters = [], []
    for deal in range(games // 2):
        for seat in range(2):
            returns, sent = play([policy, foe] if seat == 0 else [foe, policy], id, deal)
            scores.append((np.sign(returns[seat]) + 1) / 2)
            characters.append(sent[seat])
    rates = np.array(scores).reshape(-1, 2).mean(1)
    low, high = (100 * end for end in interval(rates))
    figure = f"wins {100 * rates.mean():.1f} % ({low:.1f} to {high:.1f})"
    return figure, float(np.mean(characters))


def play(seated: list[Policy], id: str, deal: int) -> tuple[list[float], list[int]]:
    """What each seat earns in a game in words, and how many characters it was sent."""
    game = TextGame(id, prompt="deductions")
    game.reset(deal)
    models = [ScriptedModel(policy, game, np.random.default_rng(deal)) for policy in seated]
    sent = [0] * len(seated)
    while not game.over:
        seat = game.session.mover
        rules, *_, turn = game.messages(seat)
        sent[seat] += len(rules["content"]) + len(turn["content"])
        game.step(models[seat].reply())
    return game.returns, sent


if __name__ == "__main__":
    main()
