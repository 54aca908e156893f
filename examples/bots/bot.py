"""A bot in Python. It plays random actions; put your idea into `choose`.

hanamachi evaluate "process:python examples/bots/bot.py" random --game hanamikoji
"""

import json
import random
import sys


def choose(view):
    """The number of a legal action.

    `view` is all that you may know. view["table"] holds the cards, view["events"] what happened
    since your last turn, and view["legal"] your actions: {"action": 5, "words": "secret 4", ...}.
    """
    return random.choice(view["legal"])["action"]


def answer(message):
    print(json.dumps(message), flush=True)  # without flush the answer would wait in this program


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer({"type": "ready"})
    elif message["type"] == "move":
        answer({"action": choose(message["view"])})
    # "end" tells how a game ended and "goodbye" that there are no more; neither wants an answer
