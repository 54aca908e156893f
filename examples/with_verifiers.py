"""verifiers: a scripted expert plays through a server in this process, against random play.

The server speaks OpenAI's protocol, as one of a language model would. The name of its model says
which deal is played; it plays the game again up to the question, and answers as the expert would.

    pip install -e . verifiers
"""

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import verifiers.v1 as vf

from hanamachi.adapters.text import ScriptedModel
from hanamachi.adapters.verifiers import load_environment
from hanamachi.policies import load_policy
from hanamachi.training.evaluation.results import Row
from hanamachi.training.evaluation.statistics import interval

DEALS = 100  # each is played twice, with the seats exchanged
AT_ONCE = 8  # games
EXPERT = load_policy("expert", "hanamikoji")
SEATS = [load_environment("hanamikoji", seat=seat, opponent="random") for seat in range(2)]


def reply(model: str, talk: list[dict[str, Any]]) -> str:
    """What the expert says next."""
    seat, deal = map(int, model.split(":"))
    env = SEATS[seat].taskset.new_game()
    env.reset(seed=deal)
    for message in talk:
        if message["role"] == "assistant":
            env.step(message["content"])
    return ScriptedModel(EXPERT, env.game, np.random.default_rng(deal)).reply()


class Server(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = {"role": "assistant", "content": reply(asked["model"], asked["messages"])}
        answer = {"id": "1", "object": "chat.completion", "created": 0, "model": asked["model"]}
        answer |= {"choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *words: Any) -> None:
        """Nothing is logged."""


async def results(seat: int, url: str) -> list[float]:
    """The expert's result on each deal: 1 if it wins, one half for a draw."""
    env, turn = SEATS[seat], asyncio.Semaphore(AT_ONCE)
    client = vf.EvalClientConfig(base_url=url)

    async def play(task: vf.Task) -> float:
        server = vf.ModelContext(model=f"{seat}:{task.data.seed}", client=client)
        episode = await env.run_slot(*env.slots(task), server, turn)
        assert episode.ok, episode.errors
        return (float(np.sign(episode.traces[0].reward)) + 1) / 2

    async with env.serving():
        return await asyncio.gather(*map(play, env.taskset.take(DEALS)))


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_address[1]}/v1"
scores = np.mean([asyncio.run(results(seat, url)) for seat in range(2)], axis=0)
row = Row("expert", "random", "sample", 2 * DEALS, float(scores.mean()), *interval(scores))
print(f"with_verifiers: {row}")
