"""Playing against a policy in the terminal: pleasant, patient, and open about everything after."""

import io
import sys
from collections import Counter

import numpy as np
import pexpect
import pytest
from samples import sample
from terminals import in_terminal

import hanamachi
from hanamachi.errors import UserError
from hanamachi.games.registry import variant as make_variant
from hanamachi.limits import LINE
from hanamachi.policies import load_policy
from hanamachi.policies.rules.rule_policy import RandomPolicy
from hanamachi.sessions.saved_games import load, record_of, replay
from hanamachi.training.cli.terminal import ask
from hanamachi.training.cli.terminal_game import (
    TerminalGame,
    listed,
    overview,
    play,
    sentence,
    tidy,
    usual_opponent,
)

PLAYERS = (2, 3, 4, 5)


def terminal_game(seed=1, opponent="greedy", seat=0, id="hanamikoji", **options):
    variant = make_variant(id, **{"starter": 0, **options})
    return TerminalGame(variant, load_policy(opponent, variant), seat, seed)


class Script:
    """Gives the lines of a human one by one, then the end of input; keeps what is said."""

    def __init__(self, *lines):
        self.lines, self.heard = list(lines), []

    def ask(self, prompt):
        if not self.lines:
            raise EOFError
        return self.lines.pop(0)

    def hold(self, game):
        return play(game, self.ask, self.heard.append)

    @property
    def text(self) -> str:
        return "\n".join(self.heard)


class FirstChoice(Script):
    """Types the words of the first choice, whatever it is."""

    def __init__(self, game):
        super().__init__()
        self.game = game

    def ask(self, prompt):
        if self.game.terminated:
            raise EOFError
        return next(iter(self.game.choices().values()))


# --- From words to actions


def test_every_choice_is_found_by_its_own_words():
    game = terminal_game()
    assert len(game.choices()) > 50
    for action, words in game.choices().items():
        assert game.find(words) == action


def test_first_words_may_be_short_and_cards_in_any_order():
    game = terminal_game()
    words = next(w for w in game.choices().values() if w.startswith("competition"))
    verb, rest = words.split(" ", 1)
    first, second = rest.split(" | ")
    turned = f"  C {second.upper()}|{', '.join(reversed(first.split()))} "
    assert game.find(turned) == game.find(words)
    assert game.choices()[game.find(turned)] == words
    assert verb == "competition"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("dance 5", "not open to you now; begin with secret or trade-off or gift or competition"),
        ("take 5", "not open to you now"),
        ("secret", "? secret lists them"),
        ("secret 9", "? secret lists them"),
        ("gift 5 5 5 5", "? gift lists them"),
        ("competition 5", "? competition lists them"),
        ("|", "not open to you now"),
    ],
)
def test_mistyped_lines_are_told_what_to_do_and_change_nothing(line, words):
    game = terminal_game()
    before = game.session.state().tobytes()
    with pytest.raises(UserError) as mistake:
        game.find(line)
    assert words in str(mistake.value)
    script = Script(line, "", "show", "help", "hint", "?")
    assert not script.hold(game)
    assert words in script.text
    assert game.session.state().tobytes() == before


def test_question_mark_lists_what_begins_and_goes_on_so():
    game = terminal_game()
    choices = list(game.choices().values())
    assert game.matching("") == choices
    assert game.matching("gi") == [w for w in choices if w.startswith("gift")]
    card = choices[0].split()[1]
    gifts = game.matching(f"gift {card}")
    assert gifts
    assert all(w.startswith("gift") and card in w.split() for w in gifts)
    assert game.matching("gift zz") == []
    assert all(word in listed(gifts) for word in gifts)


def test_many_choices_are_summed_up_and_few_are_listed():
    game = terminal_game()
    assert len(overview(game).splitlines()) == 5
    game.act(game.find(game.matching("gift")[0]))
    answer = TerminalGame(game.variant, game.opponent, seat=1)
    answer.session = game.session
    assert overview(answer).count("take") == len(answer.choices()) <= 3


def test_lines_are_tidied():
    assert tidy("Competition 2a,3a|4  5") == "competition 2a 3a | 4 5"


# --- Moves


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("seed", range(5))
def test_a_game_is_played_to_its_end_and_shows_what_was_hidden(seed, seat):
    game = terminal_game(seed, seat=seat, max_rounds=3)
    script = FirstChoice(game)
    assert script.hold(game)
    assert game.terminated
    assert script.heard[-2] == game.uncovered()
    winner = game.position.winner
    said = script.heard[-1]
    assert said.startswith("You have") == (winner >= 0)
    assert ("won." in said and "lost" not in said) == (winner == seat)


