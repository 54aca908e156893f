"""Games in words, for language models: prompts in, replies out.

    game = TextGame("hanamikoji", prompt="deductions")
    seat, prompt = game.reset(seed=0)
    while not game.over:
        reply = ask_your_model(game.messages(seat))  # or ask_your_model(prompt)
        seat, prompt, reward, done, info = game.step(reply)

A prompt holds only what its seat may know. Two positions that a seat cannot tell apart give it the
same transcript. No library is needed.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from hanamachi.adapters.aec import ILLEGAL_REWARD
from hanamachi.engine.game import OVER, Variant
from hanamachi.errors import UserError, shown, unknown
from hanamachi.games.registry import variant
from hanamachi.limits import LINE
from hanamachi.sessions.events import Heard, History, asked
from hanamachi.sessions.session import Session
from hanamachi.sessions.views import choices, seat_text

PROMPTS = ("bare", "deductions", "memory")
ILLEGAL = re.compile(r"retry:(\d{1,3})|forfeit|random")
Message = dict[str, str]  # "role" and "content", as chat APIs have them


class Step(NamedTuple):
    """What follows a reply."""

    seat: int | None  # to move; None once the game is over
    prompt: str  # for that seat; the result once the game is over
    reward: float  # what the reply brought the seat that gave it
    done: bool
    info: dict[str, Any]  # "action", "illegal", "rewards" of all seats, "returns" so far


class TextGame:
    """One game in words."""

    def __init__(
        self,
        id: str,
        /,
        *,
        seed: int | None = None,
        prompt: str = "bare",
        illegal: str = "retry:2",
        legal_list: bool = True,
        **options: Any,
    ) -> None:
        """A variant with its options, such as TextGame("hanabi:3p", starter=0).

        `prompt` is "bare" (the rules once, the table, what happened since the seat's last turn),
        "deductions" (also what the seat can work out of the cards that it has not seen) or "memory"
        (both, and all that the seat has heard since the game began). `illegal` says what a reply
        without a legal action leads to: "retry:N" asks again, N times, then the seat forfeits;
        "forfeit" ends the game at -1 for the seat; "random" plays a random legal action.
        `legal_list` adds all legal actions to each prompt. Raises UserError for other settings.
        """
        if prompt not in PROMPTS:
            raise unknown("prompt", prompt, PROMPTS)
        if not isinstance(illegal, str) or not ILLEGAL.fullmatch(illegal):
            raise UserError(
                f'illegal must be "retry:N", "forfeit" or "random", not {shown(illegal)}'
            )
        self.variant = variant(id, **options)
        self.prompt, self.illegal, self.legal_list = prompt, illegal, legal_list
        self.seed = seed
        self.session = Session(self.variant)
        self.forfeited = False

    # --- Play

    def reset(self, seed: int | None = None) -> tuple[int, str]:
        """Begin a game; returns the seat to move and its prompt.

        The same seed and the same replies give the same game. Without a seed the one of the
        constructor counts for the first game; later ones keep the generator.
        """
        seed, self.seed = self.seed if seed is None else seed, None
        self.session.begin(seed)
        self.history = History(self.session)
        self.rng = np.random.default_rng(self.session.generator)  # for random replacements
        self.returns = [0.0] * self.variant.seats
        self.talk: list[list[Message]] = [[] for _ in range(self.variant.seats)]
        self.forfeited, self.refused = False, 0
        return self.session.mover, self._ask()

    @property
    def over(self) -> bool:
        return self.forfeited or self.session.mover == OVER

    def step(self, reply: str) -> Step:
        """Carry out the action that a reply names; the reply may be prose around it.

        A reply that names none is answered as `illegal` says. Raises UserError if no game is in
        progress.
        """
        if self.over:
            raise UserError("no game is in progress; call reset() to begin one")
        seat = self.session.mover
        self._tell(seat, "assistant", reply)
        try:
            action = self.parse(reply)
        except UserError as mistake:
            return self._after_illegal(seat, str(mistake))
        return self._play(seat, action, None)

    def _play(self, seat: int, action: int, mistake: str | None) -> Step:
        self.refused = 0
        self.session.step(action)
        self.history.update()
        rewards = self.session.rewards()
        self.returns = [a + b for a, b in zip(self.returns, rewards, strict=True)]
        return self._step(seat, rewards, action, mistake)

    def _after_illegal(self, seat: int, mistake: str) -> Step:
        if self.illegal == "random":
            legal = list(self.legal())
            return self._play(seat, legal[int(self.rng.integers(len(legal)))], mistake)
        self.refused += 1
        retries = int(self.illegal.partition(":")[2] or 0)
        if self.refused <= retries:
            prompt = f"{mistake[0].upper()}{mistake[1:]}. Reply again."
            self._tell(seat, "user", prompt)
            return Step(
                seat, prompt, 0.0, False, self._info(None, mistake, [0.0] * len(self.returns))
            )
        self.forfeited = True
        rewards = [ILLEGAL_REWARD if other == seat else 0.0 for other in range(self.variant.seats)]
        if not self.variant.game.cooperative:
            rewards = [reward or -ILLEGAL_REWARD for reward in rewards]
        self.returns = rewards
        return self._step(seat, rewards, None, mistake)

    def _step(
        self, seat: int, rewards: list[float], action: int | None, mistake: str | None
    ) -> Step:
        info = self._info(action, mistake, rewards)
        if self.over:
            return Step(None, self.result(), rewards[seat], True, info)
        return Step(self.session.mover, self._ask(), rewards[seat], False, info)

    def _info(
        self, action: int | None, mistake: str | None, rewards: list[float]
    ) -> dict[str, Any]:
        return {
            "action": action,
            "illegal": mistake,
            "rewards": rewards,
            "returns": list(self.returns),
        }

    # --- Prompts

    def messages(self, seat: int) -> list[Message]:
        """All that a seat was told and has replied, as chat APIs take it; the rules come first."""
        return [{"role": "system", "content": rules(self.variant, seat)}, *self.talk[seat]]

    def _ask(self) -> str:
        """The prompt of the seat to move, which is also the next message to it."""
        seat = self.session.mover
        first = not self.talk[seat]
        turn = self.turn(seat)
        self._tell(seat, "user", turn)
        return f"{rules(self.variant, seat)}\n\n{turn}" if first else turn

    def _tell(self, seat: int, role: str, content: str) -> None:
        self.talk[seat].append({"role": role, "content": content})

    def turn(self, seat: int) -> str:
        """What a seat reads at its turn: events, table, deductions and legal actions."""
        whole = self.prompt == "memory"
        heard = self.history.heard(seat) if whole else self.history.since_last_turn(seat)
        title = "The game so far" if whole else "Since your last turn"
        parts = [f"{title}:\n{lines(heard)}" if heard else "", seat_text(self.session, seat)]
        if self.prompt != "bare":
            parts.append(
                asked(self.variant, "deductions")(self.variant, self.session.games[0], seat)
            )
        if self.legal_list:
            parts.append("Your legal actions:\n" + "\n".join(self.legal().values()))
        parts.append("Reply with one action, as <action>WORDS OF THE ACTION</action>.")
        return "\n\n".join(part for part in parts if part)

    def result(self) -> str:
        """How the game ended."""
        if self.forfeited:
            return f"player {self.session.mover} has forfeited the game by illegal replies"
        return str(asked(self.variant, "status")(self.variant, self.session.games[0], None))

    # --- Replies

    def legal(self) -> dict[int, str]:
        """The legal actions of the seat to move, in words."""
        return choices(self.session, self.session.mover)

    def parse(self, reply: str) -> int:
        """The legal action that a reply names; UserError says what to write.

        It may be given in tags, in a box, in quotes or as JSON, as the whole reply, as its last
        line, or be the only legal action whose words stand in the reply.
        """
        if not isinstance(reply, str):
            raise UserError("a reply must be text")
        legal, reply = self.legal(), reply[-LINE:]
        words_of = self.variant.actions.words
        known = {repr(words_of(words)): action for action, words in legal.items()}
        for answers in (marked(reply), [reply], last_line(reply)):
            found = {known.get(repr(words_of(tidy(answer)))) for answer in answers} - {None}
            if len(found) == 1:
                return int(found.pop())  # type: ignore[arg-type]
            if len(found) > 1:
                raise UserError("your reply names several actions; write just one")
        mentioned = mentions(reply, legal)
        if len(mentioned) == 1:
            return mentioned[0]
        problem = "names several legal actions" if mentioned else "names no legal action"
        example = next(iter(legal.values()))
        raise UserError(f"your reply {problem}; write one as <action>{example}</action>")


def lines(heard: Iterable[Heard]) -> str:
    return "\n".join(f"player {h.by}: {h.words}" if h.by is not None else h.words for h in heard)


def rules(rule_set: Variant, seat: int) -> str:
    """The rules in prose, and who the reader is."""
    text = (files(f"hanamachi.games.{rule_set.game.name}") / "RULES.md").read_text("utf-8")
    prose = text.partition("\n## Options")[0]
    paragraphs = [p for p in prose.split("\n\n") if "rules.py" not in p]
    return "\n\n".join([*paragraphs, f"You are player {seat}."])


# --- What a reply may look like

TAGS = re.compile(r"<(action|answer|move)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
BOX = re.compile(r"\\boxed\{(?:\\text\{)?([^{}]*)\}")
LABEL = re.compile(r"^\W*(?:action|answer|move|final answer)\W*:\s*(.+)$", re.MULTILINE | re.I)
QUOTES = re.compile(r"[`\"']+([^`\"'\n]+)[`\"']+")
OBJECT = re.compile(r"\{[^{}]*\}")
KEYS = ("action", "answer", "move")


def marked(reply: str) -> list[str]:
    """What the reply marks as its answer: the last of the clearest marks that it has."""
    for answers in (
        [found[1] for found in TAGS.findall(reply)],
        BOX.findall(reply),
        in_json(reply),
        LABEL.findall(reply),
        QUOTES.findall(reply),
    ):
        if answers:
            return answers[-1:]
    return []


def in_json(reply: str) -> list[str]:
    """The values of JSON objects under a key that means the answer."""
    found = []
    for text in OBJECT.findall(reply):
        try:
            content = json.loads(text)
        except ValueError:
            continue
        if isinstance(content, Mapping):
            found += [content[key] for key in KEYS if isinstance(content.get(key), str)]
    return found


def last_line(reply: str) -> Sequence[str]:
    return [line for line in reply.splitlines() if line.strip()][-1:]


def tidy(answer: str) -> str:
    """An answer as the catalogue writes actions: lower case, one space between words."""
    plain = re.sub(r"[*_`\"'.]+", " ", answer.lower().replace("trade_off", "trade-off"))
    return " ".join(plain.replace(",", " ").replace("|", " | ").replace("/", " | ").split())


def mentions(reply: str, legal: Mapping[int, str]) -> list[int]:
    """The legal actions whose words stand in the reply, without those within longer ones."""
    text = f" {tidy(reply)} "
    found = {action: words for action, words in legal.items() if f" {words} " in text}
    longest = set(found.values())
    return [
        action
        for action, words in found.items()
        if not any(words in other for other in longest - {words})
    ]
