"""Load any policy by its name, path or entry point, with `load_policy`."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, shown, unknown
from hanamachi.games.registry import GAMES, VARIANTS, variant
from hanamachi.games.small import spelled_out
from hanamachi.policies.agents import (
    agent_folder,
    agent_for,
    agents,
    ships,
    strongest_rule_policy,
    understands,
    variant_of,
)
from hanamachi.policies.entry_point import load_entry_point, refused_arguments, type_and_message
from hanamachi.policies.external.process import load_process
from hanamachi.policies.names import (
    FACTORY_WITH_SETTINGS,
    MODEL,
    SEARCH,
    Kind,
    checked_name,
    kind_of,
    refuse_file_of_a_module,
    refuse_missing_program,
    refuse_other_than_checkpoint,
    search_parts,
)
from hanamachi.policies.policy import Policy
from hanamachi.policies.rules.registry import NAMES, rule_policy
from hanamachi.policies.user_functions import FunctionPolicy, as_policy
from hanamachi.storage.plain_yaml import parse_settings

Options = Mapping[str, Any]


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
    id, options = spelled_out(game, options)
    kind = kind_of(spec)
    if kind in (Kind.FACTORY, Kind.ONNX, Kind.CHECKPOINT):
        refuse_file_of_a_module(spec)
    if kind is None:
        refuse_missing_program(spec)
        raise names_nothing(spec)
    return LOADERS[kind](spec, id, options)


def names_nothing(spec: str) -> UserError:
    """The error for a name that means no policy, with those that it may stand for."""
    if spec.partition(":")[0] in GAMES:
        return unknown("game or agent", spec, dict.fromkeys([*VARIANTS, *agents()]))
    if spec.isidentifier() and os.path.isfile(f"{spec}.py"):
        return UserError(
            f"{spec} names no policy: for a function of {spec}.py write {spec}:FUNCTION, for a bot "
            f"process:{spec}.py"
        )
    others = ["a checkpoint folder", "FILE.onnx", "search:KIND:POLICY:SETTINGS", "process:COMMAND"]
    others += ["module:factory", "model:NAME?url=URL"]
    return unknown("policy", spec, [*NAMES, *agents(), *others])


def chosen_variant(spec: str, game: str | None, options: Options) -> Variant:
    """The variant for a policy that has none of its own; UserError if no game is named."""
    if game is None:
        raise UserError(f'{spec} needs a game: add --game GAME, or in Python game="hanamikoji"')
    return variant(game, **options)


# --- One loader for each kind of name


def load_rules(name: str, game: str | None, options: Options) -> Policy:
    """The rule policy of this name."""
    return rule_policy(name, chosen_variant(name, game, options))


def load_agent(name: str, game: str | None, options: Options) -> Policy:
    """The agent of this name, for its own variant or to play `game`."""
    from hanamachi.policies.networks.checkpoint import load_checkpoint

    game = game or variant_of(name)
    if not ships(name):
        raise UserError(f"there is no agent {name}; name one of {', '.join(agents())}")
    played = variant(game, **options)
    if not understands(name, played):
        fitting = agent_for(played) or strongest_rule_policy(played)
        asked = f"{game} with these options" if options and game == variant_of(name) else game
        raise UserError(f"the agent {name} cannot play {asked}; name {fitting}, which can")
    policy = load_checkpoint(agent_folder(name), game, **options)
    policy.name = name
    return policy


def load_folder(folder: str, game: str | None, options: Options) -> Policy:
    """The policy of a checkpoint's folder."""
    refuse_missing_program(folder)
    refuse_other_than_checkpoint(folder)
    from hanamachi.policies.networks.checkpoint import load_checkpoint

    return load_checkpoint(folder, game, **options)


def load_file(file: str, game: str | None, options: Options) -> Policy:
    """The policy of an ONNX file."""
    from hanamachi.policies.networks.onnx_policy import load_onnx

    return load_onnx(file, game, **options)


