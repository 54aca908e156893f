"""A turn-based game of OpenSpiel as a PettingZoo environment, for learners that know those.

    from hanamachi.adapters.openspiel_aec import OpenSpielAEC

    env = OpenSpielAEC("leduc_poker(players=3)")
    env.reset(seed=42)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        mask = observation["action_mask"]
        env.step(None if termination else env.action_space(agent).sample(mask))

Notation: A actions, N entries of the tensor that is observed.
"""

from collections.abc import Mapping
from typing import Any

import gymnasium.logger
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo.utils import AECEnv

from hanamachi.adapters.aec import check_none, seat_of, space_of
from hanamachi.errors import IllegalAction, UserError, missing_extra, shown
from hanamachi.sessions.arguments import checked_mapping, checked_seed, whole_number
from hanamachi.sessions.session import NO_GAME

try:
    import pyspiel
except ImportError:
    raise missing_extra("OpenSpiel", "openspiel") from None


class OpenSpielAEC(AECEnv):
    """A game of OpenSpiel, by its name or loaded, in which agents move one at a time.

    An observation is {"observation": (N,) float32, "action_mask": (A,) int8}: a tensor of the
    agent's, and a mask that is all zeros for an agent who is not to move. The tensor is the
    information-state tensor, which holds all that the agent has seen, or in a game without one the
    observation tensor, which holds what it sees now; `has_perfect_recall` says which. A reward is
    what an agent's return has changed by. All agents end on the same step. Raises UserError for a
    game that cannot be played so.
    """

    agent_selection: str
    has_perfect_recall: bool  #: whether observations are information-state tensors

    def __init__(self, game: "str | pyspiel.Game") -> None:
        super().__init__()
        self.game = checked(loaded(game) if isinstance(game, str) else game)
        self.has_perfect_recall = self.game.get_type().provides_information_state_tensor
        self.metadata = {"name": str(self.game), "render_modes": [], "is_parallelizable": False}
        self.possible_agents = [f"player_{seat}" for seat in range(self.game.num_players())]
        self.agents: list[str] = []
        self.observation_spaces = {agent: self._observed() for agent in self.possible_agents}
        self.action_spaces = {
            agent: spaces.Discrete(self.game.num_distinct_actions())
            for agent in self.possible_agents
        }
        self.np_random = np.random.default_rng()  # chance
        self.position: Any = None  # until the first reset

    def _observed(self) -> spaces.Dict:
        """OpenSpiel declares no bounds of a tensor's entries."""
        size = tensor_size(self.game)
        return spaces.Dict(
            {
                "observation": spaces.Box(-np.inf, np.inf, (size,), np.float32),
                "action_mask": spaces.Box(0, 1, (self.game.num_distinct_actions(),), np.int8),
            }
        )

    def observation_space(self, agent: str) -> spaces.Dict:
        return space_of(agent, self.observation_spaces)

    def action_space(self, agent: str) -> spaces.Discrete:
        return space_of(agent, self.action_spaces)

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a game; without a seed it keeps the generator of the last one.

        Options are ignored with a warning, as a game of OpenSpiel has none.
        """
        for name in checked_mapping(options):
            gymnasium.logger.warn(f"reset ignores the option {shown(name)}: it knows none here")
        if seed is not None:
            self.np_random = np.random.default_rng(checked_seed(seed))
        self.position = self.game.new_initial_state()
        self.agents = self.possible_agents[:]
        self._returns = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._skip_agent_selection = None
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._follow()

    def step(self, action: Any) -> None:
        """Carry out the action of the agent selected; None once the game is over for it.

        Raises IllegalAction, and leaves the game as it was, if the action is not legal now.
        """
        if not self.agents:
            raise UserError(NO_GAME)
        agent = self.agent_selection
        check_none(agent, self.terminations[agent], action)
        if self.terminations[agent]:
            self._was_dead_step(None)
            return
        number, legal = whole_number(action, "an action"), self.position.legal_actions()
        if number not in legal:
            choices = ", ".join(map(str, legal))
            raise IllegalAction(f"{agent} may not take action {number} now; legal are {choices}")
        self.position.apply_action(number)
        self._cumulative_rewards[agent] = 0.0
        self._follow()

    def _follow(self) -> None:
        """Let chance happen, and the attributes say what the game then says."""
        while self.position.is_chance_node():
            outcomes, chances = zip(*self.position.chance_outcomes(), strict=True)
            self.position.apply_action(int(self.np_random.choice(outcomes, p=chances)))
        returns = dict(zip(self.agents, self.position.returns(), strict=True))
        self.rewards = {agent: returns[agent] - self._returns[agent] for agent in self.agents}
        self._returns = returns
        self._accumulate_rewards()
        terminated = self.position.is_terminal()
        self.terminations = dict.fromkeys(self.agents, terminated)
        self.agent_selection = self.agents[0 if terminated else self.position.current_player()]

    def last(self, observe: bool = True) -> Any:
        """As in PettingZoo, of the agent selected; UserError if no game is in progress."""
        if not self.agents:
            raise UserError(NO_GAME)
        return super().last(observe)

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """What this agent knows or sees, in or out of its turn, also once the game is over.

        UserError before the first game, and for an agent that is not there.
        """
        if self.position is None:
            raise UserError(NO_GAME)
        seat, position = seat_of(agent, self.possible_agents), self.position
        mask = np.zeros(self.game.num_distinct_actions(), np.int8)
        if position.current_player() == seat:
            mask[position.legal_actions()] = 1
        if self.has_perfect_recall:
            tensor = position.information_state_tensor(seat)
        else:
            tensor = position.observation_tensor(seat)
        return {"observation": np.array(tensor, np.float32), "action_mask": mask}

    def close(self) -> None:
        """Nothing is open."""


def loaded(name: str) -> "pyspiel.Game":
    """The game of this name, which may end in parameters, such as "leduc_poker(players=3)"."""
    if name.partition("(")[0] not in pyspiel.registered_names():
        raise UserError(f"OpenSpiel has no game {name!r}; pyspiel.registered_names() lists all")
    try:
        return pyspiel.load_game(name)
    except (pyspiel.SpielError, IndexError) as error:
        raise UserError(f"OpenSpiel cannot load {name!r}: {str(error).splitlines()[0]}") from None


def checked(game: "pyspiel.Game") -> "pyspiel.Game":
    """The game, if agents can take turns in it, its chance is explicit and it has a tensor."""
    if not isinstance(game, pyspiel.Game):
        raise UserError(
            f"OpenSpielAEC takes a game of OpenSpiel, loaded or by its name, not {shown(game)}"
        )
    kind = game.get_type()
    name, dynamics = kind.short_name, pyspiel.GameType.Dynamics
    if kind.dynamics == dynamics.SIMULTANEOUS:
        raise UserError(
            f"in {name} players move at once; "
            "pyspiel.convert_to_turn_based(game) lets them take turns"
        )
    if kind.dynamics == dynamics.MEAN_FIELD:
        raise UserError(f"{name} is a mean-field game, in which no players take turns")
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise UserError(f"{name} hides its chance, which no seed can then repeat; choose another")
    tensor_size(game)
    return game


def tensor_size(game: "pyspiel.Game") -> int:
    """The entries of the tensor that is observed; UserError if the game gives none."""
    kind = game.get_type()
    try:
        if kind.provides_information_state_tensor:
            return int(game.information_state_tensor_size())
        if kind.provides_observation_tensor:
            return int(game.observation_tensor_size())
    except pyspiel.SpielError:  # announced, but not there
        pass
    raise UserError(f"{kind.short_name} gives no tensor to observe; choose another game")
