"""Bots as policies: they play wherever a policy plays, and a bad one loses its game alone."""

import gc
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from messages import assert_one_sentence

import hanamachi
from hanamachi.adapters.gymnasium import SeatEnv
from hanamachi.adapters.gymnasium_text import TextEnv
from hanamachi.adapters.gymnasium_vector import VectorSeatEnv
from hanamachi.errors import UserError
from hanamachi.policies.external.bot import Bot, Limits
from hanamachi.policies.external.process import ProcessPolicy
from hanamachi.policies.load import load_policy
from hanamachi.policies.names import knows_its_game
from hanamachi.sessions.players import SeatedPlayer, turn_of
from hanamachi.sessions.session import Session
from hanamachi.training.evaluation.fingerprints import fingerprint
from hanamachi.training.evaluation.matches import evaluate

pytestmark = pytest.mark.skipif(os.name != "posix", reason="bots run on Linux and macOS alone")

HANAMIKOJI = hanamachi.variant("hanamikoji")
PATIENT = Limits(seconds=10)
START = """
import json, os, sys, time
def answer(message): print(json.dumps(message), flush=True)
"""
FIRST_LEGAL = """
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello": answer({"type": "ready"})
    if message["type"] == "move": answer({"action": message["choose_from"][0]})
"""
SLOW = 'if message["type"] == "move" and not time.sleep(0.4 * (message["game"] == 0)):'
READY = "sys.stdin.readline(); answer({'type': 'ready'}); sys.stdin.readline()\n"

Write = Callable[..., ProcessPolicy]


@pytest.fixture
def bot(tmp_path: Path) -> Iterator[Write]:
    """A policy that asks this piece of Python."""
    made = []

    def write(code: str, limits: Limits = PATIENT, variant: object = HANAMIKOJI) -> ProcessPolicy:
        file = tmp_path / "bot.py"
        file.write_text(START + code, encoding="utf-8")
        made.append(ProcessPolicy(variant, [str(file)], limits, name="the bot"))
        return made[-1]

    yield write
    for policy in made:
        policy.close()


def begun(seed: int = 0, id: str = "hanamikoji") -> Session:
    session = Session(hanamachi.variant(id))
    session.begin(seed)
    return session


def decide(policy: ProcessPolicy, session: Session) -> np.ndarray:
    return SeatedPlayer(policy, session.variant, 1).distribution(turn_of(session))[0][0]


# --- Play


@pytest.mark.parametrize("id", ["hanamikoji", "geishas_road:advanced", "hanabi:3p"])
def test_a_bot_plays_the_match_of_the_policy_that_it_is(bot: Write, id: str) -> None:
    """Its first legal action is that of a function here."""

    def first(observation: np.ndarray, mask: np.ndarray) -> int:
        return int(mask.argmax())

    asked = bot(FIRST_LEGAL, variant=hanamachi.variant(id))
    there = evaluate([asked, "random"], id, games=4, strict=True)
    here = evaluate([first, "random"], id, games=4, strict=True)
    assert repr(there.results).replace("the bot", "first") == repr(here.results)


def test_words_and_probabilities_are_answers_too(bot: Write) -> None:
    words = bot(READY + "answer({'probabilities': {'SECRET  5': 0.25, '0': 0.75}}); time.sleep(9)")
    chances = decide(words, begun())
    assert chances[np.flatnonzero(chances)].tolist() == [0.75, 0.25]
    action = bot(READY + "answer({'action': 'secret 5'}); time.sleep(9)")
    assert (decide(action, begun()) > 0).nonzero()[0].tolist() == np.flatnonzero(chances)[
        1:
    ].tolist()


def test_a_bot_is_not_asked_twice_about_one_position(bot: Write) -> None:
    """This one would choose another action."""
    policy = bot(READY + "for n in range(9):\n answer({'action': n}); sys.stdin.readline()")
    session = begun()
    assert (decide(policy, session) == decide(policy, session)).all()


def test_an_environment_and_a_name_take_a_bot(bot: Write, tmp_path: Path) -> None:
    bot(FIRST_LEGAL)
    env = SeatEnv("hanamikoji", opponent=f"process:python '{tmp_path / 'bot.py'}'")
    _, info = env.reset(seed=0)
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    assert not knows_its_game("process:./bot.onnx")


