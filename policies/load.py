"""Load any policy by its name, path or entry point, with `load_policy`."""

import os
import re
from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, shown, unknown
from hanamachi.games.registry import GAMES, VARIANTS, variant
from hanamachi.games.small import spelled_out
from hanamachi.limits import POLICY_NAME
from hanamachi.policies.entry_point import load_entry_point, type_and_message
from hanamachi.policies.external.process import PROCESS, load_process
from hanamachi.policies.policy import FunctionPolicy, Policy, as_policy
from hanamachi.policies.rules.registry import NAMES, rule_policies_for, rule_policy
from hanamachi.storage.plain_yaml import parse_settings
from hanamachi.storage.reading import may_name_a_file

SEARCH, MODEL, ONNX, DATASET = "search:", "model:", ".onnx", "dataset:"
FACTORY_WITH_SETTINGS = re.compile(r"([\w.]+:\w+):(\w+=.*)", re.DOTALL)
FILE_AND_FACTORY = re.compile(r"(.*[/\\])?(\w+)(\.py)?:([^\W\d]\w*)(:\w+=.*)?", re.DOTALL)
PRETRAINED = Path(__file__).parent / "pretrained"  # a checkpoint for each agent that ships
PLAYED_BY = {"hanamikoji:eight_suits": "hanamikoji"}  # variant -> the variant whose agent plays it
PARTNER = ":partner"  # after a variant's id: the agent that plays with people, if it is another one


def load_policy(spec: str, /, game: str | Variant | None = None, **options: Any) -> Policy:
    """The policy that `spec` names.

    - a variant's id, such as "hanamikoji" or "hanabi:2p": the strongest agent for it that comes
      with the package; "hanabi:3p:partner" and the like: the agent that plays with people, where
      the strongest one knows only its own kind;
    - "random", "greedy", "expert" or, for Hanabi, "hat": a rule policy for the variant `game`;
    - the path of a checkpoint folder, or of an ONNX file that `hanamachi export` made from one;
      both name their own variant;
    - "search:KIND:POLICY:SETTINGS": a search that starts from one of these policies, such as
      "search:improve:expert:worlds=64" (see hanamachi.policies.search);
    - "process:COMMAND", such as "process:./mybot": a bot, which is a program of its own in any
      language (see docs/bots.md);
    - "module:factory" or "module:factory:SETTINGS", such as "my_bots:make:depth=3,name=x": your
      own class or function, called as `factory(variant, **settings)`, that returns a Policy or a
      function `(observation, mask) -> action`. Values of settings are YAML;
    - "model:NAME?url=URL": a language model behind a chat endpoint (see
      hanamachi.policies.external.model_settings); it only plays.

    `game` is a variant, its id, or the name of a small version, and `options` are options of that
    variant; a factory gets all other options as further settings. Raises UserError if the policy
    cannot be loaded.
    """
    spec = checked_name(spec)
    if isinstance(game, Variant):
        options = {**game.options, **options}
        game = game.id
    played = spelled_out(game, options)
    game, options = played
    if spec.startswith(SEARCH):
        return load_search(spec, game, options)
    if spec.startswith(PROCESS):
        return load_process(spec, chosen_variant(spec, game, options))
    if spec.startswith(MODEL):
        from hanamachi.policies.external.model import load_model

        return load_model(spec.removeprefix(MODEL), chosen_variant(spec, game, options))
    if spec in NAMES:
        return rule_policy(spec, chosen_variant(spec, game, options))
    if names_an_agent(spec):
        return load_agent(spec, game or variant_of(spec), options)
    refuse_file_of_a_module(spec)
    if has_settings(spec):
        return load_own(spec, game, options)
    if spec.endswith(ONNX):
        from hanamachi.policies.networks.onnx_policy import load_onnx

        return load_onnx(spec, game, **options)
    if is_checkpoint(spec):
        refuse_file(spec)
        from hanamachi.policies.networks.checkpoint import load_checkpoint

        return load_checkpoint(spec, game, **options)
    if spec.partition(":")[0] in GAMES:
        raise unknown("game or agent", spec, dict.fromkeys([*VARIANTS, *agents()]))
    if ":" in spec:
        return load_own(spec, game, options)
    others = ["a checkpoint folder", "FILE.onnx", "search:KIND:POLICY:SETTINGS", "process:COMMAND"]
    others += ["module:factory", "model:NAME?url=URL"]
    raise unknown("policy", spec, [*NAMES, *agents(), *others])