@pytest.mark.parametrize("players", PLAYERS)
def test_partners_are_told_what_they_have_made_together(players):
    ends = set()
    for seed in range(8):
        options = {"strikeout_score": "fireworks", "colours": 2, "ranks": 3, "hand_size": 2}
        game = terminal_game(seed, "random", seed % players, f"hanabi:{players}p", **options)
        script = FirstChoice(game)
        assert script.hold(game)
        score = int(game.position.score)
        assert script.heard[-2] == game.uncovered()
        assert script.heard[-1] == f"Together you have made {score} of 6 points."
        ends.add(score)
    assert len(ends) > 1


def test_the_same_seed_and_lines_give_the_same_game():
    games = [terminal_game(9) for _ in range(2)]
    for game in games:
        FirstChoice(game).hold(game)
    assert games[0].session.actions == games[1].session.actions
    assert games[0].position.tobytes() == games[1].position.tobytes()


def test_what_the_opponent_hides_is_never_said():
    """Whatever its hidden cards are, the words for its Secret and Trade-off are the same."""
    variant = make_variant("hanamikoji", starter=1)
    for seed in range(sample(40, 0.2)):
        for full, told, _ in replies(
            TerminalGame(variant, RandomPolicy(variant), seat=0, seed=seed)
        ):
            verb = full.split()[0]
            assert told == (verb if verb in ("secret", "trade-off") else full)


def replies(game):
    """Every reply of the opponent until the game is over: the full words and those told."""
    rng = np.random.default_rng(0)
    while not game.terminated:
        game.news()
        before = game.session.state()
        if game.my_turn:
            game.act(int(rng.choice(list(game.choices()))))
            continue
        game.reply()
        told = next(line for line in game.news() if line.startswith(f"player {before.mover} ("))
        full = game.variant.actions.describe(game.session.actions[-1], before)
        yield full, told.partition(": ")[2], before


def test_in_geishas_road_what_the_opponent_hides_is_never_said():
    """Neither an Intrigue nor the card of a Hidden Offer; all that lies face up is."""
    variant = make_variant("geishas_road:advanced")
    heard = Counter()
    for seed in range(sample(12, 0.34)):
        for full, told, _ in replies(TerminalGame(variant, RandomPolicy(variant), seed % 2, seed)):
            verb, hides = full.split()[0], "(" in full
            if verb == "intrigue":
                assert told == "intrigue"
            elif verb in ("gift", "competition"):
                words = full.split()
                assert told.split() == ([*words[:-1], "(?)"] if hides else words)
            heard[verb, hides] += 1
    expected = {("intrigue", False), ("gift", True), ("competition", True), ("gift", False)}
    assert expected <= heard.keys()


@pytest.mark.parametrize("players", PLAYERS)
def test_in_hanabi_all_that_the_others_do_is_told_in_full(players):
    variant = make_variant(f"hanabi:{players}p")
    heard = set()
    for seed in range(sample(5, 0.4)):
        for full, told, before in replies(
            TerminalGame(variant, RandomPolicy(variant), players - 1, seed)
        ):
            assert told.startswith(full)
            heard.add((int(before.mover), told.split()[0]))
    others = range(players - 1)
    assert {(seat, verb) for seat in others for verb in ("play", "tell")} <= heard


def test_the_card_just_drawn_is_named():
    game = terminal_game()
    (drawn,) = [line for line in game.news() if "draws" in line]
    assert drawn.startswith("player 0 (you) draws ")
    assert drawn.split()[-1] in game.variant.actions.names


def test_choices_are_numbered_and_found_by_their_numbers():
    game = terminal_game()
    for number, (action, words) in enumerate(game.choices().items(), 1):
        assert game.numbered()[words].split()[0] == str(number)
        assert game.find(str(number)) == action
    for number in ("0", "999", "1" * 5000):
        with pytest.raises(UserError, match="numbered from 1"):
            game.find(number)


@pytest.mark.parametrize("id", hanamachi.VARIANTS)
def test_all_that_is_said_fits_80_columns(id):
    game = terminal_game(opponent="random", id=id)
    script = FirstChoice(game)
    script.hold(game)
    lines = "\n".join([*script.heard, listed([*terminal_game(id=id).numbered().values()])])
    assert max(map(len, lines.splitlines())) <= 80


def test_a_game_ends_with_the_humans_side_at_the_bottom():
    game = terminal_game(seat=1, max_rounds=1)
    FirstChoice(game).hold(game)
    lines = game.uncovered().splitlines()
    assert lines.index(next(line for line in lines if line.startswith("player 1"))) > 5