@pytest.mark.parametrize("env", [SeatEnv, TextEnv])
def test_an_environment_tells_a_bot_of_the_end_and_closes_it(
    bot: Write, tmp_path: Path, env: Callable[..., SeatEnv | TextEnv]
) -> None:
    log = tmp_path / "log"
    bot(FIRST_LEGAL.replace("message =", f"open({str(log)!r}, 'a').write(line)\n    message ="))
    name = f"process:python '{tmp_path / 'bot.py'}'"
    learner = env("hanamikoji", opponent=name, seat=0, starter=0, max_rounds=1)
    for seed in range(2):
        learner.reset(seed=seed)
        while not learner._over:
            if isinstance(learner, TextEnv):
                learner.step(next(iter(learner.game.legal().values())))
            else:
                learner.step(int(learner.action_masks().argmax()))
    learner.close()
    kinds = [line.split('"')[3] for line in log.read_text(encoding="utf-8").splitlines()]
    assert [kind for kind in kinds if kind != "move"] == ["hello", "end", "end", "goodbye"]
    assert kinds.index("end") < len(kinds) - 3, "the first game ended before the second one began"


def test_an_environment_leaves_the_policy_of_its_user_open(bot: Write) -> None:
    policy = bot(FIRST_LEGAL)
    env = SeatEnv("hanamikoji", opponent=policy, seat=1, starter=0)
    env.reset(seed=0)
    env.close()
    assert policy._bots.in_seats
    policy.close()


def test_each_seat_has_a_process_of_its_own_that_hears_of_its_games_alone(
    bot: Write, tmp_path: Path
) -> None:
    log = f"open({str(tmp_path)!r} + f'/{{os.getpid()}}', 'a').write(line)\n"
    policy = bot(FIRST_LEGAL.replace("message =", log + "    message ="))
    evaluate([policy, "random"], "hanamikoji", games=4, play="sample")
    policy.close()
    logs = [file.read_text(encoding="utf-8") for file in tmp_path.glob("[0-9]*")]
    assert sorted(log.count('"type":"hello"') for log in logs) == [1, 1]
    seats = ['"seat":0' in log.partition("\n")[0] for log in logs]
    assert sorted(seats) == [False, True]
    for log in logs:
        messages = [json.loads(line) for line in log.splitlines()]
        games = [kind for kind, _ in groupby(message["type"] for message in messages)]
        assert games == ["hello", "move", "end", "move", "end", "goodbye"], "one after another"


def test_searches_training_and_batches_refuse_a_bot_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="views"):
        load_policy("search:improve:process:./bot:worlds=4", "hanamikoji")
    env = VectorSeatEnv("hanamikoji", num_envs=2, opponent="process:cat", seat=1)
    with pytest.raises(UserError, match="views"):
        env.reset(seed=0)


def test_threads_that_share_a_bot_ask_it_in_turn(bot: Write) -> None:
    policy = bot(FIRST_LEGAL, variant=hanamachi.variant("hanamikoji", max_rounds=1))

    def play(seed: int) -> float:
        env = SeatEnv("hanamikoji", opponent=policy, max_rounds=1)
        _, info = env.reset(seed=seed)
        ended = False
        while not ended:
            _, reward, ended, _, info = env.step(int(info["action_mask"].argmax()))
        return float(reward)

    alone = [play(seed) for seed in range(12)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(play, range(12))) == alone


def test_a_changed_program_is_noticed_by_its_digest(bot: Write, tmp_path: Path) -> None:
    bot(FIRST_LEGAL)
    spec = f"process:python '{tmp_path / 'bot.py'}'"
    before = fingerprint(spec)
    bot(FIRST_LEGAL + "\n")
    assert before != fingerprint(spec) != ""


def test_a_word_that_is_no_possible_name_of_a_file_has_no_digest() -> None:
    assert fingerprint(f"process:python -c '{'x' * 300}'") == ""


# --- Bots that fail


def test_a_bot_that_failed_answers_the_same_until_it_is_asked_again(bot: Write) -> None:
    fails_once = """
asked = __file__ + ".asked"
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello": answer({"type": "ready"})
    if message["type"] == "move":
        first, _ = not os.path.exists(asked), open(asked, "w").close()
        answer({"action": -1 if first else message["choose_from"][0]})
"""
    policy, session = bot(fails_once), begun()
    for _ in range(2):
        with pytest.raises(UserError):
            decide(policy, session)
    policy.ask_again()
    assert decide(policy, session).sum() == 1


