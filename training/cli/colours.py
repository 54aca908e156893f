"""Cards in their colours, where the terminal has colours."""

import re

from rich.text import Text

from hanamachi.engine.game import Variant
from hanamachi.rendering.parts import render_part


class CardColours:
    """Turns words into words in colour: names of cards, and the lines of the human's own seat."""

    def __init__(self, variant: Variant) -> None:
        self.inks: dict[str, str] = render_part(variant, "inks")(variant)
        names = "|".join(sorted(map(re.escape, self.inks), key=len, reverse=True))
        self.names = re.compile(rf"(?<![\w-])({names})\d?(?![\w-])" if names else "(?!)")

    def __call__(self, words: str) -> Text:
        text = Text(words)
        text.highlight_regex(r"player \d \(you\)", "bold")
        for match in self.names.finditer(words):
            text.stylize(self.inks[match[1]], *match.span())
        return text