def test_the_human_hears_how_each_round_and_the_game_ended():
    game = terminal_game(3, max_rounds=2)
    script = FirstChoice(game)
    script.hold(game)
    assert "round 1 is over" in script.text
    assert script.text.count("has won with") or "shared" in script.text


def test_a_finished_round_is_shown_with_its_secrets_before_the_next():
    games = [terminal_game(seed, opponent="random") for seed in range(sample(25, 0.6))]
    ends = [end for game in games for end in ends_of_rounds(game)]
    assert len(ends) > 3
    for number, finished, following in ends:
        lines = finished.splitlines()
        assert lines[0].startswith(f"Hanamikoji · round {number} · turn 8 of 8")
        assert finished.count("■") == 14 + 2
        assert favour(finished) == favour(following)
        theirs, mine = finished.split("player 0 (you)")
        assert "Trade-off   ? ?" in theirs
        assert theirs.count("?") == 2
        assert "?" not in mine


def ends_of_rounds(game):
    """For each round but the last: its number, how it was shown, and the table that followed."""
    while not game.terminated:
        number = int(game.position.round_number)
        if game.my_turn:
            game.act(next(iter(game.choices())))
        else:
            game.reply()
        assert bool(game.round_end) == (not game.terminated and game.position.round_number > number)
        if game.round_end:
            yield number, game.round_end, game.table()


def favour(table):
    return next(line for line in table.splitlines() if "favour" in line)


def test_hints_are_the_opponents_own_probabilities():
    game = terminal_game()
    observation, mask = game.session.observe(0)
    chances, _, _ = game.opponent.distribution(observation[None], mask[None], np.zeros((1, 0)))
    hints = game.hint().choices
    assert 0 < len(hints) <= 5
    assert hints[0][0] == pytest.approx(chances.max(), abs=1e-6)
    assert all(words in game.choices().values() for _, words in hints)


def test_a_network_says_what_it_expects_of_the_position():
    game = terminal_game(opponent="hanamikoji")
    observation, mask = game.session.observe(0)
    memory = game.opponent.initial_memory(1)
    chances, values, _ = game.opponent.distribution(observation[None], mask[None], memory)
    choices, value = game.hint()
    assert value == pytest.approx(values[0], abs=1e-6)
    assert choices[0][0] == pytest.approx(chances.max(), abs=1e-6)
    script = Script("hint")
    script.hold(game)
    assert f"{value:+.2f}  the result that it expects" in script.text


def test_each_reply_can_come_with_what_the_policy_thought():
    game = terminal_game(max_rounds=1)
    script = FirstChoice(game)
    play(game, script.ask, script.heard.append, thoughts=True)
    for who, said, then in zip(*(script.heard[i:] for i in range(3)), strict=False):
        if then.startswith("player 1 (greedy): "):
            assert who.startswith("player 1 (greedy) plays")
            assert all("%" in line for line in said.splitlines())
    assert any(words.startswith("player 1 (greedy): ") for words in script.heard)


def test_the_opponent_is_the_agent_that_ships_unless_another_is_named():
    assert usual_opponent(make_variant("hanamikoji")).name == "hanamikoji"
    assert usual_opponent(make_variant("hanamikoji:eight_suits")).name == "hanamikoji:eight_suits"
    assert usual_opponent(make_variant("hanamikoji-gifts")).name == "expert"


class Torn(RandomPolicy):
    """As likely plays the first legal action as any other."""

    def distribution(self, observation, mask, memory):
        chances = np.where(mask, 1.0, 0.0)
        chances[np.arange(len(mask)), mask.argmax(1)] += mask.sum(1)
        return (chances / chances.sum(1, keepdims=True)).astype(np.float32), None, memory


@pytest.mark.parametrize(("id", "surely"), [("hanabi:2p", True), ("hanamikoji", False)])
def test_a_partner_plays_its_most_probable_action_and_a_rival_draws(id, surely, monkeypatch):
    variant, taken = make_variant(id, starter=0), []
    monkeypatch.setattr(TerminalGame, "step", lambda game, action: taken.append(action))
    games = [TerminalGame(variant, Torn(variant), seat=1, seed=seed) for seed in range(20)]
    for game in games:
        game.reply()
    first = [game.session.observe(0)[1].argmax() for game in games]
    agreeing = sum(a == b for a, b in zip(first, taken, strict=True))
    assert agreeing == 20 if surely else 0 < agreeing < 20


def test_the_humans_moves_cost_a_search_that_remembers_nothing_no_time(monkeypatch):
    game = terminal_game(opponent="search:mcts:worlds=1")
    asked = []
    monkeypatch.setattr(game.opponent, "distribution", lambda *seen: asked.append(seen))
    while game.my_turn:
        game.act(next(iter(game.choices())))
    assert asked == []


