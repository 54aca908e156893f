"""How policies do in words: the table of docs/load/language-models.md, for a scripted model each.

    python scripts/text_table.py --games 200
    python scripts/text_table.py --games 200 --game hanabi:2p

Each policy gets the prompts of a text game and replies in words. In competitive games it plays
`expert`, every deal twice with the seats exchanged. In Hanabi it plays with itself, and a search
with the policy that it starts from, as it expects.
"""

import argparse

import numpy as np

from hanamachi.adapters.text import ScriptedModel, TextGame
from hanamachi.policies import Policy, load_policy
from hanamachi.training.evaluation.statistics import interval, points_interval

POLICIES = {
    "hanamikoji": ("random", "greedy", "expert", "hanamikoji", "search:improve:hanamikoji"),
    "geishas_road:standard": (
        "random",
        "greedy",
        "expert",
        "geishas_road:standard",
        "search:improve:geishas_road:standard",
    ),
    "hanabi:2p": ("random", "greedy", "expert", "hanabi:2p", "search:single_agent:hanabi:2p"),
}
FOE = "expert"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--game", choices=POLICIES, help="only this one")
    parser.add_argument("--worlds", type=int, default=64, help="of each decision of a search")
    given = parser.parse_args()
    if given.games < 2 or given.games % 2:
        parser.error("--games must be even and above 0: every deal is played twice")
    print("| game | policy | result | characters |", "|---|---|---|---:|", sep="\n")
    for id in [given.game] if given.game else POLICIES:
        for name in POLICIES[id]:
            spec = f"{name}:worlds={given.worlds}" if name.startswith("search:") else name
            policy = load_policy(spec, id)
            partner = getattr(policy, "blueprint", policy)  # of a search
            figure, characters = measured(policy, partner, given.games)
            print(f"| {id} | `{spec}` | {figure} | {characters:,.0f} |", flush=True)


def measured(policy: Policy, partner: Policy, games: int) -> tuple[str, float]:
    """The result in words, and how many characters a seat of the policy is sent in a game."""
    if policy.variant.game.cooperative:
        results = [play([policy, partner], deal) for deal in range(games)]
        points = np.array([returns[0] for returns, _ in results])
        low, high = points_interval(points, policy.variant.best_score)
        figure = f"{points.mean():.2f} points ({low:.2f} to {high:.2f})"
        return figure, float(np.mean([sent[0] for _, sent in results]))
    foe = load_policy(FOE, policy.variant.id)
    scores, characters = [], []
    for deal in range(games // 2):
        for seat, seated in enumerate(([policy, foe], [foe, policy])):
            returns, sent = play(seated, deal)
            scores.append((np.sign(returns[seat]) + 1) / 2)
            characters.append(sent[seat])
    rates = np.array(scores).reshape(-1, 2).mean(1)
    low, high = (100 * end for end in interval(rates))
    figure = f"wins {100 * rates.mean():.1f}% ({low:.1f} to {high:.1f})"
    return figure, float(np.mean(characters))


def play(seated: list[Policy], deal: int) -> tuple[list[float], list[int]]:
    """What each seat earns in a game in words, and how many characters it was sent."""
    game = TextGame(seated[0].variant.id, prompt="deductions")
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
