"""What Hanamachi and a bot say to each other: JSON objects, one on each line.

docs/bots.md is the page for those who write bots. A bot knows what its seat knows: two positions
that the seat cannot tell apart give the same bytes.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.contract import CHANCE
from hanamachi.engine.game import Variant
from hanamachi.errors import IllegalAction, UserError, shown
from hanamachi.policies.external.bot import Limits, said_by
from hanamachi.sessions.events import History
from hanamachi.sessions.views import plain, view_of
from hanamachi.storage.reading import parse_json

PROTOCOL = 1  # its version
READY, ACTION = '{"type":"ready"}', '{"action":NUMBER}'  # answers, as messages write them

ActionProbabilities = NDArray[np.float32]  # (A,)


# --- What a bot hears


def hello(variant: Variant, seat: int, limits: Limits) -> bytes:
    """The first line, which the bot answers when it is ready."""
    return line(
        type="hello",
        protocol=PROTOCOL,
        variant=variant.id,
        options=plain(variant.options),
        seats=variant.seats,
        seat=seat,
        seconds=limits.seconds,
        clock=limits.clock,
        memory=limits.memory,
        cpu=limits.cpu,
    )


def move(history: History, seat: int, game: int, limits: Limits) -> bytes:
    """The question for an action. A bot can find `choose_from` without a reader of JSON."""
    view = view_of(history, seat)
    numbers = [choice["action"] for choice in view["legal"]]
    return line(type="move", choose_from=numbers, game=game, seconds=limits.seconds, view=view)


def end(history: History, seat: int, game: int) -> bytes:
    """A game has ended; `reward` is what the seat has earned in it."""
    view = view_of(history, seat)
    reward = earned(history, seat)
    return line(type="end", reward=reward, result=view["status"], game=game, view=view)


def goodbye() -> bytes:
    return line(type="goodbye")


def line(**message: Any) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def earned(history: History, seat: int) -> float:
    """What a seat has earned in a game; a position holds the rewards of the action before it."""
    decisions = [event.before for event in history.events if event.by != CHANCE]
    return float(sum(game.rewards[seat] for game in [*decisions, history.games[0]]))


# --- What a bot answers


def object_in(answer: bytes, expected: str) -> dict[str, Any]:
    """The JSON object that a bot has answered; UserError, which says what to answer, if none."""
    try:
        content = parse_json(answer)
    except UserError:
        content = None
    if not isinstance(content, dict):
        raise UserError(f"answered no JSON object, such as {expected}{said_by(answer)}")
    return content


def check_ready(answer: bytes) -> None:
    """UserError unless the bot is ready."""
    if object_in(answer, READY).get("type") != "ready":
        raise UserError(f"must answer hello with {READY}{said_by(answer)}")


def probabilities_in(
    answer: bytes, history: History, legal: Mapping[int, str]
) -> ActionProbabilities:
    """The probability of each action, (A,), that an answer gives.

    `legal` has the words of each legal action. UserError if the answer gives none, and
    IllegalAction if it names an action that is not legal.
    """
    content = object_in(answer, ACTION)
    probabilities = np.zeros(history.variant.actions.size, np.float32)
    if "probabilities" not in content:
        probabilities[action_of(content.get("action"), history, legal, answer)] = 1
        return probabilities
    given = content["probabilities"]
    if not isinstance(given, dict):
        raise UserError(f"gave probabilities that are no object{said_by(answer)}")
    for name, probability in given.items():
        if type(probability) not in (int, float):
            raise UserError(f"gave a probability that is no number{said_by(answer)}")
        with np.errstate(over="ignore"):  # what is infinite is refused later
            probabilities[action_of(name, history, legal, answer)] += probability
    return probabilities


def action_of(name: Any, history: History, legal: Mapping[int, str], answer: bytes) -> int:
    """The legal action of this number or these words."""
    if type(name) is int and name in legal:
        return name
    if isinstance(name, str):
        if name.isdecimal() and len(name) < 10 and int(name) in legal:  # a key of JSON is a string
            return int(name)
        words_of = history.variant.actions.words
        for action, words in legal.items():
            if words_of(words) == words_of(name):
                return action
    if name is None:
        raise UserError(f"must answer {ACTION}{said_by(answer)}")
    raise IllegalAction(f"chose {shown(name)}, which is not one of its {len(legal)} legal actions")
