"""Games in words: prompts hold what a seat may know, and replies in many forms are understood."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import assert_one_sentence
from samples import WHOLE, sample

import hanamachi
from hanamachi import UserError
from hanamachi.adapters.text import PROMPTS, ScriptedModel, TextGame
from hanamachi.policies import load_policy
from hanamachi.sessions.players import SeatedPlayer, turn_of
from hanamachi.sessions.replies import action_named
from hanamachi.sessions.session import Session

# characters of the rules and a turn in games by chance, without the list of actions, by level
LONGEST = {"hanamikoji": 6_500, "geishas_road": 10_500, "hanabi": 7_500}
MORE = {"bare": 0, "deductions": 1_500, "memory": 4_000}

every_variant = pytest.mark.parametrize("id", hanamachi.VARIANTS)


def begun(id="hanamikoji", seed=0, **settings):
    game = TextGame(id, **settings)
    game.reset(seed)
    return game


def play_on(game, rng):
    """A random legal action as a reply."""
    words = list(game.legal().values())
    return game.step(f"<action>{words[rng.integers(len(words))]}</action>")


# --- Replies


@every_variant
def test_every_legal_action_is_understood_by_its_words(id):
    rng = np.random.default_rng(0)
    for seed in range(sample(10, 0.2)):
        game = begun(id, seed)
        while not game.over:
            legal = list(game.legal().items())
            for action, words in legal if WHOLE else legal[:: 1 + len(legal) // 10]:
                assert game.parse(words) == action
            play_on(game, rng)


@pytest.mark.parametrize(
    "reply",
    [
        "{}",
        "I would keep the 5.\n\n<action>{}</action>",
        "<ANSWER> {} </ANSWER>",
        "The best is \\boxed{{{}}}.",
        "\\boxed{{\\text{{{}}}}}",
        '{{"action": "{}"}}',
        'Here it is: {{"thoughts": "secret 2a", "move": "{}"}}',
        "First I thought of a gift.\nAction: {}",
        "**Final answer:** `{}`",
        "After all, {} is best.",
        "Let me think.\n\n{}\n",
        "<action>secret 9</action> no: <action>{}</action>",
        "<action>{}",
        "Not secret 9. <action>{}\nThen I shall see.",
        "It's best to play '{}'; I'm sure.",
        "I play \u201c{}\u201d!",
        "[{}]",
        "So I choose ({}).",
        "<b>{}</b>",
        "- {};",
        '{{"rejected": {{"action": "secret 9"}}, "action": "{}"}}',
        '{{"result": {{"action": "{}"}}}}',
    ],
)
def test_an_answer_is_found_in_prose(reply):
    game = begun("hanamikoji", starter=0)
    for action, words in list(game.legal().items())[::7]:
        assert game.parse(reply.format(words)) == action
        assert game.parse(reply.format(words.upper())) == action


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "pass",
        "secret",
        "<action></action>",
        '{"action": 5}',
        "{" * 1000,
        "secret 9",
        None,
        "\0",
    ],
)
def test_a_reply_without_a_legal_action_is_told_what_to_write(reply):
    game = begun()
    with pytest.raises(UserError, match=r"write one|must be text") as refused:
        game.parse(reply)
    assert_one_sentence(refused.value)


@pytest.mark.parametrize(
    "reply",
    [
        "{} or {}",
        "\\boxed{{{}}}. No, rather \\boxed{{{}}}.",
        "<action>{}</action>, and then <action>{}</action>",
        '{{"action": "{}"}} {{"action": "{}"}}',
        "Action: {}\nAction: {}",
        "`{}` is as good as `{}`.",
        "I considered {}, but it is a waste.\nI choose {}!",
        "\u201c{}\u201d is no better than \u2018{}\u2019.",
        "I could {}, but my move: {}!",
        "({}); ({});",
    ],
)
def test_a_reply_with_two_actions_is_ambiguous(reply):
    game = begun("hanabi:2p")
    with pytest.raises(UserError, match=r"several.*<action>"):
        game.parse(reply.format("play card 1", "play card 2"))
    same = game.parse(reply.format("play card 1", "play card 1"))
    assert game.legal()[same] == "play card 1"


PROSE = st.text(max_size=100).filter(lambda text: "think>" not in text)


@given(PROSE, PROSE, st.integers(0))
def test_an_answer_in_tags_is_found_in_any_prose(before, after, choice):
    game = begun(max_rounds=1)
    words = list(game.legal().values())[choice % len(game.legal())]
    action = game.parse(f"{before}\n<action>{words}</action>\n{after}")
    assert game.legal()[action] == words


def test_a_reply_nested_too_deep_is_only_illegal():
    reply = '{"action": ' + "[" * 5000 + "]" * 5000 + "}"
    assert begun(illegal="random").step(reply).info["illegal"]


def test_an_answer_may_stand_on_the_line_after_its_label():
    game = begun("hanabi:2p")
    other, words = list(game.legal().values())[:2]
    reply = f"I thought of {other}, too.\n**Action**:\n{words}\nAs {other} is a waste."
    assert game.legal()[game.parse(reply)] == words


def test_what_a_model_thinks_is_no_answer():
    game = begun("hanabi:2p")
    words = list(game.legal().values())
    reply = f"<think>perhaps <action>{words[0]}</action></think>\n{words[1]}"
    assert game.legal()[game.parse(reply)] == words[1]


@pytest.mark.parametrize(
    "reply",
    [
        "I won't play card 1. <action>clue nobody</action>",
        "Not play card 1.\nAnswer: clue nobody",
        '{"action": "clue nobody"}, as play card 1 is a waste',
        "<think>Should I play card 1? No, rather",
    ],
)
def test_what_is_only_mentioned_beside_an_answer_is_not_played(reply):
    with pytest.raises(UserError, match="no legal"):
        begun("hanabi:2p").parse(reply)


def test_an_action_is_mentioned_with_its_cards_in_any_order():
    game = begun("hanamikoji", starter=0)
    words = next(words for words in game.legal().values() if words.startswith("gift"))
    verb, *cards = words.split()
    turned = " ".join([verb, *cards[::-1]])
    other = next(words for words in game.legal().values() if words.startswith("secret"))
    assert game.legal()[game.parse(f"So I choose {turned}, I think.")] == words
    with pytest.raises(UserError, match="several"):
        game.parse(f"I thought of {other}, but I choose {turned}, I think.")


def test_a_card_that_lies_face_down_is_another_than_one_that_does_not():
    legal = {1: "take heart", 2: "take (heart)"}
    for action, words in legal.items():
        assert action_named(f"I would ({words}), of course.", legal, str) == action


@given(st.text(max_size=300))
def test_no_reply_breaks_the_game(reply):
    game = begun(illegal="random", max_rounds=1)
    step = game.step(reply)
    assert step.info["action"] is not None
    assert (step.info["illegal"] is None) or len(step.info["illegal"]) <= 300


# --- Illegal replies


def test_an_illegal_reply_is_asked_again_and_then_forfeits():
    game = begun(illegal="retry:2", starter=0)
    for _ in range(2):
        step = game.step("no idea")
        assert (step.seat, step.done, step.reward) == (0, False, 0)
        assert step.info["illegal"] in step.prompt.replace("Your", "your")
    step = game.step("no idea")
    assert (step.seat, step.done, step.reward) == (None, True, -1)
    assert step.info["returns"] == [-1, 1]
    with pytest.raises(UserError, match="reset"):
        game.step("secret 5")


@pytest.mark.parametrize("reply", [None, ["secret 5"], 5, b"secret 5"])
def test_a_reply_that_is_no_text_is_illegal_and_kept_as_an_empty_one(reply):
    game = begun()
    seat = game.session.mover
    assert game.step(reply).info["illegal"]
    assert game.messages(seat)[-2] == {"role": "assistant", "content": ""}


def test_retries_are_counted_anew_after_a_legal_reply():
    game = begun(illegal="retry:1", starter=0)
    rng = np.random.default_rng(0)
    for _ in range(3):
        assert not game.step("no idea").done
        play_on(game, rng)


def test_an_illegal_reply_forfeits_at_once_if_so_wanted():
    assert begun(illegal="forfeit").step("no idea").done
    step = begun("hanabi:3p", illegal="forfeit", starter=1).step("no idea")
    assert step.info["returns"] == [0, -1, 0]


def test_rewards_add_up_to_the_returns_of_a_game_that_was_forfeited():
    game, rng = begun("hanabi:2p", seed=1, illegal="forfeit"), np.random.default_rng(0)
    earned = [0, 0]
    while sum(earned) == 0:  # until the partners have earned something
        step = game.step(str(rng.choice(list(game.legal().values()))))
        earned = [a + b for a, b in zip(earned, step.info["rewards"], strict=True)]
    step = game.step("no idea")
    earned = [a + b for a, b in zip(earned, step.info["rewards"], strict=True)]
    assert earned == step.info["returns"]
    assert sorted(step.info["returns"]) == [-1, 0]


def test_an_illegal_reply_can_be_a_random_action_the_same_for_a_seed():
    first, second = (begun(illegal="random", seed=4).step("no idea") for _ in range(2))
    assert first.info == second.info
    assert first.info["illegal"]


@pytest.mark.parametrize(
    "settings",
    [
        {"prompt": "long"},
        {"prompt": np.array(["bare", "memory"])},
        {"illegal": "retry"},
        {"illegal": "retry:-1"},
        {"illegal": 2},
        {"deck": 3},
        {"seed": "x"},
        {"legal_list": "no"},
    ],
)
def test_settings_that_do_not_exist_are_refused(settings):
    with pytest.raises(UserError):
        TextGame("hanamikoji", **settings)


# --- Prompts


@every_variant
@pytest.mark.parametrize("prompt", PROMPTS)
def test_prompts_are_as_long_as_promised(id, prompt):
    game, rng = TextGame(id, prompt=prompt, legal_list=False), np.random.default_rng(0)
    game.reset(1)
    longest = 0
    while not game.over:
        rules, *_, turn = (message["content"] for message in game.messages(game.session.mover))
        longest = max(longest, len(rules) + len(turn))
        play_on(game, rng)
    assert longest <= LONGEST[game.variant.game.name] + MORE[prompt]


def test_each_level_tells_what_the_one_before_tells():
    games = [begun(prompt=prompt) for prompt in PROMPTS]
    rngs = [np.random.default_rng(0) for _ in games]
    for _ in range(6):
        bare, deductions, memory = (play_on(g, r).prompt for g, r in zip(games, rngs, strict=True))
        table = bare[bare.index("Hanamikoji ·") : bare.index("Your legal")].strip()
        assert table in deductions
        assert "have not seen" in deductions
        assert deductions[deductions.index("Hanamikoji ·") :] in memory
        assert len(bare) < len(deductions)


def test_the_rules_are_told_once_and_messages_take_turns():
    game, rng = begun("hanabi:2p"), np.random.default_rng(0)
    while not game.over:
        play_on(game, rng)
    for seat in range(2):
        messages = game.messages(seat)
        assert messages[0]["role"] == "system"
        assert f"You are player {seat}." in messages[0]["content"]
        roles = [message["role"] for message in messages[1:]]
        assert roles[::2] == ["user"] * len(roles[::2])
        assert roles[1::2] == ["assistant"] * len(roles[1::2])
    assert json.loads(json.dumps(game.messages(0))) == game.messages(0)


def test_a_seed_gives_the_same_prompts():
    assert TextGame("hanamikoji", seed=3).reset() == TextGame("hanamikoji").reset(3)
    assert TextGame("hanamikoji").reset(3) != TextGame("hanamikoji").reset(4)


# --- A policy behind words


@pytest.mark.parametrize("policy", ["random", "greedy"])
def test_a_model_replies_only_in_a_game(policy):
    game = TextGame("hanamikoji", illegal="forfeit")
    model = ScriptedModel(policy, game)
    with pytest.raises(UserError, match="call reset"):
        model.reply()
    game.reset(0)
    while not game.over:
        game.step(model.reply())
    with pytest.raises(UserError, match="call reset"):
        model.reply()
    game.reset(0)
    game.step("no action")
    with pytest.raises(UserError, match="call reset"):
        model.reply()


@every_variant
def test_expert_behind_words_plays_the_same_game(id):
    policy = load_policy("expert", id)
    for seed in range(sample(50, 0.04)):
        direct, game = Session(policy.variant), begun(id, seed)
        direct.begin(seed)
        player, rng = SeatedPlayer(policy, policy.variant, games=1), np.random.default_rng(seed)
        model = ScriptedModel(policy, game, np.random.default_rng(seed))
        returns = np.zeros(policy.variant.seats)
        while not game.over:
            direct.step(int(player.act(turn_of(direct), rng)[0]))
            returns += direct.rewards()
            game.step(model.reply())
        assert direct.mover < 0
        assert game.session.actions == direct.actions
        assert game.returns == returns.tolist()


def test_a_game_without_rules_in_prose_tells_its_title_and_options(monkeypatch, tmp_path):
    monkeypatch.setattr("hanamachi.sessions.prompts.files", lambda package: tmp_path)
    game = begun(max_rounds=3)
    (told, *_) = game.messages(1)
    for words in ("# Hanamikoji", "max_rounds=3", game.variant.game.options["max_rounds"]):
        assert words in told["content"]
    assert told["content"].endswith("You are player 1.")


# --- Seats, and times without a game


def test_what_needs_a_game_says_so_before_there_is_one():
    game = TextGame("hanamikoji", seed=5)
    for call in (game.result, lambda: game.messages(0), lambda: game.parse("secret 5")):
        with pytest.raises(UserError, match="reset"):
            call()
    with pytest.raises(UserError, match="seed"):
        game.reset(-1)
    assert game.reset() == TextGame("hanamikoji", seed=5).reset()


@pytest.mark.parametrize("seat", [-1, 2, 4, None, "0", True])
def test_nobody_reads_for_a_seat_that_is_not_there(seat):
    game = begun("hanabi:2p")
    for call in (game.turn, game.messages):
        with pytest.raises(UserError, match="seat"):
            call(seat)


def test_changing_messages_changes_no_later_prompt():
    game = begun()
    seat = game.session.mover
    told = game.messages(seat)
    told[1]["content"] = "something else"
    assert game.messages(np.int64(seat))[1]["content"] != "something else"


def test_after_a_forfeit_nothing_is_legal():
    game = begun(illegal="forfeit")
    game.step("no idea")
    assert game.legal() == {}
    with pytest.raises(UserError, match="call reset"):
        game.parse("secret 5")
