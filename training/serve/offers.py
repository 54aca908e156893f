"""What a browser can choose: the games, and for each the policies that may sit there.

A browser sends names from this list. They are looked up here and nowhere else, so that no browser
can name a path, a module or a model.
"""

import os
import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, unknown
from hanamachi.games.registry import VARIANTS, variant
from hanamachi.policies.agents import agent_for, default_policy, names_an_agent, partner_of
from hanamachi.policies.external.bot import START
from hanamachi.policies.external.process import load_process
from hanamachi.policies.load import load_policy
from hanamachi.policies.names import (
    FACTORY_WITH_SETTINGS,
    PROCESS,
    SEARCH,
    knows_its_game,
    search_parts,
)
from hanamachi.policies.rules.registry import NAMES, rule_policies_for
from hanamachi.sessions.notation import head
from hanamachi.training.evaluation.fingerprints import fingerprint

HUMAN = "human"
BUDGETS = 32, 128  # worlds of a search for one move


class Offers:
    """The policies of each variant, by the names that browsers know."""

    def __init__(self, named: Sequence[str] = ()) -> None:
        """`named` are policies of the command line; UserError if one of them plays no game."""
        self.named = frozenset(named)
        self._by_variant = {id: ours(variant(id)) for id in VARIANTS}
        self._versions: dict[str, str] = {}  # what tells policies of the same name apart
        self._made_for: dict[str, Variant] = {}  # of those that know their game
        for number, spec in enumerate(named, 1):
            self._add(spec, number)
        self.listed = [self._game(variant(id)) for id in VARIANTS]  # what browsers get

    def _add(self, spec: str, number: int) -> None:
        known = load_policy(spec) if knows_its_game(spec) else None
        if known:
            names = {known.variant.id: public_name(spec, known.name)}
        else:
            names = {id: name for id in VARIANTS if (name := name_there(spec, id))}
        if not names:
            load_policy(spec, next(iter(VARIANTS)))  # says why
            raise UserError(f"{spec} plays none of the games")
        if spec.startswith(PROCESS):
            check_bot(spec, names)
        version = f"{spec} {fingerprint(spec)}"
        for id, name in names.items():
            if spec not in self._by_variant[id]:
                numbered = f"{name} (policy {number})"
                self._by_variant[id][numbered] = spec
                self._versions[numbered] = version
                if known:
                    self._made_for[numbered] = known.variant

    def policies(self, id: str) -> Mapping[str, str]:
        """Names -> what `load_policy` takes; UserError for an unknown game."""
        if id not in self._by_variant:
            raise unknown("game", id, self._by_variant)
        return self._by_variant[id]

    def spec(self, chosen: Variant, name: str, with_people: bool) -> str:
        """What `load_policy` takes for a name; UserError if it may not sit there."""
        known = self.policies(chosen.id)
        if name not in known:
            raise unknown(f"policy for {chosen.id} called", name, [HUMAN, *known])
        if with_people and name in not_with_people(variant(chosen.id)):
            raise UserError(f"{name} plays by a convention that people cannot follow")
        made_for = self._made_for.get(name)
        if made_for and not made_for.understands(chosen):
            raise UserError(
                f"{name} cannot play with these options; choose those of {head(made_for)}"
            )
        return known[name]

    def versions(self, names: Iterable[str]) -> dict[str, str]:
        """What changes if another policy of the command line comes to have one of these names."""
        return {name: self._versions[name] for name in names if name in self._versions}

    def _game(self, chosen: Variant) -> dict[str, Any]:
        game, defaults = chosen.game, VARIANTS[chosen.id].variants[chosen.id]
        return {
            "id": chosen.id,
            "game": game.name,
            "title": game.title,
            "seats": chosen.seats,
            "cooperative": game.cooperative,
            "options": [
                {"name": name, "default": value, "help": game.options.get(name, "")}
                for name, value in defaults.items()
            ],
            "policies": list(self._by_variant[chosen.id]),
            "not_with_people": not_with_people(chosen),
            "usual": default_policy(chosen),
        }


def ours(chosen: Variant) -> dict[str, str]:
    """The agents that ship, the rule policies, and searches that start from the default policy."""
    default = default_policy(chosen)
    agents = filter(None, [agent_for(chosen), default])
    names = [*agents, *reversed(rule_policies_for(chosen))]
    if chosen.has("redeal"):
        kind = "single_agent" if chosen.game.cooperative else "improve"
        names += [f"search:{kind}:{default}:worlds={worlds}" for worlds in BUDGETS]
    return {name: name for name in names}


def not_with_people(chosen: Variant) -> list[str]:
    """Who plays by a convention that no human can follow: by hats, where there are any."""
    agent = agent_for(chosen)
    learned_hats = agent and partner_of(agent) and "hat" in rule_policies_for(chosen)
    return ["hat", str(agent)] if learned_hats else ["hat"]


def is_quick(spec: str) -> bool:
    """Whether a policy answers in milliseconds: the rule policies and the agents that ship."""
    return spec in NAMES or names_an_agent(spec)


def check_bot(spec: str, ids: Iterable[str]) -> None:
    """UserError unless a bot becomes ready in one of these games; it need not know the others."""
    began = time.monotonic()
    for id in ids:
        bot = load_process(spec, variant(id))
        try:
            return bot.start()
        except UserError as error:
            refusal = error
        finally:
            bot.close()
        if time.monotonic() - began > START:  # it hangs, and may do so in every game
            break
    raise refusal


def name_there(spec: str, id: str) -> str | None:
    """What browsers call the policy in a game, or None if it cannot play it."""
    try:
        return public_name(spec, load_policy(spec, id).name)
    except UserError:
        return None


def public_name(spec: str, loaded_name: str) -> str:
    """The name of a policy without paths or secrets; `loaded_name` is that of the loaded policy.

    Of a file or folder two parts stay, as many checkpoints are called "policy" in their runs.
    """
    if spec.startswith(PROCESS):
        program, *arguments = shlex.split(spec.removeprefix(PROCESS))
        script = [word for word in arguments[:1] if os.path.isfile(word)]  # of an interpreter
        return " ".join(Path(word).name for word in (program, *script))
    if spec.startswith(SEARCH):
        kind, blueprint, settings = search_parts(spec)
        parts = ["search", kind, public_name(blueprint, blueprint), settings]
        return " ".join(filter(None, parts))
    if knows_its_game(spec) and not names_an_agent(spec):
        return "/".join(Path(os.path.abspath(spec)).parts[-2:])
    factory = FACTORY_WITH_SETTINGS.fullmatch(loaded_name)
    return (factory[1] if factory else loaded_name).replace("/", " ").replace(":", " ")