def test_after_the_game_the_moves_that_lost_most_are_told():
    game = terminal_game(max_rounds=1)
    script = FirstChoice(game)
    script.ask = lambda prompt: "r" if game.terminated else FirstChoice.ask(script, prompt)
    script.hold(game)
    told = script.heard[-1].splitlines()
    mine = [game.variant.actions.describe(a) for a in game.session.actions]
    losses = [float(part.split()[0]) for part in script.heard[-1].split("expects ")[1:]]
    assert 0 < len(losses) <= 3
    assert losses == sorted(losses, reverse=True)
    assert max(map(len, told)) <= 80
    assert any(words in script.heard[-1] for words in mine)


def test_a_game_can_be_left_and_its_record_kept():
    game = terminal_game()
    words = next(iter(game.choices().values()))
    assert not Script(words, "quit").hold(game)
    again = replay(record_of(game.session))
    assert again.state().tobytes() == game.session.state().tobytes()


@pytest.mark.parametrize(("lines", "moved"), [(["q"], 1), (["", "quit"], 2)])
def test_an_opponent_that_fails_is_asked_again_or_the_game_is_left(lines, moved):
    variant = make_variant("hanamikoji", starter=0)
    game = TerminalGame(variant, FailsOnce(variant))
    script = Script(next(iter(game.choices().values())), *lines)
    assert not script.hold(game)
    assert "Not yet." in script.heard
    assert len(game.session.actions) == moved


def test_a_line_that_is_too_long_does_not_end_a_game_whose_opponent_failed(monkeypatch):
    variant = make_variant("hanamikoji", starter=0)
    game = TerminalGame(variant, FailsOnce(variant))
    lines = [next(iter(game.choices().values())), "x" * 2 * LINE, "", "quit"]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))
    assert not play(game, ask, lambda words: None)
    assert len(game.session.actions) == 2


def test_the_name_of_a_policy_that_fails_is_told_as_it_is_written():
    game = terminal_game(opponent="greedy")
    game.opponent.name = "process:nope"
    for words, said in (
        ("process:nope ended", "process:nope ended."),
        ("your choices", "Your choices."),
    ):
        assert sentence(UserError(words), game.opponent.name) == said


class FailsOnce(RandomPolicy):
    failed = False

    def distribution(self, observation, mask, memory):
        if not self.failed:
            self.failed = True
            raise UserError("not yet")
        return super().distribution(observation, mask, memory)


def test_a_seat_that_does_not_exist_is_refused():
    with pytest.raises(UserError, match="from 0 to 1"):
        terminal_game(seat=2)
    with pytest.raises(UserError, match="from 0 to 4, not 5"):
        terminal_game(seat=5, opponent="random", id="hanabi:5p")


# --- In a real terminal


@pytest.fixture
def terminal(tmp_path):
    """`hanamachi play` in a terminal of its own, and the file that it records to."""
    children = []

    def start(*arguments):
        record = tmp_path / "game.json"
        command = ["-m", "hanamachi.training.cli.main", "play", "hanamikoji", "--seed", "3"]
        command += ["--set", "starter=0", "--set", "max_rounds=1", "--record", str(record)]
        child = in_terminal(sys.executable, [*command, *arguments], timeout=60, echo=False)
        children.append(child)
        return child, record

    yield start
    for child in children:
        child.close(force=True)


def test_in_a_terminal_mistakes_are_forgiven_and_quit_saves(terminal):
    child, record = terminal()
    child.expect("Your choices")
    for line, answer in (
        ("gift", "lists them"),
        ("sercet 5", "not open to you now"),
        ("? secret", "secret"),
        ("hint", "%"),
    ):
        child.expect("> ")
        child.sendline(line)
        child.expect(answer)
    child.expect("> ")
    child.sendline("quit")
    child.expect("Goodbye")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 0
    assert load(record).actions == ()


def test_in_a_terminal_a_whole_game_is_played_and_recorded(terminal):
    child, record = terminal("--opponent", "random")
    while child.expect(["\r\n> ", "You have won", "You have lost", "is a draw"]) == 0:
        child.sendline("1")
    child.expect("leaves the game")
    child.sendline("")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 0
    played = load(record)
    assert replay(played).mover < 0


def test_in_a_terminal_interrupting_saves_and_ends_with_130(terminal):
    child, record = terminal()
    child.expect("> ")
    child.sendintr()
    while child.expect(["interrupted", pexpect.TIMEOUT], timeout=2):
        child.sendintr()  # the prompt was shown a moment before the terminal listened
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 130
    assert load(record).actions == ()
