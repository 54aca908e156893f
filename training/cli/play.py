"""Play in the terminal: a human and a policy, against each other or in a cooperative game together.

`Contest` holds the game, the policy and the words of actions; `play` is the conversation. It reads
through `ask` and writes through `say`, so that a terminal, a test or a chat can lead it.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.game import OVER, Variant
from hanamachi.errors import UserError
from hanamachi.policies.load import agent_for, load_policy
from hanamachi.policies.policy import Policy, best
from hanamachi.sessions.players import SeatedPlayer, turn_of
from hanamachi.sessions.session import Session
from hanamachi.sessions.worlds import Worlds

Ask = Callable[[str], str]  # shows a prompt and returns a line; EOFError at the end of input
Say = Callable[[str], None]

FEW = 12  # at most these many choices are listed without a question
HINTS = 5
WORLDS = 128  # deals searched for games that the human cannot rule out,
ALTERNATIVES = 2000  # until this number of moves can be compared
HELP = """\
Type a choice as it is listed, its first word shortened if you like, and cards in any order.
  ?              list your choices        ? WORDS     those that begin and go on so
  hint           what the policy would do in your place, and what it expects
  show           the table again          help        this text
  quit           leave the game"""


def usual_opponent(variant: Variant) -> Policy:
    """The agent that ships for this variant, or `expert` if there is none."""
    return load_policy(agent_for(variant) or "expert", variant.id, **variant.options)


class Thought(NamedTuple):
    """What a policy thinks in the place of the seat to move."""

    choices: list[tuple[float, str]]  # the most probable ones, with their probabilities
    value: float | None  # of the position for that seat, if the policy has values


class Contest:
    """A human in one seat and a policy in every other; no input or output."""

    def __init__(
        self, variant: Variant, opponent: Policy, seat: int = 0, seed: int | None = None
    ) -> None:
        if not 0 <= seat < variant.seats:
            raise UserError(f"seat must be from 0 to {variant.seats - 1}, not {seat}")
        variant.needs("redeal", "play at the terminal")
        self.variant, self.opponent, self.seat = variant, opponent, seat
        self.session = Session(variant)
        self.session.begin(seed)
        self.earned = np.zeros(variant.seats)  # (S,)
        self.thought = Thought([], None)  # before the last reply
        self.round_end = ""  # the table of the round that the last move ended, if it did
        self.player = SeatedPlayer(opponent, variant, games=1)  # also in the human's seat
        self.human = Listener(variant, self.session.games, seat)
        self.rng = np.random.default_rng(seed)

    # --- What the human sees

    @property
    def position(self) -> np.record:
        position: np.record = self.session.games[0]
        return position

    @property
    def terminated(self) -> bool:
        return self.session.mover == OVER

    @property
    def my_turn(self) -> bool:
        return self.session.mover == self.seat

    def table(self) -> str:
        """The table as the human may see it."""
        return str(self.variant.game.render().text(self.variant, self.position, self.seat))

    def uncovered(self) -> str:
        """The table with everything that was hidden."""
        return str(self.variant.game.render().text(self.variant, self.position, None))

    def result(self) -> str:
        mine, best = self.earned[self.seat], max(self.earned)
        if self.variant.game.cooperative:
            return f"Together you have made {mine:.0f} of {self.variant.best_score} points."
        if min(self.earned) == best:
            return "The game is a draw."
        return "You have won." if mine == best else f"{self.opponent.name} has won."

    # --- Choices in words

    def choices(self) -> dict[int, str]:
        """What the human may do: action -> words."""
        _, mask = self.session.observe(self.seat)
        return {int(a): self.describe(int(a)) for a in np.flatnonzero(mask)}

    def describe(self, action: int) -> str:
        return self.variant.actions.describe(action, self.position)

    def matching(self, line: str) -> list[str]:
        """The choices that begin with the first word of a line and contain all its other words."""
        first, *others = tidy(line).split() or [""]  # ? alone matches all
        return [
            words
            for words in self.choices().values()
            if words.startswith(first) and not Counter(others) - Counter(words.split()[1:])
        ]

    def find(self, line: str) -> int:
        """The action that a line means; UserError says what to type instead."""
        choices = self.choices()
        verb, _, rest = tidy(line).partition(" ")
        verbs = verbs_of(choices.values())
        meant = [v for v in verbs if v == verb] or [v for v in verbs if v.startswith(verb)]
        if len(meant) != 1:
            raise UserError(f"{verb!r} is not open to you now; begin with {' or '.join(verbs)}")
        words = f"{meant[0]} {rest}".strip()
        try:
            action = self.variant.actions.parse(words, self.position)
        except ValueError:
            action = None
        if action not in choices:
            raise UserError(f"{words!r} is not one of your choices; ? {meant[0]} lists them")
        return action

    # --- Moves

    def act(self, action: int) -> None:
        """The human's move."""
        if self.player.memory.size:  # hints need it; without a memory there is nothing to update
            self.judgement()
        self.step(action)

    def reply(self) -> str:
        """The move of the policy in the seat to move, in the words that the human may know.

        It samples in competitive games, and plays its most probable action in cooperative ones.
        `thought` then holds its thought before the move.
        """
        chances, value = self.judgement()
        self.thought = self.thought_of(chances, value)
        if self.variant.game.cooperative:
            chances = best(chances[None].astype(np.float32))[0].astype(np.float64)
            chances /= chances.sum()
        action = int(self.rng.choice(len(chances), p=chances))
        words = self.human.words(action)
        reply = f"player {self.session.mover} ({self.opponent.name}): {words}"
        self.step(action)
        return reply

    def step(self, action: int) -> None:
        """Any move; `round_end` then shows the round that it ended, if it did."""
        before = self.session.state()
        self.session.step(action)
        self.earned += self.session.rewards()
        self.round_end = round_end(self.variant, before, action, self.seat)

    def hint(self) -> Thought:
        """What the opponent would think in the human's place."""
        return self.thought_of(*self.judgement(remember=False))

    def thought_of(self, chances: NDArray[np.float64], value: float | None) -> Thought:
        order = np.argsort(-chances, kind="stable")[:HINTS]
        likely = [(float(chances[a]), self.describe(int(a))) for a in order if chances[a] > 0]
        return Thought(likely, value)

    def judgement(self, remember: bool = True) -> tuple[NDArray[np.float64], float | None]:
        """The policy's probabilities for the seat to move, (A,), and its value if it has one."""
        chances, values = self.player.distribution(turn_of(self.session), remember)
        exact = chances[0].astype(np.float64)
        return exact / exact.sum(), None if values is None else float(values[0])