def checked_name(spec: Any) -> str:
    """The name of a policy; UserError if no file and no module could have it."""
    spec = os.fspath(spec) if isinstance(spec, os.PathLike) else spec
    if not isinstance(spec, str):
        raise UserError(f"a policy's name must be a text or a path, not {shown(spec)}")
    if len(spec) > POLICY_NAME:
        raise UserError(f"a policy's name has at most {POLICY_NAME} characters, not {len(spec)}")
    if not may_name_a_file(spec):
        raise UserError(f"{spec} has characters that no policy's name can have")
    return spec


def refuse_file_of_a_module(spec: str) -> None:
    """UserError, which says how to name it, if `spec` names a factory by the file of its module."""
    found = FILE_AND_FACTORY.fullmatch(spec)
    if found and (found[1] or found[3]) and not os.path.exists(spec):
        raise UserError(
            f"{spec} is no checkpoint; your own policy is named module:factory, without a folder "
            f"and without .py: go to the folder of the file, and name {found[2]}:{found[4]}"
        )


def refuse_file(spec: str) -> None:
    """UserError, which says how to name it, if `spec` is a file in the place of a checkpoint."""
    if os.path.isfile(spec):
        module = Path(spec).stem if spec.endswith(".py") else "MODULE"
        raise UserError(
            f"{spec} is a file, not the folder of a checkpoint: for a function write "
            f'{module}:NAME, for a bot "process:{spec}"'
        )


def is_checkpoint(spec: str) -> bool:
    """Whether `spec` names weights: an agent's, or those of a folder, which need not exist.

    An ONNX file is not a checkpoint: it plays but cannot be trained further or exported.
    """
    if spec in NAMES or spec.startswith((SEARCH, PROCESS, MODEL, DATASET)):
        return False
    if spec.endswith(ONNX) or has_settings(spec):
        return False
    return names_an_agent(spec) or os.path.exists(spec) or os.sep in spec or "/" in spec


def is_bare_folder(spec: str) -> bool:
    """Whether `spec` is a checkpoint's folder only because the current folder has one so named."""
    return is_checkpoint(spec) and not (names_an_agent(spec) or os.sep in spec or "/" in spec)


def has_settings(spec: str) -> bool:
    """Whether `spec` is "module:factory:SETTINGS", whose values may look like paths."""
    of_a_game = spec.partition(":")[0] in GAMES
    return bool(FACTORY_WITH_SETTINGS.fullmatch(spec)) and not of_a_game


def knows_its_game(spec: str) -> bool:
    """Whether a policy plays the variant that it was made for, so that no game need be named."""
    if spec.startswith(SEARCH):
        from hanamachi.policies.search.search import split_spec

        return knows_its_game(split_spec(spec)[1])
    if spec.startswith((PROCESS, MODEL)):
        return False
    return is_checkpoint(spec) or (spec.endswith(ONNX) and not has_settings(spec))


def load_agent(name: str, game: str, options: Mapping[str, Any]) -> Policy:
    """The agent of this name, to play `game`."""
    from hanamachi.policies.networks.checkpoint import load_checkpoint

    if not ships(name):
        raise UserError(f"there is no agent {name}; name one of {', '.join(agents())}")
    played = variant(game, **options)
    if not understands(name, played):
        fitting = agent_for(played) or rule_policy_for(played)
        asked = f"{game} with these options" if options and game == variant_of(name) else game
        raise UserError(f"the agent {name} cannot play {asked}; name {fitting}, which can")
    policy = load_checkpoint(agent_folder(name), game, **options)
    policy.name = name
    return policy


def agent_for(played: Variant) -> str | None:
    """The name of the strongest agent that ships for this variant, if there is one.

    It may be that of another id that stands for the same options, as does
    "hanamikoji:three_rounds" for max_rounds=3.
    """
    others = map(variant, VARIANTS)
    same = [
        each.id for each in others if (each.game, each.options) == (played.game, played.options)
    ]
    names = [played.id, *same]
    return next((name for name in names if ships(name) and understands(name, played)), None)