def load_search(spec: str, game: str | None, options: Options) -> Policy:
    """The search that "search:KIND:BLUEPRINT:SETTINGS" names, for its blueprint's variant."""
    from hanamachi.policies.search.search import check_kind, new_search, setting_names

    kind, blueprint, settings = search_parts(spec)
    check_kind(kind)
    if blueprint.startswith(SEARCH):
        raise UserError(f"the blueprint of search:{kind} must not be another search")
    refuse_setting_without_name(blueprint, setting_names(kind))
    policy = load_policy(blueprint, game, **options) if blueprint else None
    variant = chosen_variant(spec, game, options) if policy is None else policy.variant
    return new_search(kind, variant, policy, settings, name=spec)


def refuse_setting_without_name(blueprint: str, names: Sequence[str]) -> None:
    """UserError if the last part of a blueprint's name can only be meant as a search's setting.

    `names` are those of its settings, of which one may lack its value.
    """
    first, _, last = blueprint.rpartition(":")
    factory = last.isidentifier() or FACTORY_WITH_SETTINGS.fullmatch(blueprint)
    no_policy = kind_of(blueprint) == Kind.FACTORY and not factory
    if kind_of(first) and (no_policy or last in names):
        raise UserError(
            f"a search's settings are written NAME=VALUE, as worlds=64, and {shown(last)} is none"
        )


def load_bot(spec: str, game: str | None, options: Options) -> Policy:
    """The bot that "process:COMMAND" names."""
    return load_process(spec, chosen_variant(spec, game, options))


def load_language_model(spec: str, game: str | None, options: Options) -> Policy:
    """The language model that "model:NAME?SETTINGS" names."""
    from hanamachi.policies.external.model import load_model

    return load_model(spec.removeprefix(MODEL), chosen_variant(spec, game, options))


def load_own(spec: str, game: str | None, options: Options) -> Policy:
    """The policy of a factory, which gets the options that the variant does not have."""
    known = VARIANTS[game].variants[game] if isinstance(game, str) and game in VARIANTS else {}
    game_options = {name: value for name, value in options.items() if name in known}
    settings = {name: value for name, value in options.items() if name not in known}
    chosen = chosen_variant(spec, game, game_options)
    parts = FACTORY_WITH_SETTINGS.fullmatch(spec)
    factory = load_entry_point(parts[1] if parts else spec)
    settings = {**(parse_settings(parts[2], spec) if parts else {}), **settings}
    if problem := refused_arguments(factory, chosen, **settings):
        taken = "(variant, **settings)" if settings else "(variant)"
        raise UserError(f"{spec} is called with {taken}: {problem}")
    try:
        made = factory(chosen, **settings)
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        raise UserError(f"{spec} made no policy: {type_and_message(error)}") from error
    try:
        policy = as_policy(made, chosen)
    except UserError as error:
        raise UserError(f"{spec} returned no policy: {error}") from None
    if not policy.variant.understands(chosen):
        raise UserError(
            f"{spec} made a policy for {policy.variant.id} that cannot play the game asked for, "
            f"{chosen.id} with these options: make it for the variant that the factory is given"
        )
    if isinstance(policy, FunctionPolicy):  # whose own name says little: many are called act
        policy.name = spec
    return policy


def refuse_dataset(spec: str, game: str | None, options: Options) -> Policy:
    """UserError: recorded games play nothing."""
    raise UserError(f"{spec} is a dataset, not a policy, but training can clone it with init_from")


LOADERS: Mapping[Kind, Callable[[str, str | None, Options], Policy]] = {
    Kind.SEARCH: load_search,
    Kind.PROCESS: load_bot,
    Kind.MODEL: load_language_model,
    Kind.DATASET: refuse_dataset,
    Kind.RULES: load_rules,
    Kind.AGENT: load_agent,
    Kind.FACTORY: load_own,
    Kind.ONNX: load_file,
    Kind.CHECKPOINT: load_folder,
}