class Listener:
    """A seat that hears the moves of the others, in words that give away no hidden card."""

    def __init__(self, variant: Variant, games: NDArray[Any], seat: int) -> None:
        """`games` (1,) is the game, as it stands whenever a move is put into words."""
        self.variant, self.games, self.seat = variant, games, seat

    def words(self, action: int) -> str:
        """The words of a move, or only the first if the seat could not tell it from others."""
        words, end = self._described(action, self.games[0]), self._end(action, self.games[0])
        verb = words.split()[0]
        for other, world in self._alike(action):
            described = self._described(other, world)
            differs = described != words and described.split()[0] == verb
            if differs and self._end(other, world) == end:
                return verb
        return words

    def _described(self, action: int, game: np.record) -> str:
        return self.variant.actions.describe(action, game)

    def _end(self, action: int, game: np.record) -> str:
        return round_end(self.variant, game, action, self.seat)

    def _alike(self, action: int) -> Iterator[tuple[int, np.record]]:
        """What looks like this move to the seat: actions, each in a game that allows it.

        Action numbers may mean different cards in different games, so both are needed.
        """
        look = self._observed_after([action], self.games)
        for world, others in self._possible_games():
            for i in np.flatnonzero((self._observed_after(others, world) == look).all(1)):
                yield others[i], world[0]

    def _possible_games(self) -> Iterator[tuple[NDArray[Any], list[int]]]:
        """Games, (1,), that the seat cannot rule out, and what the mover may do there.

        The true game comes first. The fewer actions each game allows, the more games follow.
        """
        worlds = Worlds(self.variant, self.games, [self.seat])
        sampled = worlds.sample(0, np.arange(WORLDS, dtype=np.uint64))
        games = np.concatenate((self.games, sampled))
        masks = np.zeros((len(games), self.variant.actions.size), np.int8)
        kernels.masks(self.variant.rule_set, games, masks)
        before = np.cumsum(masks.sum(1)) - masks.sum(1)
        for w in np.flatnonzero(before < ALTERNATIVES):
            yield games[w, None], np.flatnonzero(masks[w]).tolist()

    def _observed_after(self, actions: list[int], games: NDArray[Any]) -> NDArray[np.float32]:
        """What the seat would observe after each of these moves in games[0], before chance."""
        after = np.repeat(games, len(actions))
        for game, action in zip(after, actions, strict=True):
            kernels.apply_one(self.variant.rule_set, game, action)
        out = np.empty((len(actions), self.variant.observation.size), np.float32)
        seats = np.full(len(actions), self.seat)
        kernels.observations(self.variant.rule_set, after, seats, out)
        return out


