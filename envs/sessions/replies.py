"""The action that a language model's reply names, found in its prose."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from hanamachi.errors import UserError, shown
from hanamachi.limits import LINE

# no example: a model that repeated one would play it
FORM = "<action>WORDS OF THE ACTION</action>"
ILLEGAL = re.compile(r"retry:(\d{1,3})|forfeit|random")


def retries_of(illegal: str) -> int:
    """How often a model is asked again after a reply without a legal action.

    UserError unless `illegal` is "retry:N", "forfeit" or "random".
    """
    if not isinstance(illegal, str) or not (found := ILLEGAL.fullmatch(illegal)):
        raise UserError(f'illegal must be "retry:N", "forfeit" or "random", not {shown(illegal)}')
    return int(found[1] or 0)


def action_named(reply: str, legal: Mapping[int, str], words_of: Callable[[str], Any]) -> int:
    """The legal action that a reply names; UserError says what to write.

    `legal` has the words of each legal action, and `words_of` reads words as the catalogue of
    actions does. The answer may be given in tags, in a box, as JSON or after "answer:"; then the
    rest of the reply does not count. Else it may be given in quotes, as the whole reply, as its
    last line, or be the only legal action whose words stand in the reply. A reply that gives two
    legal answers is ambiguous. What a model thinks between "<think>" and "</think>" never counts.
    """
    if not isinstance(reply, str):
        raise UserError("a reply must be text")
    reply = reply.rpartition("</think>")[2].partition("<think>")[0][-LINE:]
    answers, found = marked(reply), set[int]()
    unmarked = QUOTES.findall(reply), [reply], last_line(reply)
    for texts in (answers,) if answers else unmarked:
        found = found or actions_among(texts, legal, words_of)
    if not found:
        found = set().union(*(mentions(text, legal) for text in answers or [reply]))
    if len(found) == 1:
        return found.pop()
    problem = "names several legal actions" if found else "names no legal action"
    raise UserError(f"your reply {problem}; write one as {FORM}")


def actions_among(
    answers: Iterable[str], legal: Mapping[int, str], words_of: Callable[[str], Any]
) -> set[int]:
    """The legal actions that these answers name; the cards of an action may stand in any order."""
    exact = {words: action for action, words in legal.items()}
    tidied = set(map(tidy, answers))
    found = {exact[answer] for answer in tidied & exact.keys()}
    if others := tidied - exact.keys():
        by_meaning = {repr(words_of(words)): action for action, words in legal.items()}
        meanings = {repr(words_of(answer)) for answer in others}
        found |= {by_meaning[meaning] for meaning in meanings & by_meaning.keys()}
    return found


# --- What a reply may look like

# A model's reply may be hostile: each pattern takes time in proportion to its length. So nothing
# is looked for beyond the next tag that opens, nor from within a run of quotes.
TAGS = re.compile(r"<(action|answer|move)>((?:(?!<\1>).)*?)</\1>", re.DOTALL | re.IGNORECASE)
BOX = re.compile(r"\\boxed\{(?:\\text\{)?([^{}]*)\}")
LABEL = re.compile(
    r"^[^\w\n]*(?:action|answer|move|final answer)[^\w\n]*:\s*(.+)$", re.MULTILINE | re.I
)
QUOTES = re.compile(r"(?<![`\"'])[`\"']+([^`\"'\n]+)[`\"']+")
OBJECT = re.compile(r"\{[^{}]*\}")
KEYS = ("action", "answer", "move")


def marked(reply: str) -> list[str]:
    """What the reply marks as its answer, by the clearest kind of marks that it has."""
    for answers in (
        [found[1] for found in TAGS.findall(reply)],
        BOX.findall(reply),
        in_json(reply),
        LABEL.findall(reply),
    ):
        if answers:
            return answers
    return []


def in_json(reply: str) -> list[str]:
    """The values of JSON objects under a key that means the answer."""
    found = []
    for text in OBJECT.findall(reply):
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
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


def mentions(reply: str, legal: Mapping[int, str]) -> set[int]:
    """The legal actions whose words stand in the reply, without those within longer ones."""
    text = f" {tidy(reply)} "
    found = {action: words for action, words in legal.items() if f" {words} " in text}
    longest = set(found.values())
    return {
        action
        for action, words in found.items()
        if not any(words in other for other in longest - {words})
    }
