"""The OpenSpiel game of every variant: chance is a player, and information states are given.

Importing it registers python_hanamikoji, python_geishas_road and python_hanabi:

    import pyspiel
    import hanamachi.adapters.openspiel
    from open_spiel.python.algorithms.exploitability import nash_conv
    from open_spiel.python.policy import UniformRandomPolicy

    small = "cards=[2 4],actions=[gift],max_rounds=1,starter=0"
    game = pyspiel.load_game(f"python_hanamikoji({small})")
    print(nash_conv(game, UniformRandomPolicy(game)))

With an id and options as everywhere else: `load("hanamikoji", cards=(2, 4), max_rounds=1)`.

Parameters are the variant, the number of players where variants differ in it, and all options. As
OpenSpiel cuts its texts at commas, a list is written [2 3 4]; as a parameter has one type there,
the variant decides where a number is -1 or a word is null, so that starter=-1 is "random". What
not every variant has is -1 or null unless it is given, and true or false is then written yes or no:
"python_geishas_road(variant=geishas_road:advanced,counter_own=no)".

An observation is the engine's. The information-state string is all that a seat has done and seen
since the game began (sessions/moments.py). The tensor holds the observation as it is, and as it was
at the end of up to three earlier rounds: Hanamikoji and Geisha's Road forget nothing within a
round, so this is perfect recall in games of up to four. In Hanabi it is what happened since one's
last turn.

A game without a limit of rounds is broken off as a draw after MOST_ROUNDS, since OpenSpiel asks
for a bound. Algorithms that walk a whole tree many times are fastest on
`pyspiel.convert_to_cached_tree(game)`.
"""

import re
from typing import Any

import numpy as np

from hanamachi.engine import kernels
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.game import Game, Variant
from hanamachi.errors import UserError, missing_extra, unknown
from hanamachi.games.registry import GAMES
from hanamachi.games.registry import variant as make_variant
from hanamachi.games.small import spelled_out
from hanamachi.rendering.parts import render_part
from hanamachi.sessions.arguments import seat_number
from hanamachi.sessions.moments import Memory, Moment, changes
from hanamachi.sessions.session import chance_outcomes

try:
    import pyspiel
except ImportError:
    raise missing_extra("OpenSpiel", "openspiel") from None

MOST_ROUNDS = 1000  # of a game without a limit
ROUNDS_TOLD = 4  # by the tensor of an information state, the current one included

PLAYERS = {CHANCE: pyspiel.PlayerId.CHANCE, OVER: pyspiel.PlayerId.TERMINAL}


def load(id: str, /, **options: Any) -> "SpielGame":
    """The OpenSpiel game of a variant; UserError for an id or an option that does not exist."""
    id, options = spelled_out(id, options)
    game = make_variant(id, **options).game
    unsaid = defaults(game)
    said = {
        name: word_of(value) if isinstance(unsaid[name], str) else value
        for name, value in options.items()
        if value != game.variants[id][name]
    }
    for name, value in said.items():
        if value is None:
            raise UserError(f"OpenSpiel knows no None: choose a variant in which {name} is None")
    loaded: SpielGame = pyspiel.load_game(short_name(game), {"variant": id, **said})
    return loaded


# --- Parameters

MISSING = object()  # stands where a variant has no such option
NUMBER = re.compile(r"-?[0-9]+")
YES_NO = {True: "yes", False: "no"}  # OpenSpiel takes "true" for no word
TRUTHS = {word: value for value, word in YES_NO.items()}


def short_name(game: Game) -> str:
    return f"python_{game.name}"


def spelled(value: Any) -> Any:
    """A value as a parameter holds it: a list as [2 3 4]."""
    return f"[{' '.join(map(str, value))}]" if isinstance(value, list | tuple) else value


def word_of(value: Any) -> Any:
    """A value as a parameter holds it that is a word."""
    return YES_NO[value] if isinstance(value, bool) else spelled(value)


def read(value: Any) -> Any:
    """What a parameter means; a list may have commas where OpenSpiel has let them through."""
    if not isinstance(value, str) or not value.startswith("["):
        return TRUTHS.get(value, value)
    words = value.strip("[]").replace(",", " ").split()
    return tuple(int(word) if NUMBER.fullmatch(word) else word for word in words)


def defaults(game: Game) -> dict[str, Any]:
    """The parameters of a game; their defaults mean that it is as the variant has it."""
    every = [{**options, **game.fixed.get(id, {})} for id, options in game.variants.items()]
    names = dict.fromkeys(name for options in every for name in options)
    values = {name: [options.get(name, MISSING) for options in every] for name in names}
    return {"variant": "null", **{name: default(name, values[name]) for name in names}}


def default(name: str, values: list[Any]) -> Any:
    """The value that all variants have; -1 or null, by the parameter's type, if there is none."""
    number = name == "starter" or any(type(value) is int for value in values)
    shared = spelled(values[0]) if len(set(values)) == 1 else None
    if number:
        return shared if type(shared) is int else -1
    return "null" if shared is None else shared


def chosen(game: Game, said: dict[str, Any]) -> Variant:
    """The rule set that parameters mean; UserError if they do not fit together."""
    options = {name: read(value) for name, value in said.items()}
    fixed = {name: options.pop(name) for name in options.keys() - game.options - {"variant"}}
    ids = [id for id in game.variants if fixed.items() <= game.fixed.get(id, {}).items()]
    words = ", ".join(f"{name}={value}" for name, value in fixed.items())
    id = options.pop("variant", ids[0] if ids else words)
    if id in game.variants and id not in ids:
        raise UserError(f"the variant {id} clashes with {words}: leave out one of the two")
    if id not in ids:
        raise unknown(f"variant of {game.title}", id, ids or game.variants)
    return make_variant(id, **options)


# --- The game


class SpielGame(pyspiel.Game):  # type: ignore[misc]
    """A rule set as OpenSpiel's algorithms want it."""

    def __init__(self, game: Game, kind: pyspiel.GameType, parameters: dict[str, Any]) -> None:
        unsaid = defaults(game)
        given = {name: spelled(value) for name, value in parameters.items()}
        said = {name: value for name, value in given.items() if value != unsaid[name]}
        variant = chosen(game, said)
        length = variant.length
        rounds = length.rounds or MOST_ROUNDS
        super().__init__(kind, facts(variant, rounds * length.decisions), said)
        self.variant = variant
        self.rounds_told = min(rounds, ROUNDS_TOLD)
        self.chances = rounds * length.chances
        games = variant.new(np.zeros(1, np.uint64))
        kernels.start_one(variant.rule_set, games[0])
        nothing = (0.0,) * variant.seats
        self.beginning = Moment(variant, games, rounds * length.decisions, nothing)

    def __reduce__(self) -> tuple[Any, ...]:
        return pyspiel.load_game, (self.get_type().short_name, self.get_parameters())

    def new_initial_state(self) -> "SpielState":
        return SpielState(self)

    def max_chance_nodes_in_history(self) -> int:
        return self.chances

    def make_py_observer(
        self, iig_obs_type: Any = None, params: dict[str, Any] | None = None
    ) -> "Observer | None":
        """What shows all that one seat knows, with or without its memory; None for other kinds."""
        wanted = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        own = wanted.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        if params or not (own and wanted.public_info):
            return None
        return Observer(self, wanted.perfect_recall)


def facts(variant: Variant, longest: int) -> pyspiel.GameInfo:
    """What depends on the options."""
    together = variant.game.cooperative
    return pyspiel.GameInfo(
        num_distinct_actions=variant.actions.size,
        max_chance_outcomes=int(variant.rule_set.max_outcomes),
        num_players=variant.seats,
        min_utility=0.0 if together else -1.0,
        max_utility=float(variant.best_score) if together else 1.0,
        utility_sum=None if together else 0.0,
        max_game_length=longest,
    )


class SpielState(pyspiel.State):  # type: ignore[misc]
    """A moment of a game; OpenSpiel copies the attributes deeply, and this one is its own copy."""

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self.moment = game.beginning

    def current_player(self) -> int:
        return int(PLAYERS.get(self.moment.mover, self.moment.mover))

    def is_terminal(self) -> bool:
        return self.moment.mover == OVER

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The outcomes and their probabilities; none while a seat is to move."""
        if self.moment.mover != CHANCE:
            return []
        return chance_outcomes(self.moment.variant, self.moment.games)

    def _legal_actions(self, player: int) -> list[int]:
        return self.moment.legal()

    def _apply_action(self, action: int) -> None:
        self.moment = self.moment.after(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return f"chance {action}" if player < 0 else self.moment.words(action)

    def returns(self) -> list[float]:
        return list(self.moment.returns)

    def rewards(self) -> list[float]:
        return self.moment.rewards()

    def __str__(self) -> str:
        """The whole table, open."""
        moment = self.moment
        return str(render_part(moment.variant, "text")(moment.variant, moment.games[0]))


class Observer:
    """What one seat knows; `tensor` is flat, `dict` names its parts.

    UserError for a player or a state that is not of this game.
    """

    def __init__(self, game: SpielGame, recall: bool) -> None:
        self.variant, self.recall, self.layout = game.variant, recall, game.variant.observation
        earlier, size = (game.rounds_told - 1) * recall, self.layout.size
        self.tensor = np.zeros((1 + earlier) * size, np.float32)
        self.dict = {"observation": self.tensor[:size]}
        if earlier:
            self.dict["earlier rounds"] = self.tensor[size:].reshape(earlier, size)

    def set_from(self, state: SpielState, player: int) -> None:
        """Write what a player knows."""
        memory = self._memory(state, player)
        self.tensor[:] = 0
        self.dict["observation"][:] = memory.seen
        for row, view in zip(self.dict.get("earlier rounds", ()), memory.rounds, strict=False):
            row[:] = view

    def string_from(self, state: SpielState, player: int) -> str:
        """The same in words; with recall, in the order in which the player came to know it."""
        memory = self._memory(state, player)
        if self.recall:
            return memory.text
        return f"player_{player}{changes(self.layout, np.zeros_like(memory.seen), memory.seen)}"

    def _memory(self, state: SpielState, player: int) -> Memory:
        """What a player knows and remembers."""
        if not self.variant.understands(state.moment.variant):
            raise UserError("the state is of another game: make an observer of its own game")
        return state.moment.memory(seat_number(player, self.variant.seats, "a player must be"))


# --- Registration


def kind_of(game: Game) -> pyspiel.GameType:
    """What holds for all rule sets of a game."""
    kinds, seats = pyspiel.GameType, [make_variant(id).seats for id in game.variants]
    together = game.cooperative
    return kinds(
        short_name=short_name(game),
        long_name=game.title,
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC,
        information=kinds.Information.IMPERFECT_INFORMATION,
        utility=kinds.Utility.IDENTICAL if together else kinds.Utility.ZERO_SUM,
        reward_model=kinds.RewardModel.REWARDS if together else kinds.RewardModel.TERMINAL,
        min_num_players=min(seats),
        max_num_players=max(seats),
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=defaults(game),
    )


def register(game: Game) -> None:
    """Let pyspiel.load_game find a game."""
    kind = kind_of(game)

    class Registered(SpielGame):
        # OpenSpiel lets go of this after Python has ended: a class survives that, a function not
        def __init__(self, parameters: dict[str, Any] | None = None) -> None:
            super().__init__(game, kind, parameters or {})

    pyspiel.register_game(kind, Registered)


for _game in GAMES.values():
    register(_game)
