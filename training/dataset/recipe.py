"""The recipe of a dataset: all that its rows depend on."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from math import ceil
from typing import Any

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, shown
from hanamachi.games.registry import variant
from hanamachi.limits import GAMES
from hanamachi.policies.load import load_policy
from hanamachi.policies.names import SEARCH
from hanamachi.policies.networks.description import digests
from hanamachi.policies.policy import Policy
from hanamachi.policies.search.hanabi_single_agent import SingleAgent
from hanamachi.policies.search.improve import Improve
from hanamachi.policies.search.search import Search
from hanamachi.sessions.arguments import whole_number
from hanamachi.training.evaluation.deals import ONE_BY_ONE, TWICE, games_in_memory
from hanamachi.training.evaluation.fingerprints import fingerprints
from hanamachi.training.evaluation.matches import checked_play
from hanamachi.training.evaluation.plan import SEEDS
from hanamachi.training.evaluation.playing import Play

OTHER_DEALS = SEEDS  # added to a seed: no evaluation plays these deals
GAMES_A_FILE, FEW = 2048, 16  # few where somebody slow decides
DERIVED = "games_a_file", "actions", "observation"  # entries that follow from those of a Recipe
SLOW: tuple[Any, ...] = (Search, *(kind for kind, _ in ONE_BY_ONE))


@dataclass(frozen=True)
class Recipe:
    """What is played; `policies` holds one or two names, which take turns at the table."""

    game: str
    options: Mapping[str, Any]
    policies: tuple[str, ...]
    games: int
    seed: int
    play: Play
    judge: str | None = None

    def __reduce__(self) -> Any:
        """In another process the policies are loaded again: not all of them can be sent."""
        return Recipe, tuple(getattr(self, field.name) for field in fields(self))

    def about(self) -> dict[str, Any]:
        """The recipe as JSON, with what it depends on in files and in the code."""
        judges = [self.judge] if self.judge else []
        return {
            **asdict(self),
            "games_a_file": self.games_a_file,
            "files": fingerprints([*self.policies, *judges]),
            **digests(self.variant, ()),
        }

    def checked(self) -> "Recipe":
        """Itself; UserError if it cannot be followed."""
        checked_play(self.play)
        if not 1 <= len(self.policies) <= TWICE:
            raise UserError(f"name one policy or two, not {len(self.policies)}")
        if not 1 <= whole_number(self.games, "games") <= GAMES:
            raise UserError(f"games must be from 1 to {GAMES:,}, not {shown(self.games)}")
        if not 0 <= whole_number(self.seed, "a seed") < SEEDS:
            raise UserError(f"a seed must be from 0 to {SEEDS - 1}, not {shown(self.seed)}")
        return self

    @cached_property
    def variant(self) -> Variant:
        return variant(self.game, **self.options)

    @cached_property
    def players(self) -> tuple[Policy, ...]:
        """The policies that play."""
        return tuple(load_policy(p, self.game, **self.options) for p in self.policies)

    @cached_property
    def search(self) -> Improve | SingleAgent | None:
        """The judge, if there is one; UserError if it cannot judge every action."""
        if self.judge is None:
            return None
        found = load_policy(self.judge, self.game, **self.options)
        if not isinstance(found, Improve | SingleAgent) or found.budget.worlds is None:
            kind = "single_agent" if self.variant.game.cooperative else "improve"
            example = f"{SEARCH}{kind}:expert:worlds=64"
            raise UserError(f"a judge is a search with a number of worlds, such as {example}")
        return found

    @cached_property
    def games_a_file(self) -> int:
        """How many games a file holds; a dataset that is stopped loses those of one file."""
        everybody = [*self.players, *([self.search] if self.search else [])]
        slow = any(isinstance(each, SLOW) for each in everybody)
        return min(FEW if slow else GAMES_A_FILE, games_in_memory(everybody, self.variant))

    @property
    def files(self) -> list[str]:
        """The names of the files of games, in order."""
        return file_names(self.games, self.games_a_file)


def file_count(games: int, games_a_file: int) -> int:
    return ceil(games / games_a_file)


def file_names(games: int, games_a_file: int) -> list[str]:
    """As Hugging Face names the parts of a split."""
    count = file_count(games, games_a_file)
    return [f"train-{i:05}-of-{count:05}.parquet" for i in range(count)]
