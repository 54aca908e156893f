"""A language model as a policy: each turn is a question, and the reply names the action.

    model:NAME?url=http://127.0.0.1:8000/v1&prompt=deductions&temperature=0

The model gets the rules as the system message and its turn as the user message; nothing else is
remembered. A reply without a legal action comes back to it with a sentence that says what to write.
Replies are cached, so the same question always gets the same answer.
"""

from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, wait
from os.path import expanduser
from threading import Event
from typing import NamedTuple

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.limits import LINE
from hanamachi.policies.arrays import Masks, Probabilities
from hanamachi.policies.external.chat import Chat, Reply
from hanamachi.policies.external.daemon_threads import DaemonThreads
from hanamachi.policies.external.model_settings import Settings, settings_of
from hanamachi.policies.external.reply_cache import ReplyCache, digest
from hanamachi.policies.sampling import uniform
from hanamachi.policies.view_policy import Counts, ViewPolicy, total
from hanamachi.sessions.events import History
from hanamachi.sessions.prompts import Message, refusal, rules_prompt, turn_prompt
from hanamachi.sessions.replies import action_named, retries_of
from hanamachi.sessions.views import choices
from hanamachi.sessions.worlds import Worlds
from hanamachi.storage.reading import checked_path
from hanamachi.storage.user_folders import cache_folder

CACHE = "replies.sqlite"
MILLION = 1e6


class Question(NamedTuple):
    """A turn, as the model is told of it."""

    messages: list[Message]
    legal: dict[int, str]  # the words of each legal action


class Answer(NamedTuple):
    """What the model made of a question."""

    action: int | None  # None if all its replies were illegal
    mistake: str  # of the last illegal reply
    replies: list[Reply]


class ModelPolicy(ViewPolicy):
    """A model behind a chat endpoint. Turns with one legal action are played without asking."""

    is_stochastic = False

    def __init__(self, variant: Variant, model: str, settings: Settings) -> None:
        """UserError if the settings do not fit, or the key's variable is not set."""
        super().__init__(variant)
        self.name = model
        self.settings = settings
        self.retries = retries_of(settings.illegal)
        patience = settings.timeout, settings.attempts, settings.wait
        self.chat = Chat(settings.url, model, settings.sampling, settings.key, *patience)
        given = checked_path(expanduser(settings.cache)) if settings.cache else None
        self.cache = ReplyCache(given or cache_folder() / CACHE)
        self._counts: Counts = {}  # shared with copies for other games

    def counts(self) -> Counts:
        """Decisions, replies, illegal ones, characters of prompts, tokens and what they cost."""
        return dict(self._counts)

    def probabilities(self, worlds: Worlds, mask: Masks) -> Probabilities:
        """The action that the model names has probability 1; with `illegal=random`, all legal
        actions are equally likely where it names none.

        UserError if it names no legal action, Unavailable if the server does not answer.
        """
        probabilities = uniform(mask)
        open_rows = np.flatnonzero(np.count_nonzero(mask, axis=1) > 1).tolist()
        questions = [self._question(worlds.history(row)) for row in open_rows]
        answers = self._answers(questions)
        may_lose = self.settings.illegal != "random"
        lost = [answer for answer in answers if answer.action is None and may_lose]
        if not lost or len(mask) == 1:  # a batch that fails is asked about again, game by game
            counted = map(self._counted, questions, answers)
            self._counts.update(total([self._counts, *counted]))
        if lost:
            count = len(lost[0].replies)
            times = "its reply" if count == 1 else f"{count} replies"
            raise UserError(f"{self.name} named no legal action in {times}: {lost[0].mistake}")
        for row, answer in zip(open_rows, answers, strict=True):
            if answer.action is not None:
                probabilities[row] = 0
                probabilities[row, answer.action] = 1
        return probabilities

    def _question(self, history: History) -> Question:
        seat, how = int(history.games["mover"][0]), self.settings
        rules = rules_prompt(self.variant, seat)
        turn = turn_prompt(history, seat, how.prompt, how.legal_list)
        messages = [{"role": "system", "content": rules}, {"role": "user", "content": turn}]
        return Question(messages, choices(history, seat))

    def _answers(self, questions: Sequence[Question]) -> list[Answer]:
        """An answer to each question; several are asked at once, until one fails."""
        stop, failures = Event(), list[BaseException]()

        def decide(question: Question) -> Answer:
            try:
                return self._decide(question, stop)
            except BaseException as error:
                failures.append(error)
                stop.set()
                raise

        threads = DaemonThreads(min(self.settings.parallel, len(questions)))
        try:
            asked = [threads.submit(decide, question) for question in questions]
            wait(asked, return_when=FIRST_EXCEPTION)
            if failures:
                raise failures[0]  # later ones may only tell that the others were stopped
            return [each.result() for each in asked]
        finally:  # without waiting for the others, if one fails or the user stops
            stop.set()
            threads.shutdown(wait=False, cancel_futures=True)

    def _decide(self, question: Question, stop: Event) -> Answer:
        """Ask, and ask again after an illegal reply as often as the settings allow."""
        messages, legal = question
        replies: list[Reply] = []
        mistake = ""
        while len(replies) <= self.retries:
            reply = self._reply(messages, stop)
            replies.append(reply)
            try:
                action = action_named(reply.text, legal, self.variant.actions.words)
            except UserError as error:
                mistake = str(error)
                said = {"role": "assistant", "content": reply.text[-LINE:] or "(no reply)"}
                messages = [*messages, said, {"role": "user", "content": refusal(mistake)}]
            else:
                return Answer(action, mistake, replies)
        return Answer(None, mistake, replies)

    def _reply(self, messages: Sequence[Message], stop: Event) -> Reply:
        """The reply that is kept for these messages, or a new one."""
        body = self.chat.request(messages)
        request = digest(self.chat.url, body)
        return self.cache.find(request) or self.cache.keep(request, self.chat.ask(body, stop))

    def _counted(self, question: Question, answer: Answer) -> Counts:
        replies, how = answer.replies, self.settings
        tokens_in = sum(reply.prompt_tokens for reply in replies)
        tokens_out = sum(reply.completion_tokens for reply in replies)
        return {
            "decisions": 1,
            "replies": len(replies),
            "illegal": len(replies) - (answer.action is not None),
            "characters": sum(len(message["content"]) for message in question.messages),
            "tokens_in": tokens_in,
            "tokens_out": tokens_out,
            "cost": (tokens_in * how.price_in + tokens_out * how.price_out) / MILLION,
        }


def load_model(name: str, variant: Variant) -> ModelPolicy:
    """The policy of "MODEL?SETTINGS"; UserError if a setting does not fit."""
    model, _, query = name.partition("?")
    if not model:
        raise UserError("a model needs a name: model:NAME?url=http://127.0.0.1:8000/v1")
    return ModelPolicy(variant, model, settings_of(query))
