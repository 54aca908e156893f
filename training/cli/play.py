"""A game with a policy in the terminal: against it, or together where the game is cooperative.

`Contest` knows the game, the policy and how words become actions; `play` is the conversation.
It reads through `ask` and writes through `say`, so that a terminal, a test or a chat can hold it.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.game import OVER, Variant
from hanamachi.errors import UserError
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies.load import PLAYED_BY, agents, load_policy
from hanamachi.policies.policy import Policy, best
from hanamachi.sessions.session import Session
from hanamachi.sessions.worlds import Worlds

Ask = Callable[[str], str]  # shows a prompt and returns a line; EOFError at the end of input
Say = Callable[[str], None]

FEW = 12  # choices that are listed without being asked for
HINTS = 5
WORLDS = 128  # deals looked through for what the human cannot rule out,
ALTERNATIVES = 2000  # until there are so many moves to compare
HELP = """\
Type a choice as it is listed, its first word shortened if you like, and cards in any order.
  ?              list your choices        ? WORDS     those that begin and go on so
  hint           what the policy would do in your place, and what it expects
  show           the table again          help        this text
  quit           leave the game"""


def usual_opponent(variant: Variant) -> Policy:
    """The agent that ships for these rules; where none fits them, `expert`."""
    known = variant.id in (*agents(), *PLAYED_BY)
    fits = known and looks(make_variant(variant.id)) == looks(variant)
    return load_policy(variant.id if fits else "expert", variant.id, **variant.options)


def looks(variant: Variant) -> tuple[str, str]:
    """What a network depends on."""
    return variant.actions.digest, variant.observation.digest


class Thought(NamedTuple):
    """What a policy thinks in the place of the seat to move."""

    choices: list[tuple[float, str]]  # its likeliest ones, with their probabilities
    value: float | None  # what it expects for that seat, if it says


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
        self.memory = opponent.initial_memory(variant.seats)  # (S, M)
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
        _, mask = self.session.view(self.seat)
        return {int(a): self.describe(int(a)) for a in np.flatnonzero(mask)}

    def describe(self, action: int) -> str:
        return self.variant.actions.describe(action, self.position)

    def matching(self, line: str) -> list[str]:
        """The choices whose words begin with the first word given and hold all others."""
        first, *others = tidy(line).split() or [""]  # ? alone matches all
        return [
            words
            for words in self.choices().values()
            if words.startswith(first) and not Counter(others) - Counter(words.split()[1:])
        ]

    def find(self, line: str) -> int:
        """The action that a line means; UserError says how to put it right."""
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
        if self.memory.shape[1]:  # for hints; a search without memory would think in vain
            self.judgement()
        self.step(action)

    def reply(self) -> str:
        """The move of the policy in the seat to move, in the words that the human may know.

        It samples against a rival, and plays its most probable action with a partner. `thought` is
        then what it thought before.
        """
        chances, value = self.judgement()
        self.thought = self.thought_of(chances, value)
        if self.variant.game.cooperative:
            chances = best(chances[None].astype(np.float32))[0].astype(np.float64)
            chances /= chances.sum()
        action = int(self.rng.choice(len(chances), p=chances))
        told = f"player {self.session.mover} ({self.opponent.name}): {self.audible(action)}"
        self.step(action)
        return told

    def step(self, action: int) -> None:
        """Any move; a round that it ends can be looked at, although the next has begun."""
        before = self.session.state()
        self.session.step(action)
        self.earned += self.session.rewards()
        self.round_end = round_end(self.variant, before, action, self.seat)

    def hint(self) -> Thought:
        """What the opponent would think in the human's place."""
        return self.thought_of(*self.judgement(keep=False))

    def thought_of(self, chances: NDArray[np.float64], value: float | None) -> Thought:
        order = np.argsort(-chances, kind="stable")[:HINTS]
        likely = [(float(chances[a]), self.describe(int(a))) for a in order if chances[a] > 0]
        return Thought(likely, value)

    def judgement(self, keep: bool = True) -> tuple[NDArray[np.float64], float | None]:
        """The policy's probabilities for the seat to move, (A,), and its value if it has one."""
        mover = self.session.mover
        observation, mask = self.session.view(mover)
        worlds = Worlds(self.variant, self.session.games, [mover])
        chances, values, memory = self.opponent.with_worlds(worlds).distribution(
            observation[None], mask[None], self.memory[mover, None]
        )
        if keep:
            self.memory[mover] = memory[0]
        exact = chances[0].astype(np.float64)
        return exact / exact.sum(), None if values is None else float(values[0])

    def audible(self, action: int) -> str:
        """The words of a move, or only the first where the human could not tell it from others."""
        words, verb = self.describe(action), self.describe(action).split()[0]
        end = round_end(self.variant, self.position, action, self.seat)
        for other, world in self.alike(action):
            its = self.variant.actions.describe(other, world)
            differs = its != words and its.split()[0] == verb
            if differs and round_end(self.variant, world, other, self.seat) == end:
                return verb
        return words

    def alike(self, action: int) -> Iterator[tuple[int, np.record]]:
        """What looks like this move to the human: actions, each in a game that allows it.

        Action numbers may mean different cards in different games, so both are needed.
        """
        look = self.seen_after([action], self.session.games)
        for world, others in self.conceivable():
            for i in np.flatnonzero((self.seen_after(others, world) == look).all(1)):
                yield others[i], world[0]

    def conceivable(self) -> Iterator[tuple[NDArray[Any], list[int]]]:
        """Games, (1,), that the human may be in for all they know, and what the mover may do there.

        The true one comes first, and no more follow than are needed: with many cards in hand each
        game has alternatives enough, with few cards it has few.
        """
        worlds = self.variant.new(np.arange(WORLDS, dtype=np.uint64))
        kernels.worlds(self.variant.rule_set, self.session.games, self.seat, worlds)
        worlds = np.concatenate((self.session.games, worlds))
        masks = np.zeros((len(worlds), self.variant.actions.size), np.int8)
        kernels.masks(self.variant.rule_set, worlds, masks)
        before = np.cumsum(masks.sum(1)) - masks.sum(1)
        for w in np.flatnonzero(before < ALTERNATIVES):
            yield worlds[w, None], np.flatnonzero(masks[w]).tolist()

    def seen_after(self, actions: list[int], games: NDArray[Any]) -> NDArray[np.float32]:
        """What the human would see after each of these moves in games[0], before chance goes on."""
        after = np.repeat(games, len(actions))
        for game, action in zip(after, actions, strict=True):
            kernels.apply_one(self.variant.rule_set, game, action)
        out = np.empty((len(actions), self.variant.observation.size), np.float32)
        seats = np.full(len(actions), self.seat)
        kernels.observations(self.variant.rule_set, after, seats, out)
        return out


def round_end(variant: Variant, before: np.record, action: int, seat: int | None) -> str:
    """How the table lay when this action ended a round of several, if the game shows it; or ""."""
    show: Callable[..., str] | None = getattr(variant.game.render(), "round_end", None)
    return show(variant, before, action, seat) if show else ""


def tidy(line: str) -> str:
    """A line as the catalogue writes it: small letters, single spaces, piles set apart."""
    return " ".join(line.lower().replace(",", " ").replace("|", " | ").split())


def verbs_of(choices: Any) -> list[str]:
    """The first words of the choices, each once, in order."""
    return list(dict.fromkeys(words.split()[0] for words in choices))


# --- The conversation


def play(contest: Contest, ask: Ask, say: Say, thoughts: bool = False) -> bool:
    """Play to the end, or until the human leaves; returns whether the game was finished.

    With `thoughts`, each reply comes with what the policy thought, which may betray its hand.
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
            moved = follow(contest, ask("> ").strip().lower(), say)
        except UserError as mistake:
            say(f"{str(mistake)[0].upper()}{str(mistake)[1:]}.")


def follow(contest: Contest, line: str, say: Say) -> bool:
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
    """All choices if they are few, else how many begin with each word, and an example."""
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
