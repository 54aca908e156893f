"""Which rule policies there are for each game, found by name."""

from collections.abc import Mapping
from contextlib import suppress

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, unknown
from hanamachi.policies.entry_point import load_entry_point
from hanamachi.policies.policy import Policy, as_policy

RANDOM = {"random": "hanamachi.policies.policy:RandomPolicy"}
RULE_POLICIES: Mapping[str, Mapping[str, str]] = {  # game -> name -> where its class is
    "hanamikoji": {
        "greedy": "hanamachi.policies.rules.hanamikoji_greedy:Greedy",
        "expert": "hanamachi.policies.rules.hanamikoji_expert:Expert",
    },
    "geishas_road": {
        "greedy": "hanamachi.policies.rules.geishas_road_greedy:Greedy",
        "expert": "hanamachi.policies.rules.geishas_road_expert:Expert",
    },
    "hanabi": {
        "greedy": "hanamachi.policies.rules.hanabi_greedy:Greedy",
        "expert": "hanamachi.policies.rules.hanabi_expert:Expert",
        "hat": "hanamachi.policies.rules.hanabi_hat:Hat",
    },
}
NAMES = sorted({name for policies in (RANDOM, *RULE_POLICIES.values()) for name in policies})


def rule_policies_for(variant: Variant) -> list[str]:
    """The names of all rule policies that play a variant, "random" first."""
    names = []
    for name in classes_for(variant):
        with suppress(UserError):  # not every policy plays with any number of players
            rule_policy(name, variant)
            names.append(name)
    return names


def classes_for(variant: Variant) -> Mapping[str, str]:
    """Where the class of each rule policy for a game is, by its name."""
    return {**RANDOM, **RULE_POLICIES.get(variant.game.name, {})}


def rule_policy(name: str, variant: Variant) -> Policy:
    policies = classes_for(variant)
    if name not in policies:
        raise unknown(f"policy for {variant.id} called", name, policies)
    return as_policy(load_entry_point(policies[name])(variant), variant)
