"""One spelling for every policy: `load_policy`."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, unknown
from hanamachi.games.registry import GAMES, VARIANTS, variant
from hanamachi.policies.entry_point import load_entry_point
from hanamachi.policies.policy import Policy, as_policy
from hanamachi.policies.rules.registry import NAMES, rule_policy

SEARCH, ONNX = "search:", ".onnx"
PRETRAINED = Path(__file__).parent / "pretrained"  # a checkpoint for each agent that ships
PLAYED_BY = {"hanamikoji:eight_suits": "hanamikoji"}  # variants that another's agent plays as well


def load_policy(spec: str, game: str | None = None, **options: Any) -> Policy:
    """The policy that `spec` names.

    - a variant's id, such as "hanamikoji" or "hanabi:2p": the agent that was trained for it and
      comes with the package;
    - "random", "greedy", "expert" or, for Hanabi, "hat": a rule policy for the variant `game`;
    - the path of a checkpoint folder, which knows its own variant, or of an ONNX file made from
      one by `hanamachi export`, which does as well;
    - "search:KIND:POLICY:SETTINGS": a search that starts from one of these policies, such as
      "search:improve:expert:worlds=64" (see hanamachi.policies.search);
    - "module:factory": a class or function of yours, called as `factory(variant, **own)`, that
      returns a Policy or a function `(observation, mask) -> action`.

    `game` is a variant's id; `options` are the options of that variant, and for a factory any
    others are its own. Raises UserError if anything does not fit.
    """
    spec = os.fspath(spec)
    if spec.startswith(SEARCH):
        return searching(spec, game, options)
    if spec in NAMES:
        return rule_policy(spec, chosen_variant(spec, game, options))
    if spec in VARIANTS:
        return agent(spec, game or spec, options)
    if spec.endswith(ONNX):
        from hanamachi.policies.networks.onnx_policy import load_onnx

        return load_onnx(spec, game, **options)
    if is_checkpoint(spec):
        from hanamachi.policies.networks.checkpoint import load_checkpoint

        return load_checkpoint(spec, game, **options)
    if spec.partition(":")[0] in GAMES:
        raise unknown("game", spec, VARIANTS)
    if ":" in spec:
        return own_policy(spec, game, options)
    others = ["a checkpoint folder", "FILE.onnx", "search:KIND:POLICY:SETTINGS", "module:factory"]
    raise unknown("policy", spec, [*NAMES, *agents(), *others])


def is_checkpoint(spec: str) -> bool:
    """Whether weights are meant: those of a folder, be it there or not, or of an agent.

    An ONNX file only plays, like a rule policy.
    """
    if spec in NAMES or spec.startswith(SEARCH) or spec.endswith(ONNX):
        return False
    return bool(spec in VARIANTS or os.path.exists(spec) or os.sep in spec or "/" in spec)


def agent(id: str, game: str, options: Mapping[str, Any]) -> Policy:
    """The agent that ships for a variant, in a game with the same actions and observations."""
    from hanamachi.policies.networks.checkpoint import load_checkpoint

    folder = agent_folder(PLAYED_BY.get(id, id))
    if not folder.is_dir():
        raise UserError(f"no agent ships for {id}; there is one for each of {', '.join(agents())}")
    policy = load_checkpoint(folder, game, **options)
    policy.name = id
    return policy


def agent_folder(id: str) -> Path:
    return PRETRAINED / id.replace(":", "-")


def agents() -> list[str]:
    """The variants that agents ship for."""
    return [id for id in VARIANTS if agent_folder(id).is_dir()]


def chosen_variant(spec: str, game: str | None, options: Mapping[str, Any]) -> Variant:
    if game is None:
        raise UserError(
            f'{spec} plays any game; say which: load_policy("{spec}", game="hanamikoji")'
        )
    return variant(game, **options)


def searching(spec: str, game: str | None, options: Mapping[str, Any]) -> Policy:
    """The search that "search:KIND:BLUEPRINT:SETTINGS" names, in its blueprint's game if any."""
    from hanamachi.policies.search.search import new_search, split_spec

    kind, blueprint, settings = split_spec(spec)
    policy = load_policy(blueprint, game, **options) if blueprint else None
    variant = policy.variant if policy else chosen_variant(spec, game, options)
    return new_search(kind, variant, policy, settings, name=spec)


def own_policy(spec: str, game: str | None, options: Mapping[str, Any]) -> Policy:
    """A factory gets the options that the game does not know."""
    known = VARIANTS[game].variants[game] if game in VARIANTS else {}
    of_game = {name: value for name, value in options.items() if name in known}
    own = {name: value for name, value in options.items() if name not in known}
    chosen = chosen_variant(spec, game, of_game)
    try:
        made = load_entry_point(spec)(chosen, **own)
    except TypeError as error:
        raise UserError(f"{spec} must take (variant, **options): {error}") from error
    return as_policy(made, chosen)
