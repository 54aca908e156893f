"""The rule policies of each game, by name."""

from collections.abc import Mapping
from contextlib import suppress

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, unknown
from hanamachi.policies.entry_point import load_entry_point
from hanamachi.policies.policy import Policy
from hanamachi.policies.user_functions import as_policy

RANDOM = {"random": "hanamachi.policies.rules.rule_policy:RandomPolicy"}
RULE_POLICIES: Mapping[str, Mapping[str, str]] = {  # game -> name -> the entry point of its class
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
    """The names of all rule policies that can play a variant, "random" first."""
    names = []
    for name in classes_for(variant):
        with suppress(UserError):  # some policies need a certain number of players
            rule_policy(name, variant)
            names.append(name)
    return names


def classes_for(variant: Variant) -> Mapping[str, str]:
    """The entry points of the rule policies for a variant's game, by name."""
    return {**RANDOM, **RULE_POLICIES.get(variant.game.name, {})}


def rule_policy(name: str, variant: Variant) -> Policy:
    """The rule policy of this name; UserError if there is none, or it cannot play the variant."""
    policies = classes_for(variant)
    if name not in policies:
        raise unknown(f"policy for {variant.id} called", name, policies)
    return as_policy(load_entry_point(policies[name])(variant), variant)
