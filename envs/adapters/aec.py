"""The PettingZoo environment of every game: agents move one at a time.

Notation: S seats, A actions, N entries of an observation.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Self, TypeVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo.utils import AECEnv, wrappers
from pettingzoo.utils.env_logger import EnvLogger

from hanamachi.adapters.boxes import box
from hanamachi.adapters.opponents_and_options import known_options
from hanamachi.adapters.rendered import rendered
from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.errors import IllegalAction, UserError, unknown
from hanamachi.games.registry import variant
from hanamachi.rendering.frames import RENDER_MODES, Frame, checked_render_mode
from hanamachi.sessions.arguments import checked_render_seat
from hanamachi.sessions.saved_games import Record, record_of
from hanamachi.sessions.session import NO_GAME, Session
from hanamachi.sessions.states import State
from hanamachi.sessions.worlds import Worlds, worlds_of

ILLEGAL_REWARD = -1.0

S = TypeVar("S")


def make(
    id: str,
    /,
    *,
    render_mode: str | None = None,
    render_seat: int | None = None,
    **options: Any,
) -> "CheckedAEC":
    """The PettingZoo environment of a variant, such as make("hanamikoji:three_rounds", starter=0).

    `render` shows what the seat `render_seat` sees, by default all cards. An illegal action ends
    the game for all, at -1 for the agent who chose it. Raises UserError for an id, an option, a
    render mode or a seat that does not exist.
    """
    return CheckedAEC(AEC(id, render_mode=render_mode, render_seat=render_seat, **options))


class AEC(AECEnv):
    """A game as PettingZoo plays it, bare: an illegal action raises IllegalAction.

    An observation is {"observation": (N,) float32, "action_mask": (A,) int8}; the mask is all
    zeros for an agent who is not to move. All agents end on the same step. A deep copy or a pickle
    holds the game in progress.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 1,
    }
    agent_selection: str

    def __init__(
        self,
        id: str,
        /,
        *,
        render_mode: str | None = None,
        render_seat: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self._session = Session(variant(id, **options))
        self.metadata = {**AEC.metadata, "name": f"{self.variant.game.name}_v0"}
        self.render_mode = checked_render_mode(render_mode)
        self.render_seat = checked_render_seat(render_seat, self.variant.seats)
        self.possible_agents = [f"player_{seat}" for seat in range(self.variant.seats)]
        self.agents: list[str] = []
        self._nothing = dict.fromkeys(self.possible_agents, 0.0)  # the rewards of most steps
        self.observation_spaces = {agent: self._observed() for agent in self.possible_agents}
        self.action_spaces = {
            agent: spaces.Discrete(self.variant.actions.size) for agent in self.possible_agents
        }
        layout, seats = self.variant.observation, self.variant.seats
        self.state_space = box(np.tile(layout.low, seats), np.tile(layout.high, seats))

    @property
    def variant(self) -> Variant:
        """The rule set that is played."""
        return self._session.variant

    def _observed(self) -> spaces.Dict:
        layout, actions = self.variant.observation, self.variant.actions
        return spaces.Dict(
            {
                "observation": box(layout.low, layout.high),
                "action_mask": spaces.Box(0, 1, (actions.size,), np.int8),
            }
        )

    def observation_space(self, agent: str) -> spaces.Dict:
        return space_of(agent, self.observation_spaces)

    def action_space(self, agent: str) -> spaces.Discrete:
        return space_of(agent, self.action_spaces)

    # --- Play

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a game; without a seed it keeps the generator of the last one.

        `options` may hold "deal", the outcomes that chance must bring first, in order, and
        "state", a position from `get_state` to start from. Raises UserError if they do not fit, or
        for a name that resembles one of theirs; other options are ignored with a warning, as
        PettingZoo's own test gives one.
        """
        self._session.begin(seed, None if options is None else known_options(options))
        self.agents = self.possible_agents[:]
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._cumulative_rewards = self._nothing.copy()
        self._skip_agent_selection = None
        self.terminations = dict.fromkeys(self.agents, False)
        self._update()
        if not any(self.terminations.values()):  # rewards from before a position were paid before
            self.rewards, self._cumulative_rewards = self._nothing.copy(), self._nothing.copy()

    def step(self, action: int | None) -> None:
        """Carry out the action of the agent selected; None once the game is over for it.

        Raises IllegalAction, and leaves the game as it was, if the action is not legal now.
        """
        if not self.agents:
            raise UserError(NO_GAME)
        agent = self.agent_selection
        over = self.terminations[agent] or self.truncations[agent]
        check_none(agent, over, action)
        if over:
            self._was_dead_step(None)
            return
        self._session.step(action)
        self._cumulative_rewards[agent] = 0.0
        self._update()

    def forfeit(self, reward: float) -> None:
        """The game ends here for all, with this reward for the agent selected."""
        culprit = self.agent_selection
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, True)
        self.rewards = self._nothing | {culprit: reward}
        self._cumulative_rewards[culprit] = 0.0
        self._accumulate_rewards()
        self._deads_step_first()
        if self.render_mode == "human":
            self.render()

    def _update(self) -> None:
        """Set the attributes from the game."""
        mover, rewards = self._session.mover, self._session.rewards()
        self.rewards = self._nothing.copy()
        if any(rewards):
            self.rewards.update(zip(self.agents, rewards, strict=True))
            self._accumulate_rewards()
        if mover == OVER:
            self.terminations = dict.fromkeys(self.agents, True)
            mover = 0
        self.agent_selection = self.agents[mover]
        if self.render_mode == "human":
            self.render()

    def last(
        self, observe: bool = True
    ) -> tuple[dict[str, NDArray[Any]] | None, float, bool, bool, dict[str, Any]]:
        """As in PettingZoo, of the agent selected; UserError if no game is in progress."""
        if not self.agents:
            raise UserError(NO_GAME)
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """What this agent knows, in or out of its turn, also once the game is over.

        UserError for a name that no agent has, and before the first game.
        """
        self._session.check_begun()
        observation, mask = self._session.observe(seat_of(agent, self.possible_agents))
        if self.terminations.get(agent, True):
            mask[:] = 0  # also after an illegal action has ended the game
        return {"observation": observation, "action_mask": mask}

    def worlds(self) -> Worlds:
        """What the agent selected may imagine, for policies that search.

        UserError if no game is in progress.
        """
        if forfeited(self):
            raise UserError(NO_GAME)
        return worlds_of(self._session, self._session.mover)

    def state(self) -> NDArray[np.float32]:
        """What all agents know, one after the other, (S * N,): for critics, never for policies.

        UserError before the first game.
        """
        self._session.check_begun()
        seats = np.arange(self.variant.seats)
        out = np.empty((len(seats), self.variant.observation.size), np.float32)
        everyone = np.repeat(self._session.games, len(seats))
        kernels.observations(self.variant.rule_set, everyone, seats, out)
        return out.ravel()

    def render(self, seat: int | None = None) -> Frame:
        """The table: "human" prints it, "ansi" returns text, "rgb_array" an image.

        It is as `seat` sees it, else as `render_seat` does; without either all cards are open.
        UserError for a seat that is not there, and before the first game.
        """
        wanted = self.render_seat if seat is None else seat
        return rendered(self._session, self.render_mode, wanted, forfeited=forfeited(self))

    def _repr_svg_(self) -> str | None:
        """The table for a notebook, open as in `render`."""
        return self._session._repr_svg_()

    def close(self) -> None:
        """Nothing is open."""

    # --- Positions

    def get_state(self) -> State:
        """The whole position, hidden cards and random generator included."""
        return self._session.get_state()

    def set_state(self, state: State) -> None:
        """Continue from what `get_state` returned, here or in a game with the same options.

        Raises UserError, and leaves the game as it was, if it is no position of this game.
        """
        self.reset(options={"state": state})

    def clone(self) -> Self:
        """An independent copy, the game in progress included."""
        return deepcopy(self)

    def record(self) -> Record:
        """The game so far, to be saved and replayed.

        UserError before the first game, and for one that began from a given position.
        """
        return record_of(self._session)


def forfeited(env: AEC) -> bool:
    """Whether an illegal action has ended the game, which its rules would let go on."""
    return env._session.mover != OVER and all(env.terminations.values())


def check_none(agent: str, over: bool, action: Any) -> None:
    """UserError unless the action is None just when the game is over for the agent."""
    if over and action is not None:
        raise UserError(f"the game is over; {agent} can only step with None")
    if not over and action is None:
        raise UserError(f"{agent} is to move and must choose an action; None is for the end")


def seat_of(agent: Any, agents: list[str]) -> int:
    """The seat of an agent; UserError for a name that no agent has."""
    try:
        return agents.index(agent)
    except ValueError:
        raise unknown("agent", agent, agents) from None


def space_of(agent: Any, spaces: Mapping[str, S]) -> S:
    """The space of an agent; UserError for a name that no agent has."""
    try:
        return spaces[agent]
    except (KeyError, TypeError):
        raise unknown("agent", agent, spaces) from None


class CheckedAEC(wrappers.OrderEnforcingWrapper):
    """The checks of PettingZoo's usual wrappers, made by one, with errors of the same types.

    It stands for TerminateIllegalWrapper, AssertOutOfBoundsWrapper and OrderEnforcingWrapper, one
    around the other, and goes by the rules where they go by the mask that was handed out last. Only
    `last` differs: without a game in progress it raises a UserError.
    """

    env: AEC

    def __init__(self, env: AEC) -> None:
        super().__init__(env)
        self._size = env.variant.actions.size

    def __str__(self) -> str:
        return str(self.env)

    def __repr__(self) -> str:
        return str(self)

    def _repr_svg_(self) -> str | None:
        return self.env._repr_svg_()

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        self.env.reset(seed, options)  # first, as it refuses what does not fit
        self._has_reset = self._has_updated = True

    def set_state(self, state: State) -> None:
        """As in AEC."""
        self.reset(options={"state": state})

    def clone(self) -> Self:
        """An independent copy, the game in progress included."""
        return deepcopy(self)

    def render(self, seat: int | None = None) -> Frame:
        return self.env.render(seat) if self._has_reset else super().render()

    def last(self, observe: bool = True) -> Any:
        return self.env.last(observe)

    def step(self, action: Any) -> None:
        """Carry out an action; an illegal one ends the game, with ILLEGAL_REWARD for its agent."""
        if not (self._has_reset and self.env.agents):
            super().step(action)  # it refuses
            return
        self._has_updated = True
        assert self._in_space(action), "action is not in action space"
        try:
            self.env.step(action)
        except IllegalAction:
            EnvLogger.warn_on_illegal_move()
            self.env.forfeit(ILLEGAL_REWARD)

    def _in_space(self, action: Any) -> bool:
        if type(action) in (int, np.int64):
            return bool(0 <= action < self._size)  # what the space itself takes long to find out
        agent = self.env.agent_selection
        if action is None:
            return bool(self.env.terminations[agent] or self.env.truncations[agent])
        return bool(self.env.action_space(agent).contains(action))
