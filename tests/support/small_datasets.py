"""Small datasets, as several files of tests want them."""

from pathlib import Path

from small_games import GIFTS

from hanamachi.training.dataset import make

SMALL = {  # id -> options with which a game is short
    "hanamikoji": GIFTS,
    "geishas_road:advanced": {
        "colours": 2,
        "item_values": [1, 2, 3, 4],
        "actions": ["reveal", "gift"],
    },
    "hanabi:2p": {"colours": 2, "ranks": 3, "hand_size": 3, "max_clues": 3},
}
JUDGES = {
    "hanamikoji": "search:improve:expert:worlds=4",
    "geishas_road:advanced": "search:improve:expert:worlds=4",
    "hanabi:2p": "search:single_agent:expert:worlds=4,hands=20",
}


def made(folder: Path, game: str = "hanamikoji", games: int = 8, **how) -> Path:
    """The folder of a dataset, by `expert` unless `how` names others."""
    policies = how.pop("policies", ["expert"])
    make(game, policies, games, folder, **SMALL[game], **how)
    return folder


def content(folder: Path) -> dict[str, bytes]:
    """All files in a folder, by name, hidden ones included."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }
