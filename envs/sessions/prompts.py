"""What a language model is told: the rules, and the game as one seat sees it, in words.

A prompt holds only what its seat may know.
"""

import re
from collections.abc import Iterable
from importlib.resources import files

from hanamachi.engine.game import Variant
from hanamachi.rendering.parts import render_part
from hanamachi.sessions.events import Heard, History
from hanamachi.sessions.replies import FORM
from hanamachi.sessions.views import choices, seat_text

Message = dict[str, str]  # "role" and "content", as chat APIs have them

PROMPTS = ("bare", "deductions", "memory")
OPTIONS = "\n## Options"  # where a page of rules goes on for those who choose them
MARK = re.compile("<!--.*?-->\n")  # around what is made from the code


def rules_of(variant: Variant) -> str:
    """RULES.md, the rules in prose; for a game without it, its title and what its options mean."""
    game = variant.game
    page = files(f"hanamachi.games.{game.name}") / "RULES.md"
    if page.is_file():
        return page.read_text("utf-8")
    return f"# {game.title}\n{OPTIONS}\n\n{options_of(variant)}\n"


def options_of(variant: Variant) -> str:
    """Each option of the game on a line, with its value and what it means."""
    chosen, meaning = variant.options.items(), variant.game.options
    return "\n".join(f"* {name}={value}: {meaning[name]}" for name, value in chosen)


def rules_prompt(variant: Variant, seat: int) -> str:
    """The rules in prose, the options of this game, and who the reader is."""
    prose = MARK.sub("", rules_of(variant).partition(OPTIONS)[0]).strip()
    paragraphs = [p for p in prose.split("\n\n") if "rules.py" not in p]
    heading = (
        f"## This game\n\nThis is {variant.id}, with {variant.seats} players, numbered from 0. "
        "Its options are below. If these options, or the table shown at your turn, contradict the "
        "rules above, follow the options and the table."
    )
    return "\n\n".join([*paragraphs, heading, options_of(variant), f"You are player {seat}."])


def turn_prompt(history: History, seat: int, prompt: str, legal_list: bool = True) -> str:
    """What a seat reads at its turn: events, table, deductions and legal actions.

    "bare" tells what happened since the seat's last turn, "deductions" also what the seat can work
    out of the cards that it has not seen, "memory" both, and all that the seat has heard since the
    game began.
    """
    whole = prompt == "memory"
    heard = history.heard(seat) if whole else history.since_last_turn(seat)
    title = "The game so far" if whole else "Since your last turn"
    parts = [f"{title}:\n{lines(heard)}" if heard else "", seat_text(history, seat)]
    if prompt != "bare":
        deductions = render_part(history.variant, "deductions")
        parts.append(deductions(history.variant, history.games[0], seat))
    if legal_list:
        parts.append("Your legal actions:\n" + "\n".join(choices(history, seat).values()))
    parts.append(f"Reply with one action, as {FORM}.")
    return "\n\n".join(part for part in parts if part)


def refusal(mistake: str) -> str:
    """What is said to a reply that names no legal action."""
    return f"{mistake[0].upper()}{mistake[1:]}. Reply again."


def lines(heard: Iterable[Heard]) -> str:
    return "\n".join(f"player {h.by}: {h.words}" if h.by is not None else h.words for h in heard)
