"""What language models used in an evaluation: replies, tokens and cost."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hanamachi.policies.view_policy import Counts, total
from hanamachi.training.evaluation.deals import Pairing, Part


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


def counted(played: Iterable[tuple[Pairing, Part]]) -> dict[str, Counts]:
    """What each policy counted in all pairings, by its name."""
    found: dict[str, list[Counts]] = {}
    for pairing, part in played:
        for name, counts in zip(pairing.names, part.counts, strict=True):
            found.setdefault(name, []).append(counts)
    return {name: total(counts) for name, counts in found.items()}


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
