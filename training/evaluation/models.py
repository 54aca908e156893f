"""What language models used in an evaluation: replies, tokens and cost."""

from collections.abc import Sequence
from dataclasses import dataclass

from hanamachi.policies.view_policy import Counts, total
from hanamachi.training.evaluation.deals import Played


@dataclass(frozen=True)
class ModelUse:
    """What a model used in all games of an evaluation.

    Replies from the cache count too, and so do the games of an evaluation that is continued.
    """

    policy: str
    decisions: int  #: in which it was asked
    replies: int
    illegal: float  #: share of the replies
    characters: float  #: of a prompt, the rules included, on average
    tokens_in: int  #: of all requests, as the server counts them
    tokens_out: int
    cost: float  #: at the prices that were given

    def figures(self) -> dict[str, str]:
        """Everything in words, for tables."""
        return {
            "decisions": f"{self.decisions:,}",
            "replies": f"{self.replies:,}",
            "illegal replies": f"{self.illegal:.1%}",
            "characters of a prompt": f"{self.characters:,.0f}",
            "tokens of prompts": f"{self.tokens_in:,}",
            "tokens of replies": f"{self.tokens_out:,}",
            "cost": f"{self.cost:,.2f}",
        }


def model_rows(models: Sequence[ModelUse]) -> list[list[str]]:
    """A line for each figure: what it is, then of each model how much."""
    figures = [model.figures() for model in models]
    return [[words, *(each[words] for each in figures)] for words in figures[0]]


def model_uses(played: Sequence[Played]) -> list[ModelUse]:
    """What each language model used in all pairings."""
    from hanamachi.policies.external.model import ModelPolicy  # seldom needed, and slow to import

    found: dict[str, list[Counts]] = {}
    for pairing, part in played:
        for player, name, counts in zip(pairing.players, pairing.names, part.counts, strict=True):
            if isinstance(player, ModelPolicy):
                found.setdefault(name, []).append(counts)
    sums = {name: total(counts) for name, counts in found.items()}
    return [model_use(name, its) for name, its in sums.items() if its.get("decisions")]


def model_use(name: str, counts: Counts) -> ModelUse:
    decisions, replies = int(counts["decisions"]), int(counts["replies"])
    return ModelUse(
        name,
        decisions,
        replies,
        illegal=round(counts["illegal"] / replies, 6),
        characters=round(counts["characters"] / decisions, 6),
        tokens_in=int(counts["tokens_in"]),
        tokens_out=int(counts["tokens_out"]),
        cost=round(counts["cost"], 6),
    )
