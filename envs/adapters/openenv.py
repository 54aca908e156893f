"""The games as OpenEnv environments: one seat in words, behind a server of OpenEnv.

import uvicorn
from hanamachi.adapters.openenv import application

uvicorn.run(application("hanamikoji", opponent="expert"), port=8000)

# a client, which needs OpenEnv alone
with GenericEnvClient(base_url="http://127.0.0.1:8000").sync() as env:
    result = env.reset(seed=0)
    while not result.done:
        result = env.step({"reply": ask_your_model(result.observation["messages"])})
"""

from functools import partial
from typing import Any

from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app

from hanamachi.adapters.gymnasium_text import TextEnv

SESSIONS = 64  # at once, each with a game of its own


class Reply(Action):
    """What the model writes; the action may stand anywhere in it."""

    reply: str


class Prompt(Observation):
    """What the seat reads next."""

    prompt: str
    messages: list[dict[str, str]]  #: all that it was told and has replied
    seat: int
    illegal: str | None  #: what was wrong with the last reply


class TextEnvironment(Environment[Reply, Prompt, State]):
    """One seat of a game in words, as TextEnv plays it; rewards are those of the seat."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, game: str, **settings: Any) -> None:
        """`settings` are those of TextEnv."""
        super().__init__()
        self.env = TextEnv(game, **settings)
        self._state = State()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **others: Any
    ) -> Prompt:
        """Begin a game; the same seed and replies give the same game.

        Other options are ignored with a warning, but a deal, a state or a misspelt name is refused.
        """
        prompt, info = self.env.reset(seed=seed, options=others)
        self._state = State(episode_id=episode_id, step_count=0)
        return Prompt(prompt=prompt, **info)

    def step(self, action: Reply, timeout_s: float | None = None, **others: Any) -> Prompt:
        """The seat's reply, and all that happens up to its next prompt or the end."""
        prompt, reward, over, _, info = self.env.step(action.reply)
        self._state.step_count += 1
        return Prompt(prompt=prompt, reward=reward, done=over, **info)

    def close(self) -> None:
        """End the processes of an opponent, such as a bot; the server calls it with the session."""
        self.env.close()

    @property
    def state(self) -> State:
        """The episode's id, and how many replies it had."""
        return self._state


def application(game: str, **settings: Any) -> Any:
    """A server's application (FastAPI), with a game of its own for each session."""
    made = partial(TextEnvironment, game, **settings)
    return create_fastapi_app(made, Reply, Prompt, max_concurrent_envs=SESSIONS)
