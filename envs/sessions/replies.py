"""The action that a language model's reply names, found in its prose."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    rest of the reply does not count. A tag that is not closed holds the rest of its line. Else the
    answer may be given in quotes, as the whole reply, as its last line, or be the only legal action
    whose words stand in the reply. A reply that gives two legal answers is ambiguous. What a model
    thinks between "<think>" and "</think>" never counts.
    """
    if not isinstance(reply, str):
        raise UserError("a reply must be text")
    reply = reply.rpartition("</think>")[2].partition("<think>")[0][-LINE:].translate(STRAIGHT)
    answers, found = marked(reply), set[int]()
    unmarked = QUOTES.findall(reply), [reply], last_line(reply)
    for texts in (answers,) if answers else unmarked:
        found = found or actions_among(texts, legal, words_of)
    if not found:
        found = set().union(*(mentions(text, legal, words_of) for text in answers or [reply]))
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
OPEN_TAG = re.compile(r"<(?:action|answer|move)>[^\S\n]*([^\n<]+)", re.IGNORECASE)
# an apostrophe within a word is no quote
QUOTES = re.compile(r"(?<![\w`\"'])[`\"']+([^`\"'\n]+)[`\"']+(?!\w)")
STRAIGHT = str.maketrans("\u2018\u2019\u201c\u201d\u2010\u2011", "''\"\"--")  # quotes and hyphens
BRACES = re.compile(r"[{}]")
OBJECT = re.compile(r"\{[^{}]*\}")
KEYS = ("action", "answer", "move")
# an action's words hold no other characters, and these only before a number or around a card
SEPARATORS = re.compile(r"[^\w|#+?()-]|_")


def marked(reply: str) -> list[str]:
    """What the reply marks as its answer, by the clearest kind of marks that it has."""
    for answers in (
        [found[1] for found in TAGS.findall(reply)] or OPEN_TAG.findall(reply),
        BOX.findall(reply),
        in_json(reply),
        LABEL.findall(reply),
    ):
        if answers:
            return answers
    return []


def in_json(reply: str) -> list[str]:
    """The values under a key that means the answer, of whole JSON objects or of the innermost."""
    return answers_of(objects(reply)) or answers_of(OBJECT.findall(reply))


def answers_of(texts: Iterable[str]) -> list[str]:
    found = []
    for text in texts:
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(content, Mapping):
            found += [content[key] for key in KEYS if isinstance(content.get(key), str)]
    return found


def objects(reply: str) -> Iterator[str]:
    """What stands between outermost braces, and these."""
    depth = begin = 0
    for brace in BRACES.finditer(reply):
        if brace[0] == "{":
            begin = begin if depth else brace.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield reply[begin : brace.end()]


def last_line(reply: str) -> Sequence[str]:
    return [line for line in reply.splitlines() if line.strip()][-1:]


def tidy(answer: str) -> str:
    """An answer as the catalogue writes actions: lower case, one space between words."""
    plain = answer.lower().replace("trade_off", "trade-off")
    plain = plain.replace("|", " | ").replace("/", " | ")
    return " ".join(filter(None, map(bare, SEPARATORS.sub(" ", plain).split())))


def bare(word: str) -> str:
    """A word without what belongs to the sentence around it."""
    word = word.strip("-").rstrip("?#+")
    unclosed = word.count("(") - word.count(")")
    return word.removeprefix("(" * unclosed).removesuffix(")" * -unclosed)


def mentions(reply: str, legal: Mapping[int, str], words_of: Callable[[str], Any]) -> set[int]:
    """The legal actions whose words stand in the reply, the longest from each place.

    The cards of an action may stand in any order.
    """
    sizes = {action: len(words.split()) for action, words in legal.items()}
    meant = {(sizes[each], repr(words_of(words))): each for each, words in legal.items()}
    first = {words.split()[0] for words in legal.values()}
    longest_first = sorted(set(sizes.values()), reverse=True)
    found, words, place = set[int](), tidy(reply).split(), 0
    while place < len(words):
        taken = 1
        for size in longest_first if words[place] in first else ():
            text = " ".join(words[place : place + size])
            if (action := meant.get((size, repr(words_of(text))))) is not None:
                found.add(action)
                taken = size
                break
        place += taken
    return found
