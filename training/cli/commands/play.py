"""`hanamachi play`."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from hanamachi.training.cli.options import FORMS, GameId, GameOptions, assignments
from hanamachi.training.cli.terminal import ask, note_if_narrow, say

if TYPE_CHECKING:
    from hanamachi.engine.game import Variant
    from hanamachi.policies.policy import Policy
    from hanamachi.training.cli.terminal_game import TerminalGame


def play(
    game: GameId,
    opponent: Annotated[
        str | None,
        typer.Option(
            help=f"{FORMS}; by default the variant's agent (in Hanabi its :partner), or expert "
            "if there is none."
        ),
    ] = None,
    seat: Annotated[int, typer.Option(help="Your seat.")] = 0,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the game.")] = None,
    record: Annotated[Path | None, typer.Option(help="File to save the game in.")] = None,
    thoughts: Annotated[
        bool,
        typer.Option("--thoughts", help="Show its probabilities, which may reveal its hand."),
    ] = False,
    options: GameOptions = None,
) -> None:
    """Play a game against a policy, or with it, in the terminal."""
    from hanamachi.games.registry import variant as make_variant
    from hanamachi.sessions.saved_games import record_of, save
    from hanamachi.storage.files import refuse_existing
    from hanamachi.training.cli.colours import CardColours
    from hanamachi.training.cli.terminal_game import play

    if record:
        refuse_existing(record)
    variant = make_variant(game, **assignments(options))
    table = ready_game(variant, opponent, seat, seed)
    if record:
        save(record_of(table.session), record)  # fails now if it would fail after the game
    note_if_narrow()
    say(f"{table.opponent.name} plays in all other seats.")
    coloured = CardColours(variant)
    try:
        play(table, ask, lambda words: say(coloured(words)), thoughts)
    finally:
        if record:
            save(record_of(table.session), record)
            say(f"The game is saved; hanamachi replay {quote(str(record))} shows it again.")


def ready_game(
    variant: "Variant", opponent: str | None, seat: int, seed: int | None
) -> "TerminalGame":
    """A game in which the first move neither fails nor waits for code to be compiled."""
    from hanamachi.policies.external.process import ProcessPolicy
    from hanamachi.policies.search.search import Search
    from hanamachi.policies.view_policy import ViewPolicy
    from hanamachi.training.cli.terminal_game import TerminalGame

    policy = opponent_for(variant, opponent)
    game = TerminalGame(variant, policy, seat, seed)
    if isinstance(policy, ProcessPolicy):
        policy.start()  # fails now if it would fail in the game
    if not isinstance(policy, Search | ViewPolicy):  # whose hints take seconds
        game.hint()  # compiles the policy's code before the first move
    return game


def opponent_for(variant: "Variant", opponent: str | None) -> "Policy":
    """The policy that plays in the other seats."""
    from hanamachi.policies import load_policy
    from hanamachi.training.cli.terminal_game import usual_opponent

    if opponent is None:
        return usual_opponent(variant)
    return load_policy(opponent, variant)