def round_end(variant: Variant, before: np.record, action: int, seat: int | None) -> str:
    """The table as this action left it, if it ended a round and the game shows that; else ""."""
    show: Callable[..., str] | None = getattr(variant.game.render(), "round_end", None)
    return show(variant, before, action, seat) if show else ""


def tidy(line: str) -> str:
    """A line as the catalogue writes it: lower case, single spaces, spaces around "|"."""
    return " ".join(line.lower().replace(",", " ").replace("|", " | ").split())


def verbs_of(choices: Any) -> list[str]:
    """The first words of the choices, each once, in order."""
    return list(dict.fromkeys(words.split()[0] for words in choices))


# --- The conversation


def play(contest: Contest, ask: Ask, say: Say, thoughts: bool = False) -> bool:
    """Play to the end, or until the human leaves; returns whether the game was finished.

    With `thoughts`, each reply shows the policy's thought, which may reveal its hand.
    """
    say(HELP)
    try:
        while not contest.terminated:
            if contest.my_turn:
                take_turn(contest, ask, say)
            else:
                reply = contest.reply()
                say(f"{spoken(contest, contest.thought)}\n{reply}" if thoughts else reply)
            if contest.round_end:
                say(f"\n{contest.round_end}\n")
    except EOFError:
        say("You have left the game. Goodbye!")
        return False
    say("")
    say(contest.uncovered())
    say(contest.result())
    return True


def take_turn(contest: Contest, ask: Ask, say: Say) -> None:
    """Ask until a line is one of the choices."""
    say(f"\n{contest.table()}")
    say(overview(contest))
    moved = False
    while not moved:
        try:
            moved = obey(contest, ask("> ").strip().lower(), say)
        except UserError as mistake:
            say(f"{str(mistake)[0].upper()}{str(mistake)[1:]}.")


def obey(contest: Contest, line: str, say: Say) -> bool:
    """Do what one line says; returns whether it was a move. UserError if it means nothing."""
    if line in ("quit", "exit", "q"):
        raise EOFError
    if line.startswith("?"):
        say(listed(contest.matching(line[1:])))
    elif line == "help":
        say(HELP)
    elif line == "show":
        say(contest.table())
    elif line == "hint":
        say(spoken(contest, contest.hint()))
    elif line:
        contest.act(contest.find(line))
        return True
    return False


def spoken(contest: Contest, thought: Thought) -> str:
    """A line for each choice, and one for the value."""
    lines = [f"{chance:7.1%}  {words}" for chance, words in thought.choices]
    if thought.value is None:
        return "\n".join(lines)
    if contest.variant.game.cooperative:
        expected = f"{thought.value:7.1f}  points more expected, later ones counted less"
    else:
        expected = f"{thought.value:+7.2f}  expected for who chooses, from -1 (lost) to 1 (won)"
    return "\n".join([*lines, expected])


def overview(contest: Contest) -> str:
    """All choices if they are few, else the number for each first word, and an example."""
    choices = list(contest.choices().values())
    if len(choices) <= FEW:
        return "Your choices:\n" + "\n".join(f"  {words}" for words in choices)
    lines = ["Your choices (? lists them):"]
    for verb in verbs_of(choices):
        own = [words for words in choices if words.split()[0] == verb]
        lines.append(f"  {verb:<12} {len(own):>3} ways, such as: {own[0]}")
    return "\n".join(lines)


def listed(choices: list[str], width: int = 96) -> str:
    """Choices in columns, those with the same first word together."""
    if not choices:
        return "None of your choices reads like that; ? alone lists them all."
    lines = []
    for verb in verbs_of(choices):
        own = [words for words in choices if words.split()[0] == verb]
        longest = 2 + max(map(len, own))
        across = max(1, width // longest)
        rows = [own[i : i + across] for i in range(0, len(own), across)]
        lines += ["".join(f"{words:<{longest}}" for words in row).rstrip() for row in rows]
    return "\n".join(lines)
