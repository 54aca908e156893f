"""Your language model: how often it wins, and what that costs.

It asks any endpoint that speaks OpenAI's protocol for chats, such as vLLM, llama.cpp, Ollama or a
provider's. The key, if one is needed, is in the environment variable OPENAI_API_KEY.

    pip install -e .
    python examples/with_language_model.py MODEL --url http://127.0.0.1:8000/v1

If the program stops, start it again: replies that were paid for are kept.
"""

import argparse
import sys
from urllib.parse import quote

from hanamachi.errors import UserError
from hanamachi.training import evaluate

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("model", help="its name at the endpoint")
parser.add_argument("--url", required=True, help="of the endpoint, such as http://host:8000/v1")
parser.add_argument("--game", default="hanamikoji")
parser.add_argument("--opponent", default="greedy", help="or partner, in a cooperative game")
parser.add_argument("--games", type=int, default=20)
parser.add_argument("--prompt", default="deductions", help="bare, deductions or memory")
parser.add_argument("--temperature", type=float)
given = parser.parse_args()

name = f"model:{given.model}?url={quote(given.url)}&prompt={given.prompt}"
if given.temperature is not None:
    name += f"&temperature={given.temperature}"
try:
    result = evaluate(
        [name], given.game, given.games, opponents=[given.opponent], play="sample", strict=False
    )
except UserError as mistake:
    sys.exit(str(mistake))
for row in result.results:  # in a cooperative game with itself, then with the partner
    print(f"with_language_model: {row}")
for forfeits in result.forfeits:
    print(f"forfeited {forfeits.games} games, the first because {forfeits.error}")
for use in result.models:
    print(", ".join(f"{words}: {figure}" for words, figure in use.figures().items()))