STALLING = {
    "says nothing": (READY + "time.sleep(9)", "0.5 seconds"),
    "says half a line": (READY + "print('{', end='', flush=True); time.sleep(9)", "0.5 seconds"),
    "floods its stderr": (READY + "while True: sys.stderr.write('A' * 9999)", "AAA"),
}
HOSTILE = {
    "crashes at the start": ("raise OSError('no such book')", "exit code 1.*no such book"),
    "exits before it is ready": ("sys.exit(0)", "exit code 0"),
    "is ready for another thing": ("answer({'type': 'go'}); time.sleep(9)", "ready"),
    "crashes in mid-game": (READY + "1 / 0", "exit code 1.*ZeroDivision"),
    "kills itself": (READY + "os.kill(os.getpid(), 9)", "signal 9"),
    "crashes in a long line": (
        "raise ValueError('of ' + 'x' * 9999)",
        r"ValueError: of x+\.\.\. \(bot\.py, line \d+\)",
    ),
    "closes its output": (READY + "os.close(1); time.sleep(9)", "closed its output"),
    "floods without a line": (READY + "while True: sys.stdout.write('A' * 9999)", "65,536 bytes"),
    "floods with lines": (
        READY + "while True: print('ho')",
        r"no JSON object, such as {\"action\":NUMBER}; it said ho",
    ),
    "speaks unasked": ("answer(1); answer(2)", "ready"),
    "answers twice": (READY + "answer({'action': 0}); answer({'action': 0}); time.sleep(9)", ""),
    "writes binary": (READY + "sys.stdout.buffer.write(bytes(range(255, -1, -1)))", "ff"),
    "writes deep JSON": (READY + "print('[' * 60000, flush=True); time.sleep(9)", "no JSON"),
    "answers illegally": (READY + "answer({'action': 7}); time.sleep(9)", "chose 7.*legal actions"),
    "answers another's words": (READY + "answer({'action': 'take 5'}); time.sleep(9)", "take 5"),
    "answers a huge number": (
        READY + "print('{\"action\":' + '9' * 5000 + '}')",
        "JSON",
    ),
    "answers a list": (READY + "answer({'action': [5]}); time.sleep(9)", "5"),
    "answers an object": (READY + "answer({'action': {'a': 1}}); time.sleep(9)", "a"),
    "answers a bool": (READY + "answer({'action': True}); time.sleep(9)", "chose True"),
    "answers nothing": (READY + "answer({}); time.sleep(9)", "must answer"),
    "gives no distribution": (
        READY + "answer({'probabilities': {'0': 0.5}}); time.sleep(9)",
        "sum to 0.5",
    ),
    "gives less than nothing": (
        READY + "answer({'probabilities': {'0': 2, '1': -1}}); time.sleep(9)",
        "below 0",
    ),
    "gives nothing a chance": (READY + "answer({'probabilities': {}}); time.sleep(9)", "sum to 0"),
    "gives NaN": (READY + 'print(\'{"probabilities":{"0":NaN}}\', flush=True)', "finite"),
    "gives words": (READY + "answer({'probabilities': {'0': '1'}}); time.sleep(9)", "no number"),
}


def play_on(policy: ProcessPolicy, session: Session) -> None:
    while session.mover >= 0:
        session.step(int(decide(policy, session).argmax()))


def assert_fails_in_one_sentence(policy: ProcessPolicy, why: str) -> None:
    with pytest.raises(UserError, match=f"^the bot .*{why}") as caught:
        play_on(policy, begun(2))  # some are found out at the next question
    assert_one_sentence(caught.value)


@pytest.mark.parametrize(("code", "why"), HOSTILE.values(), ids=HOSTILE)
def test_a_bot_that_fails_ends_in_one_sentence(bot: Write, code: str, why: str) -> None:
    assert_fails_in_one_sentence(bot(code), why)


