"""OpenEnv: a scripted expert plays through a server in this process, against random play.

The client sends words and reads prompts, as it would for a language model.

    pip install -e . openenv
"""

import socket
import threading
import time

import numpy as np
import uvicorn
from openenv import GenericEnvClient
from openenv.core.env_server import create_fastapi_app

from hanamachi.adapters.openenv import Prompt, Reply, TextEnvironment
from hanamachi.adapters.text import ScriptedModel
from hanamachi.policies import load_policy
from hanamachi.training.evaluation.results import Row
from hanamachi.training.evaluation.statistics import interval

DEALS = 100  # each is played twice, with the seats exchanged
EXPERT = load_policy("expert", "hanamikoji")
SEATS = [TextEnvironment("hanamikoji", seat=seat, opponent="random") for seat in range(2)]


def serve(environment: TextEnvironment) -> str:
    """Start a server for one session after the other; returns its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    app = create_fastapi_app(lambda: environment, Reply, Prompt)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    threading.Thread(target=server.run, args=[[listening]], daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


def results(environment: TextEnvironment) -> list[float]:
    """The expert's result on each deal: 1 if it wins, one half for a draw."""
    found = []
    with GenericEnvClient(base_url=serve(environment)).sync() as client:
        for deal in range(DEALS):
            result, total = client.reset(seed=deal), 0.0
            model = ScriptedModel(EXPERT, environment.env.game, np.random.default_rng(deal))
            while not result.done:
                result = client.step({"reply": model.reply()})
                total += result.reward or 0.0
            found.append((float(np.sign(total)) + 1) / 2)
    return found


scores = np.mean([results(environment) for environment in SEATS], axis=0)
row = Row("expert", "random", "sample", 2 * DEALS, float(scores.mean()), *interval(scores))
print(f"with_openenv: {row}")
