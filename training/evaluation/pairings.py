"""Who meets whom in an evaluation, and what everybody is called there."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, combinations, combinations_with_replacement, count
from pathlib import Path
from types import MethodType
from typing import Any

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, shown
from hanamachi.policies.external.process import ProcessPolicy
from hanamachi.policies.load import load_policy
from hanamachi.policies.policy import Policy
from hanamachi.policies.rules.registry import rule_policies_for
from hanamachi.policies.user_functions import as_policy
from hanamachi.sessions.opponent_protocol import cannot_play
from hanamachi.sessions.policy_checks import memory_of
from hanamachi.training.evaluation.deals import Pairing
from hanamachi.training.evaluation.plan import FEWEST_GAMES
from hanamachi.training.evaluation.playing import Play

Given = str | Path | Policy  # a policy, as a caller names it

ALL = "all"  # among opponents: every rule policy of the game


def each_of(given: Given | Sequence[Given]) -> list[Given]:
    """The policies that are given; one alone needs no list."""
    listed = isinstance(given, Iterable) and not isinstance(given, str)
    policies: list[Any] = list(given) if listed else [given]  # type: ignore[arg-type]
    for policy in policies:
        if not isinstance(policy, Given) and not callable(policy):
            raise UserError(
                f"a policy is a name, a path, a Policy or a function, not {shown(policy)}"
            )
    return policies


def pairings_of(
    policies: Sequence[Given],
    opponents: Sequence[Given],
    variant: Variant,
    plays: Sequence[Play],
) -> list[Pairing]:
    """Every policy against each opponent, or every two if none is given; UserError if none meet."""
    pairings = (
        pairings_against(policies, opponents, variant, plays)
        if opponents
        else pairings_of_all(policies, variant, plays)
    )
    if not pairings:
        raise UserError("name at least one policy, and an opponent other than itself")
    return pairings


def pairings_of_all(
    policies: Sequence[Given], variant: Variant, plays: Sequence[Play]
) -> list[Pairing]:
    """Every two policies; in a cooperative game also each with copies of itself."""
    cooperative = variant.game.cooperative
    if len(policies) < 2 and not cooperative:
        raise UserError(
            "name at least two policies to let them play each other, or --against all (in Python "
            "opponents='all')"
        )
    players = loaded(policies, variant)
    everybody = zip(players, labels(policies, players), strict=True)
    pairs = list((combinations_with_replacement if cooperative else combinations)(everybody, 2))
    return [Pairing((p, q), (a, b), variant, play) for play in plays for (p, a), (q, b) in pairs]


def pairings_against(
    policies: Sequence[Given],
    opponents: Sequence[Given],
    variant: Variant,
    plays: Sequence[Play],
) -> list[Pairing]:
    """Every policy against each opponent; in a cooperative game with itself and each partner."""
    met = [(policy, opponents_of(opponents, policy, variant)) for policy in each_once(policies)]
    everybody = each_once([*policies, *chain.from_iterable(others for _, others in met)])
    players = loaded(everybody, variant)
    named = zip(labels(everybody, players), players, strict=True)
    known = dict(zip(map(identity, everybody), named, strict=True))
    pairings: list[Pairing] = []
    for policy, others in met:
        against = dict(known[identity(other)] for other in others)
        pairings += pairings_of_one(*known[identity(policy)], against, variant, plays)
    return pairings


def pairings_of_one(
    name: str,
    player: Policy,
    others: Mapping[str, Policy],
    variant: Variant,
    plays: Sequence[Play],
) -> list[Pairing]:
    """One policy against each of the others; in a cooperative game with itself first."""
    itself = {name: player} if variant.game.cooperative else {}
    return [
        Pairing((player, opponent), (name, opponent_name), variant, play)
        for opponent_name, opponent in {**itself, **others}.items()
        for play in plays
    ]


def opponents_of(opponents: Sequence[Given], policy: Given, variant: Variant) -> list[Given]:
    """The opponents of a policy, each once; "all" leaves out the policy itself."""
    every = [name for name in rule_policies_for(variant) if name != policy]
    return each_once(chain.from_iterable(every if o == ALL else [o] for o in opponents))


def participants(pairings: Sequence[Pairing], against: bool) -> tuple[list[str], list[str]]:
    """The names of the policies, and of their opponents or partners if these are others."""
    first, second = zip(*(pairing.names for pairing in pairings), strict=True)
    if against:
        met = [pairing.names for pairing in pairings if not is_one_team(pairing)]
        return list(dict.fromkeys(first)), list(dict.fromkeys(other for _, other in met))
    return list(dict.fromkeys(chain(first, second))), []


def is_one_team(pairing: Pairing) -> bool:
    """Whether a policy plays with copies of itself."""
    return pairing.variant.game.cooperative and pairing.names[0] == pairing.names[1]


def loaded(policies: Sequence[Given], variant: Variant) -> list[Policy]:
    """The policies themselves, each able to play this game."""
    players = [
        load_policy(str(p), variant) if isinstance(p, str | Path) else as_policy(p, variant)
        for p in policies
    ]
    for player in players:
        if not player.variant.understands(variant):
            raise cannot_play(player.name, player.variant, variant)
        memory_of(player, FEWEST_GAMES)  # a policy without one would fail at its first decision
    return players


def start_bots(pairings: Sequence[Pairing]) -> None:
    """Start all bots before the first game; UserError if one does not become ready."""
    for player in chain.from_iterable(pairing.players for pairing in pairings):
        if isinstance(player, ProcessPolicy):
            player.start()


def each_once(given: Iterable[Given]) -> list[Given]:
    """The policies in their order, without those that are named or given again."""
    return list({identity(each): each for each in given}.values())


def identity(given: Given) -> str | int | tuple[int, str]:
    """What two policies share only if they are one; an object need not be hashable."""
    if isinstance(given, MethodType):  # each time that it is asked for, it is a new object
        return id(given.__self__), given.__name__
    return str(given) if isinstance(given, str | Path) else id(given)


def labels(given: Sequence[Given], players: Sequence[Policy]) -> list[str]:
    """A name for each policy, also for one that is given twice."""
    names: list[str] = []
    for each, player in zip(given, players, strict=True):
        names.append(unused(name_given(each, player), names))
    return names


def name_given(given: Given, player: Policy) -> str:
    return str(given) if isinstance(given, str | Path) else player.name


def unused(name: str, taken: Collection[str]) -> str:
    """The name, with a number if it is taken."""
    numbered = (f"{name} ({n})" for n in count(2))
    return next(each for each in chain([name], numbered) if each not in taken)
