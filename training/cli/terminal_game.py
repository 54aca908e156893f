"""Play in the terminal: a human and a policy, against each other or in a cooperative game together.

`TerminalGame` holds the game and the policy; `play` is the conversation. It reads through `ask` and
writes through `say`, so that a terminal, a test or a chat can lead it.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from textwrap import fill
from typing import Any

import numpy as np

from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.policies.agents import default_policy
from hanamachi.policies.load import load_policy
from hanamachi.policies.policy import Policy
from hanamachi.policies.thoughts import Thought, choice, judgement, thought_of
from hanamachi.rendering.parts import render_part
from hanamachi.rendering.words import player_name
from hanamachi.sessions.events import Heard
from hanamachi.sessions.players import SeatedPlayer
from hanamachi.sessions.saved_games import record_of
from hanamachi.sessions.session import Session
from hanamachi.sessions.views import choices, seat_text
from hanamachi.training.cli.terminal import LEAVE, TABLE_WIDTH
from hanamachi.training.evaluation.review import Review, worst

Ask = Callable[[str], str]  # shows a prompt and returns a line; EOFError at the end of input
Say = Callable[[str], None]

FEW = 12  # at most these many choices are listed without a question
DIGITS = 9  # of the number of a choice; no position has as many choices
HELP = """\
Type the number of a choice, or its words; you may shorten the first word and
list cards in any order.
  ?              list your choices        ? WORDS     those with these words
  hint           what the policy would do in your place, and what it expects
  show           the table again          log         what has happened so far
  help           this text                quit        leave the game"""


def usual_opponent(variant: Variant) -> Policy:
    """The package's agent for this variant, or `expert` if there is none."""
    return load_policy(default_policy(variant), variant)


class TerminalGame:
    """A human in one seat and a policy in every other; no input or output."""

    def __init__(
        self, variant: Variant, opponent: Policy, seat: int = 0, seed: int | None = None
    ) -> None:
        if not 0 <= seat < variant.seats:
            raise UserError(f"seat must be from 0 to {variant.seats - 1}, not {seat}")
        self.variant, self.opponent, self.seat = variant, opponent, seat
        self.session = Session(variant)
        self.session.begin(seed)
        self.said = 0  # of what the human has heard, how much has been fetched as news
        self.earned = np.zeros(variant.seats)  # (S,)
        self.thought = Thought([], None)  # before the last reply
        self.round_end = ""  # the table of the round that the last move ended, if it did
        self.player = SeatedPlayer(opponent, variant, games=1)  # also in the human's seat
        self.rng = np.random.default_rng(seed)

    # --- What the human sees and hears

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
        return seat_text(self.session, self.seat)

    def uncovered(self) -> str:
        """The table with everything that was hidden, from the human's side."""
        return seat_text(self.session, None, near=self.seat)

    def news(self) -> list[str]:
        """What the human has heard since the last call, a line each."""
        heard = self.session.history().heard(self.seat)
        lines = [self.line(one) for one in heard[self.said :]]
        self.said = len(heard)
        return lines

    def line(self, heard: Heard) -> str:
        """What was heard, with who did it; long ones are folded."""
        if heard.by is None:
            me = player_name(self.seat, self.seat)
            words = heard.words.replace(f"player {self.seat} ", f"{me} ")
        else:
            who = "you" if heard.by == self.seat else self.opponent.name
            words = f"player {heard.by} ({who}): {heard.words}"
        return fill(words, TABLE_WIDTH, subsequent_indent="  ")

    def result(self) -> str:
        """How the game ended for the human."""
        mine, most = self.earned[self.seat], max(self.earned)
        if self.variant.game.cooperative:
            return f"Together you have made {mine:.0f} of {self.variant.best_score} points."
        if min(self.earned) == most:
            return "The game is a draw."
        return "You have won." if mine == most else f"You have lost; {self.opponent.name} has won."

    # --- Choices in words

    def choices(self) -> dict[int, str]:
        """What the human may do: action -> words."""
        return choices(self.session, self.seat)

    def numbered(self) -> dict[str, str]:
        """The same words, each with its number, from 1."""
        return {words: f"{n} {words}" for n, words in enumerate(self.choices().values(), 1)}

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
        if (digits := line.strip()).isdecimal():
            number = int(digits) if len(digits) <= DIGITS else 0
            if not 1 <= number <= len(choices):
                raise UserError(f"your choices are numbered from 1 to {len(choices)}")
            return list(choices)[number - 1]
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
            judgement(self.player, self.session)
        self.step(action)

    def reply(self) -> None:
        """The move of the policy in the seat to move; `thought` then holds its thought before it.

        It samples in competitive games, and plays its most probable action in cooperative ones.
        """
        chances, value = judgement(self.player, self.session)
        self.thought = thought_of(self.session, chances, value)
        self.step(choice(self.variant, chances, self.rng))

    def step(self, action: int) -> None:
        """Any move; `round_end` then shows the round that it ended, if it did."""
        before = self.session.state()
        self.session.step(action)
        self.earned += self.session.rewards()
        round_end = render_part(self.variant, "round_end")
        self.round_end = round_end(self.variant, before, action, self.seat)

    def hint(self) -> Thought:
        """What the opponent would think in the human's place."""
        return thought_of(self.session, *judgement(self.player, self.session, remember=False))


def tidy(line: str) -> str:
    """A line as the catalogue writes it: lower case, single spaces, spaces around "|"."""
    return " ".join(line.lower().replace(",", " ").replace("|", " | ").split())


def verbs_of(choices: Any) -> list[str]:
    """The first words of the choices, each once, in order."""
    return list(dict.fromkeys(words.split()[0] for words in choices))


# --- The conversation