def usual(played: Variant) -> str:
    """Who plays with people, gives hints and reviews games, if nobody else is asked.

    The package's agent for the variant, or its partner if it has one, else a rule policy.
    """
    agent = agent_for(played)
    return (partner_of(agent) or agent) if agent else rule_policy_for(played)


def rule_policy_for(played: Variant) -> str:
    """The strongest rule policy that any game may have and with which people can play."""
    names = rule_policies_for(played)
    return next(name for name in ("expert", "greedy", "random") if name in names)


def partner_of(agent: str) -> str | None:
    """The agent that plays with people where this one does not."""
    partner = agent + PARTNER
    return partner if ships(partner) else None


def understands(agent: str, played: Variant) -> bool:
    """Whether an agent has learned these actions and this observation."""
    return variant(PLAYED_BY.get(agent, variant_of(agent))).understands(played)


def names_an_agent(spec: str) -> bool:
    """Whether `spec` is a variant's id, with or without PARTNER, as the names of agents are."""
    return variant_of(spec) in VARIANTS


def variant_of(agent: str) -> str:
    """The id of the variant that an agent of this name plays."""
    return agent.removesuffix(PARTNER)


def ships(agent: str) -> bool:
    """Whether the package has the agent of this name."""
    return agent_folder(agent).is_dir()


def agent_folder(agent: str) -> Path:
    """Where the checkpoint of the agent of this name is, if there is one."""
    return PRETRAINED / PLAYED_BY.get(agent, agent).replace(":", "-")


def agents_of(id: str) -> list[str]:
    """The names of a variant's own agents, the strongest first."""
    names = [] if id in PLAYED_BY else [id, id + PARTNER]
    return [name for name in names if ships(name)]


def agents() -> list[str]:
    """The names of all agents that ship."""
    return [name for id in VARIANTS for name in agents_of(id)]


def chosen_variant(spec: str, game: str | None, options: Mapping[str, Any]) -> Variant:
    """The variant for a policy that has none of its own; UserError if no game is named."""
    if game is None:
        raise UserError(f'{spec} needs a game: add --game GAME, or in Python game="hanamikoji"')
    return variant(game, **options)


def load_search(spec: str, game: str | None, options: Mapping[str, Any]) -> Policy:
    """The search that "search:KIND:BLUEPRINT:SETTINGS" names, for its blueprint's variant."""
    from hanamachi.policies.search.search import new_search, split_spec

    kind, blueprint, settings = split_spec(spec)
    if blueprint.startswith(SEARCH):
        raise UserError(f"the blueprint of search:{kind} must not be another search")
    policy = load_policy(blueprint, game, **options) if blueprint else None
    variant = chosen_variant(spec, game, options) if policy is None else policy.variant
    return new_search(kind, variant, policy, settings, name=spec)


def load_own(spec: str, game: str | None, options: Mapping[str, Any]) -> Policy:
    """The policy of a factory, which gets the options that the variant does not have."""
    known = VARIANTS[game].variants[game] if isinstance(game, str) and game in VARIANTS else {}
    game_options = {name: value for name, value in options.items() if name in known}
    settings = {name: value for name, value in options.items() if name not in known}
    chosen = chosen_variant(spec, game, game_options)
    parts = FACTORY_WITH_SETTINGS.fullmatch(spec)
    factory = load_entry_point(parts[1] if parts else spec)
    settings = {**(parse_settings(parts[2], spec) if parts else {}), **settings}
    check_arguments(spec, factory, chosen, settings)
    try:
        made = factory(chosen, **settings)
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        raise UserError(f"{spec} made no policy: {type_and_message(error)}") from error
    policy = as_policy(made, chosen)
    if not policy.variant.understands(chosen):
        raise UserError(
            f"{spec} made a policy for {policy.variant.id} that cannot play the game asked for, "
            f"{chosen.id} with these options: make it for the variant that the factory is given"
        )
    if isinstance(policy, FunctionPolicy):  # whose own name says little: many are called act
        policy.name = spec
    return policy


def check_arguments(spec: str, factory: Any, variant: Variant, settings: Mapping[str, Any]) -> None:
    """UserError unless the factory takes a variant and these settings."""
    try:
        signature(factory).bind(variant, **settings)
    except TypeError as error:
        raise UserError(f"{spec} must take (variant, **settings): {error}") from error
    except ValueError:  # what is written in C may have no signature
        return
