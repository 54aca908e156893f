"""What a language model is told: the rules, with the options of its own game."""

import pytest

from hanamachi.games.registry import VARIANTS
from hanamachi.games.registry import variant as make_variant
from hanamachi.sessions.prompts import rules_prompt

GAMES = [
    ("hanamikoji", {}),
    ("hanamikoji:three_rounds", {}),
    ("hanamikoji:three_rounds", {"limit_rule": "charm"}),
    ("hanamikoji:eight_suits", {}),
    ("hanabi:2p", {}),
    ("hanabi:5p", {}),
    ("hanabi:2p", {"strikeout_score": "fireworks"}),
    ("hanabi:2p", {"max_errors": 1, "max_clues": 3, "allow_empty_hints": True, "ranks": 3}),
    ("geishas_road:2021", {}),
    ("geishas_road:standard", {}),
    ("geishas_road:advanced", {"counter_own": False}),
]


@pytest.mark.parametrize("id", VARIANTS)
def test_the_rules_name_the_game_and_each_option_with_its_value_and_meaning(id):
    variant = make_variant(id)
    told = rules_prompt(variant, 0)
    assert id in told
    for name, value in variant.options.items():
        assert f"{name}={value}: {variant.game.options[name]}" in told


def test_games_with_other_rules_are_told_apart():
    told = [rules_prompt(make_variant(id, **options), 0) for id, options in GAMES]
    assert len(set(told)) == len(GAMES)


@pytest.mark.parametrize("id", VARIANTS)
def test_the_rules_are_for_players_and_end_in_who_the_reader_is(id):
    told = rules_prompt(make_variant(id), 1)
    for word in ("<!--", "rules.py", "\n\n\n", "Observation"):
        assert word not in told
    assert told.endswith("You are player 1.")