@pytest.mark.parametrize(("code", "why"), STALLING.values(), ids=STALLING)
def test_a_bot_that_stalls_ends_in_one_sentence(bot: Write, code: str, why: str) -> None:
    assert_fails_in_one_sentence(bot(code, Limits(seconds=0.5)), why)


def test_a_bot_that_never_reads_is_given_up_in_time() -> None:
    more_than_a_pipe_holds = b"a" * 10**6 + b"\n"
    with pytest.raises(UserError, match="no answer in 0"):
        Bot(["sleep", "9"], PATIENT).ask(more_than_a_pipe_holds, 0.1)
    with pytest.raises(UserError, match="before it had read"):
        Bot(["sh", "-c", "sleep 0.1; echo; sleep 9"], PATIENT).ask(more_than_a_pipe_holds, 10)


def test_a_bot_that_fails_loses_that_game_alone(bot: Write) -> None:
    policy = bot(FIRST_LEGAL.replace("[0]", "[0] if message['game'] else 10**6"))
    evaluation = evaluate([policy, "random"], "hanamikoji", games=8, strict=False, play="sample")
    (forfeits,) = evaluation.forfeits
    assert forfeits.policy == "the bot"
    assert forfeits.games == 2, "the first game in each seat"
    assert "1000000" in forfeits.error


def test_a_bot_that_never_gets_ready_is_started_once(bot: Write, tmp_path: Path) -> None:
    policy = bot(f"open({str(tmp_path / 'starts')!r}, 'a').write('x'); sys.exit(3)")
    for session in (begun(0), begun(1), begun(2)):
        with pytest.raises(UserError, match=r"is not ready.*exit code 3"):
            decide(policy, session)
    assert (tmp_path / "starts").read_text() == "x"


def test_a_bot_that_does_not_get_ready_is_ended(bot: Write, tmp_path: Path) -> None:
    there = tmp_path / "there"
    writes = f"open({str(there)!r}, 'w').write(str(os.getpid())); "
    policy = bot(writes + "answer({'type': 'go'}); time.sleep(99)")
    with pytest.raises(UserError, match="is not ready"):
        decide(policy, begun(0))
    with pytest.raises(ProcessLookupError):
        os.kill(int(there.read_text()), 0)