def play(game: TerminalGame, ask: Ask, say: Say, thoughts: bool = False) -> bool:
    """Play to the end, or until the human leaves; returns whether the game was finished.

    With `thoughts`, each reply shows the policy's thought, which may reveal its hand.
    """
    say(HELP)
    try:
        while not game.terminated:
            tell_news(game, say)
            if game.my_turn:
                take_turn(game, ask, say)
            else:
                seat = game.session.mover
                hear_reply(game, ask, say)
                if thoughts:
                    say(f"player {seat} ({game.opponent.name}) plays with these probabilities:")
                    say(spoken(game, game.thought))
            if game.round_end:
                tell_news(game, say)
                say(f"\n{game.round_end}\n")
    except EOFError:
        say("You have left the game. Goodbye!")
        return False
    tell_news(game, say)
    say("")
    say(game.uncovered())
    say(game.result())
    offer_review(game, ask, say)
    return True


def offer_review(game: TerminalGame, ask: Ask, say: Say) -> None:
    """Tell which of the human's moves lost most, if the human wants to know and the game allows."""
    if "redeal" not in game.variant.game.functions:  # which the search needs that judges
        return
    with suppress(EOFError):
        if ask("r reviews your moves, Enter leaves the game ").strip().lower() in ("r", "review"):
            say("\n".join(reviewed(game)))


def reviewed(game: TerminalGame) -> list[str]:
    """The human's moves that lost most, and what a search would have played."""
    review = Review(record_of(game.session), seats=[game.seat])
    while review.judge_next():
        pass
    cooperative = game.variant.game.cooperative
    unit, scale = (" points", "") if cooperative else ("", " (a lost game is -1, a won one 1)")
    lines = [
        f"move {move.number}, {move.words}: a search expects {move.lost:.2f}{unit} less from it "
        f"than from {move.better}{scale}"
        for move in worst(review.moves)
    ]
    return [fill(line, TABLE_WIDTH, subsequent_indent="  ") for line in lines] or [
        "No move of yours was clearly worse than another."
    ]


def tell_news(game: TerminalGame, say: Say) -> None:
    for line in game.news():
        say(line)


def take_turn(game: TerminalGame, ask: Ask, say: Say) -> None:
    """Ask until a line is one of the choices."""
    say(f"\n{game.table()}")
    say(overview(game))
    moved = False
    while not moved:
        try:
            moved = obey(game, ask("> ").strip().lower(), say)
        except UserError as mistake:
            say(sentence(mistake, game.opponent.name))


def sentence(error: UserError, policy: str) -> str:
    """What is wrong; the policy's name at its beginning stays as it is written."""
    words = str(error)
    return f"{words}." if words.startswith(policy) else f"{words[0].upper()}{words[1:]}."


def hear_reply(game: TerminalGame, ask: Ask, say: Say) -> None:
    """The policy's move. One that fails can be asked again, or the human leaves the game."""
    while True:
        try:
            game.reply()
            return
        except UserError as failure:
            say(sentence(failure, game.opponent.name))
        if ask("Enter asks it again, q leaves the game ").strip().lower() in LEAVE:
            raise EOFError


def obey(game: TerminalGame, line: str, say: Say) -> bool:
    """Do what one line says; returns whether it was a move. UserError if it means nothing."""
    if line in LEAVE:
        raise EOFError
    if line.startswith("?"):
        numbered = game.numbered()
        say(listed([numbered[words] for words in game.matching(line[1:])]))
    elif line == "help":
        say(HELP)
    elif line == "show":
        say(game.table())
    elif line == "log":
        heard = game.session.history().heard(game.seat)
        say("\n".join(map(game.line, heard)))
    elif line == "hint":
        thought = spoken(game, game.hint())
        say(f"{game.opponent.name} would play in your place with these probabilities:")
        say(thought)
    elif line:
        game.act(game.find(line))
        return True
    return False


def spoken(game: TerminalGame, thought: Thought) -> str:
    """A line for each choice, and one for the value."""
    lines = [f"{chance:7.1%}  {words}" for chance, words in thought.choices]
    if thought.value is None:
        return "\n".join(lines)
    if game.variant.game.cooperative:
        expected = f"{thought.value:7.1f}  points more that it expects, later ones counted less"
    else:
        expected = f"{thought.value:+7.2f}  the result that it expects, from -1 (lost) to 1 (won)"
    return "\n".join([*lines, expected])


def overview(game: TerminalGame) -> str:
    """All choices if they are few, else the number for each first word, and an example."""
    numbered = game.numbered()
    if len(numbered) <= FEW:
        return "Your choices:\n" + "\n".join(f"  {line}" for line in numbered.values())
    lines = ["Your choices (? lists them):"]
    for verb in verbs_of(numbered):
        own = [words for words in numbered if words.split()[0] == verb]
        lines.append(f"  {verb:<12} {len(own):>3} ways, such as: {numbered[own[0]]}")
    return "\n".join(lines)


def listed(choices: list[str], width: int = TABLE_WIDTH) -> str:
    """Numbered choices in columns, those with the same verb together."""
    if not choices:
        return "None of your choices reads like that; ? alone lists them all."
    lines = []
    for verb in dict.fromkeys(line.split()[1] for line in choices):
        own = [line for line in choices if line.split()[1] == verb]
        digits = max(len(line.split()[0]) for line in own)
        cells = [f"{line.split()[0]:>{digits}} {line.split(' ', 1)[1]}" for line in own]
        longest = 2 + max(map(len, cells))
        across = max(1, width // longest)
        rows = [cells[i : i + across] for i in range(0, len(cells), across)]
        lines += ["".join(f"{cell:<{longest}}" for cell in row).rstrip() for row in rows]
    return "\n".join(lines)
