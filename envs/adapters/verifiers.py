"""The games in verifiers, from version 0.4: one seat in words, policies in all others.

from hanamachi.adapters.verifiers import load_environment

env = load_environment("hanamikoji", opponent="expert")

Programs of verifiers know it as "hanamachi-words":

    vf-eval hanamachi-words --env.taskset.game hanamikoji -m MODEL -n 20
"""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from typing import Any, Literal

import verifiers.v1 as vf
from openai import AsyncOpenAI, OpenAIError
from pydantic import Field

from hanamachi.adapters.aec import ILLEGAL_REWARD
from hanamachi.adapters.gymnasium_text import TextEnv
from hanamachi.errors import UserError
from hanamachi.sessions.arguments import checked_mapping

ID = "hanamachi-words"  # names the package hanamachi_words, which verifiers imports


class WordsConfig(vf.TasksetConfig):
    """Which game is played, and how; the settings are those of TextEnv."""

    game: str = "hanamikoji"
    options: dict[str, Any] = Field(default_factory=dict)  #: of the game
    seat: int | Literal["random"] = "random"
    opponent: str = "random"
    prompt: str = "bare"
    illegal: str = "retry:2"
    legal_list: bool = True


class WordsData(vf.TaskData):
    """A deal. Its prompts are made while it is played, as they depend on the other players."""

    seed: int


class WordsTask(vf.Task[WordsData]):
    """A game to play."""


class WordsTaskset(vf.Taskset[WordsTask, WordsConfig]):
    """The deals 0, 1, 2 and so on, without an end."""

    INFINITE = True

    def __init__(self, config: WordsConfig) -> None:
        """UserError if the game cannot be played so."""
        super().__init__(config)
        self.new_game().close()

    def load(self) -> Iterator[WordsTask]:
        for seed in count():
            data = WordsData(name=f"{self.config.game}#{seed}", seed=seed)
            yield WordsTask(data, self.config.task)

    def new_game(self) -> TextEnv:
        config = self.config
        names = ("seat", "opponent", "prompt", "illegal", "legal_list")
        settings = {name: getattr(config, name) for name in names}
        return TextEnv(config.game, **settings, **config.options)


class WordsHarness(vf.Harness[vf.HarnessConfig]):
    """Asks the model from this process: a game in words needs no program and no sandbox."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Send the conversation so far; verifiers reads the reply on its way."""
        rules, said = self.resolve_prompt(data)
        talk: Any = [{"role": "system", "content": rules}]
        talk += [{"role": each.role, "content": each.content} for each in said]
        try:
            async with AsyncOpenAI(base_url=endpoint, api_key=secret) as client:
                await client.chat.completions.create(model=ctx.model, messages=talk)
        except OpenAIError as error:  # also how verifiers refuses a turn beyond its limits
            return vf.ProgramResult(1, "", str(error))
        return vf.ProgramResult(0, "", "")


class WordsEnvConfig(vf.EnvConfig):
    """The model in its seat; it runs no code, so that it needs no sandbox."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class WordsEnv(vf.Env[WordsEnvConfig]):
    """Plays a deal; the reward "result" is what the game brings the model's seat.

    A game that the model breaks off, as at a limit of turns or tokens, is forfeited.
    """

    async def run(self, task: WordsTask, agents: vf.Agents) -> None:
        with closing(self.taskset.new_game()) as game:
            _, info = await asyncio.to_thread(game.reset, seed=task.data.seed)
            rules, prompt = (message["content"] for message in info["messages"])
            over, illegal = False, 0
            seated = task.with_system_prompt(task.data.system_prompt or rules)
            async with agents.player.interaction(seated) as talk:
                while not over and not (said := await talk.turn(prompt)).terminated:
                    reply = said.last_reply
                    prompt, _, over, _, info = await asyncio.to_thread(game.step, reply)
                    illegal += info["illegal"] is not None
            result = game.game.returns[game.seat] if over else ILLEGAL_REWARD
            talk.trace.record_reward("result", result)
            talk.trace.record_metric("illegal_replies", illegal)
            talk.trace.info["outcome"] = prompt if over else "the game was broken off"


def load_environment(game: str = "hanamikoji", **settings: Any) -> WordsEnv:
    """The environment of a game.

    `settings` are those of WordsConfig, and the options of the game. UserError if it cannot be
    played so.
    """
    own = {name: value for name, value in settings.items() if name in WordsConfig.model_fields}
    options = {name: value for name, value in settings.items() if name not in own}
    options |= checked_mapping(own.pop("options", {}), "options")
    if "id" in own:
        raise UserError("the id of these tasks is fixed: leave out id")
    taskset = WordsConfig(id=ID, game=game, options=options, **own)
    return WordsEnv(WordsEnvConfig(taskset=taskset))