def test_a_bot_that_was_interrupted_is_started_again(
    bot: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, ask = bot(FIRST_LEGAL), Bot.ask

    def interrupted(self: Bot, *question: object) -> bytes:
        monkeypatch.setattr(Bot, "ask", ask)
        ask(self, *question)
        raise KeyboardInterrupt

    session = begun(0)
    decide(policy, session)
    session = begun(1)
    monkeypatch.setattr(Bot, "ask", interrupted)
    with pytest.raises(KeyboardInterrupt):
        decide(policy, session)
    for _ in range(3):
        session.step(int(decide(policy, session).argmax()))


def test_a_program_that_is_not_there_is_named() -> None:
    policy = load_policy("process:./no-such-bot", "hanamikoji")
    with pytest.raises(UserError, match=r"cannot be started.*no-such-bot"):
        decide(policy, begun())
    with pytest.raises(UserError, match="no-such-bot"):
        evaluate(["process:no-such-bot.py", "random"], "hanamikoji", games=2, strict=False)
    with pytest.raises(UserError, match="command"):
        load_policy("process:", "hanamikoji")
    with pytest.raises(UserError, match="no command"):
        load_policy("process:'./bot", "hanamikoji")
    for program in (5, [1], ["a\0b"]):
        with pytest.raises(UserError, match="command"):
            ProcessPolicy(HANAMIKOJI, program)


def test_paths_with_spaces_are_quoted_even_after_the_program_that_runs_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my bots").mkdir()
    (tmp_path / "my bots" / "a.py").write_text(START + FIRST_LEGAL, encoding="utf-8")
    for command in ("my bots/a.py", "python my bots/a.py"):
        with pytest.raises(UserError, match=r"cannot be started: .*quotes.* 'my bots/a\.py'"):
            decide(load_policy(f"process:{command}", "hanamikoji"), begun())
    quoted = load_policy("process:'my bots/a.py'", "hanamikoji")
    assert decide(quoted, begun()).max() == 1
    quoted.close()


@pytest.mark.parametrize("limits", [PATIENT, Limits(seconds=10, memory=1000)])
def test_a_script_without_its_interpreter_is_told_so_under_any_limits(
    limits: Limits, tmp_path: Path
) -> None:
    script = tmp_path / "bot.sh"
    script.write_text("#!/no-such-program\n")
    script.chmod(0o755)
    with pytest.raises(UserError, match=r"cannot be started: .*/no-such-program"):
        decide(ProcessPolicy(HANAMIKOJI, script, limits), begun())


def test_a_bot_that_may_take_one_second_is_told_so(bot: Write) -> None:
    with pytest.raises(UserError, match=r"answer in 1 second\b"):
        decide(bot(READY + "time.sleep(9)", Limits(seconds=1)), begun())


def test_a_program_may_be_a_path_or_one_with_arguments(bot: Write) -> None:
    (file,) = bot(FIRST_LEGAL).program
    for program in (file, Path(file), [Path(file)], ["python", Path(file)]):
        policy = ProcessPolicy(HANAMIKOJI, program)
        assert decide(policy, begun()).max() == 1
        policy.close()
        assert policy.name.endswith(file)
    assert ProcessPolicy(HANAMIKOJI, "./my bot").program == ["./my bot"]
    assert ProcessPolicy(HANAMIKOJI, Path("mybot")).program == ["./mybot"]
    with pytest.raises(UserError, match="command"):
        ProcessPolicy(HANAMIKOJI, "")


@pytest.mark.parametrize(
    "limit", [{"memory": 0.5}, {"cpu": 1.5}, {"seconds": "5"}, {"seconds": None}, {"clock": "1"}]
)
def test_a_limit_of_another_type_is_refused(limit: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=f"{next(iter(limit))}.*number"):
        Limits(**limit)


@pytest.mark.parametrize("limit", ["seconds", "clock", "memory", "cpu"])
@pytest.mark.parametrize("given", [0, -1, 1e10, math.inf, math.nan, True])
def test_a_limit_that_no_system_can_measure_is_refused(limit: str, given: float) -> None:
    with pytest.raises(UserError, match=limit):
        Limits(**{limit: given})


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of programs")
def test_a_bot_that_takes_too_much_memory_fails(bot: Write) -> None:
    greedy = READY + "all = bytearray(200 << 20); answer({'action': 0}); time.sleep(9)"
    with pytest.raises(UserError, match=r"exit code 1.*MemoryError"):
        decide(bot(greedy, Limits(10, memory=100)), begun())
    assert decide(bot(greedy, Limits(10, memory=400)), begun())[0] == 1


def test_the_systems_own_limits_hold_where_they_are_lower(
    bot: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda kind: (90, 120))
    told = "import resource\nsys.exit(str(resource.getrlimit(resource.RLIMIT_CPU)))"
    with pytest.raises(UserError, match=r"\(120, 120\)"):
        decide(bot(told, Limits(cpu=3600)), begun())


def test_a_bot_that_uses_up_its_clock_loses_that_game_alone(bot: Write) -> None:
    """It thinks for long in its first game in each seat."""
    slow = FIRST_LEGAL.replace('if message["type"] == "move":', SLOW)
    policy = bot(slow, Limits(seconds=5, clock=1))
    evaluation = evaluate([policy, "random"], "hanamikoji", games=8, strict=False, play="sample")
    (forfeits,) = evaluation.forfeits
    assert forfeits.games == 2
    assert forfeits.decision > 1, "no decision took too long"
    assert "1 second for the game" in forfeits.error


def test_a_question_that_a_bot_does_not_answer_takes_its_time_from_the_clock(bot: Write) -> None:
    policy = bot(READY + "time.sleep(9)", Limits(seconds=0.1, clock=0.15))
    session = begun()
    for why in ("0.1 seconds", "0.15 seconds for the game"):
        with pytest.raises(UserError, match=why):
            decide(policy, session)
        policy.ask_again()


@pytest.mark.parametrize("stubborn", ["", "signal.signal(signal.SIGXCPU, signal.SIG_IGN)\n"])
def test_a_bot_that_takes_too_much_processor_time_is_ended(bot: Write, stubborn: str) -> None:
    policy = bot(f"import signal\n{stubborn}" + READY + "sum(iter(int, 1))", Limits(60, cpu=1))
    with pytest.raises(UserError, match="signal 9" if stubborn else "1 second of processor time"):
        decide(policy, begun())


def test_a_bot_that_waits_gets_no_time_while_others_think(bot: Write, tmp_path: Path) -> None:
    busy = (
        """
import threading
open(PID, 'w').write(str(os.getpid()))
def ponder():
    while True: pass
threading.Thread(target=ponder, daemon=True).start()
"""
        + FIRST_LEGAL
    )
    policy = bot(busy.replace("PID", repr(str(tmp_path / "pid"))), Limits(10, waits=True))
    decide(policy, begun())
    pid = int((tmp_path / "pid").read_text())
    patience = time.monotonic() + 10  # a busy machine stops it a moment later
    while states([pid]) != ["T"] and time.monotonic() < patience:
        time.sleep(0.01)
    assert states([pid]) == ["T"]
    policy.close()


# --- Nothing is left behind


def states(pids: list[int]) -> list[str]:
    words = ["ps", "-o", "stat=", "-p", ",".join(map(str, pids))]
    return [
        line[0] for line in subprocess.run(words, capture_output=True, text=True).stdout.split()
    ]


def is_running(pid: int) -> bool:
    return any(state != "Z" for state in states([pid]))


def test_a_bot_and_its_children_end_with_the_policy(bot: Write, tmp_path: Path) -> None:
    note = f"open({str(tmp_path / 'pids')!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
    code = "import subprocess\nchild = subprocess.Popen(['sleep', '60'])\n" + note + FIRST_LEGAL
    (tmp_path / "parent.py").write_text(START + code, encoding="utf-8")
    policy = ProcessPolicy(HANAMIKOJI, ["python", str(tmp_path / "parent.py")], PATIENT)
    decide(policy, begun())
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert all(map(is_running, pids))
    del policy
    gc.collect()
    assert not any(map(is_running, pids))


def test_a_process_that_is_forked_starts_its_own_bot(bot: Write, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    bot(f"print(os.getpid(), file=open({str(pids)!r}, 'a'))\n" + FIRST_LEGAL)
    program = f"""
import os, sys
sys.path.append({str(Path(__file__).parent)!r})
from hanamachi.policies.load import load_policy
from hanamachi.sessions.players import SeatedPlayer, turn_of
from hanamachi.sessions.session import Session

policy = load_policy("process:python {tmp_path / "bot.py"}", "hanamikoji")
session = Session(policy.variant)
session.begin(0)

def decide():
    SeatedPlayer(policy, policy.variant, 1).distribution(turn_of(session))

decide()
if child := os.fork():
    assert os.waitpid(child, 0)[1] == 0
else:
    decide()
    policy.close()
    os._exit(0)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(set(started)) == 2
    assert not any(map(is_running, started))


@pytest.mark.skipif(not Path("/proc").exists(), reason="it does not list processes")
@pytest.mark.parametrize("waits", [False, True])
def test_a_bot_ends_if_the_program_that_plays_is_killed(
    waits: bool, bot: Write, tmp_path: Path
) -> None:
    busy = """
import threading
def compute(until=time.monotonic() + 60):
    while time.monotonic() < until: pass
threading.Thread(target=compute).start()
"""
    bot(f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n{busy}{FIRST_LEGAL}")
    program = f"""
import os, signal
import hanamachi
from hanamachi.policies.external.bot import Limits
from hanamachi.policies.external.process import ProcessPolicy
words = ["python", {str(tmp_path / "bot.py")!r}]
policy = ProcessPolicy(hanamachi.variant("hanamikoji"), words, Limits(10, waits={waits}))
policy.start()
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == -signal.SIGKILL
    pid = int((tmp_path / "pid").read_text())
    patience = time.monotonic() + 10
    while is_running(pid) and time.monotonic() < patience:
        time.sleep(0.01)
    assert not is_running(pid)


def test_a_bot_ends_with_the_program_that_plays(bot: Write, tmp_path: Path) -> None:
    bot(f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n" + FIRST_LEGAL)
    program = f"""
from hanamachi.adapters.gymnasium import SeatEnv
env = SeatEnv("hanamikoji", opponent="process:python {tmp_path / "bot.py"}", seat=1)
env.reset(seed=0)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    assert not is_running(int((tmp_path / "pid").read_text()))
