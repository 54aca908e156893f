"""The table of targets: everything that users can give."""

import bases
import checkpoint_cases
import liar_cases
import memory_cases
import name_cases
import onnx_cases
import saved_game_cases
import settings_cases
import state_cases
from harness import Target

from hanamachi.games.registry import GAMES

TARGETS = {
    "checkpoints": Target(
        checkpoint_cases.draw, checkpoint_cases.load_and_play, 10_000, bases.checkpoints
    ),
    "onnx": Target(onnx_cases.draw, onnx_cases.load_and_play, 5_000, bases.onnx_files),
    "settings": Target(settings_cases.draw, settings_cases.read_and_try, 10_000, bases.checkpoints),
    "saved_games": Target(
        saved_game_cases.draw, saved_game_cases.load_and_replay, 10_000, bases.saved_games
    ),
    **{f"states_{game}": Target(state_cases.of(game), state_cases.use, 5_000) for game in GAMES},
    "memories": Target(memory_cases.draw, memory_cases.use, 1_000),
    "names": Target(name_cases.draw_name, name_cases.load_and_play, 1_000, bases.onnx_files),
    "commands": Target(name_cases.draw_command, name_cases.run_command, 1_000, bases.all_files),
    "liars": Target(liar_cases.draw, liar_cases.use, 2_000),
}
