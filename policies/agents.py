"""The agents that come with the package: their names, their folders, and who plays which variant.

An agent is a checkpoint in `pretrained/`, and its name is the id of its variant. Where the
strongest agent of a variant plays well only with its own kind, a second one, whose name ends in
":partner", plays with people.
"""

from pathlib import Path

from hanamachi.engine.game import Variant
from hanamachi.games.registry import VARIANTS, variant
from hanamachi.policies.rules.registry import rule_policies_for

PRETRAINED = Path(__file__).parent / "pretrained"  # a checkpoint for each agent
PLAYED_BY = {"hanamikoji:eight_suits": "hanamikoji"}  # variant -> the variant whose agent plays it
PARTNER = ":partner"


# --- Their names


def agents() -> list[str]:
    """The names of all agents."""
    return [name for id in VARIANTS for name in agents_of(id)]


def agents_of(id: str) -> list[str]:
    """The names of a variant's own agents, the strongest first."""
    names = [] if id in PLAYED_BY else [id, id + PARTNER]
    return [name for name in names if ships(name)]


def names_an_agent(name: str) -> bool:
    """Whether `name` is a variant's id, with or without PARTNER, as the names of agents are."""
    return variant_of(name) in VARIANTS


def variant_of(agent: str) -> str:
    """The id of the variant that an agent of this name plays."""
    return agent.removesuffix(PARTNER)


def partner_of(agent: str) -> str | None:
    """The agent that plays with people where this one does not."""
    partner = agent + PARTNER
    return partner if ships(partner) else None


def ships(agent: str) -> bool:
    """Whether the package has the agent of this name."""
    return agent_folder(agent).is_dir()


def agent_folder(agent: str) -> Path:
    """Where the checkpoint of the agent of this name is, if there is one."""
    return PRETRAINED / PLAYED_BY.get(agent, agent).replace(":", "-")


# --- Who plays a variant


def agent_for(played: Variant) -> str | None:
    """The name of the strongest agent for this variant, if there is one.

    It may be that of another id that stands for the same options, as does
    "hanamikoji:three_rounds" for max_rounds=3.
    """
    others = map(variant, VARIANTS)
    same = [
        each.id for each in others if (each.game, each.options) == (played.game, played.options)
    ]
    names = [played.id, *same]
    return next((name for name in names if ships(name) and understands(name, played)), None)


def understands(agent: str, played: Variant) -> bool:
    """Whether an agent has learned these actions and this observation."""
    return variant(PLAYED_BY.get(agent, variant_of(agent))).understands(played)


def default_policy(played: Variant) -> str:
    """Who plays with people, gives hints and reviews games, if nobody else is asked.

    The agent for the variant, or its partner if it has one, else a rule policy.
    """
    agent = agent_for(played)
    return (partner_of(agent) or agent) if agent else strongest_rule_policy(played)


def strongest_rule_policy(played: Variant) -> str:
    """The strongest rule policy with which people can play, so never `hat`."""
    names = rule_policies_for(played)
    return next(name for name in ("expert", "greedy", "random") if name in names)
