"""Make the datasets that come with the package, one for each game: python scripts/datasets.py

It takes some ten minutes of a processor, and continues where it was stopped.
"""

from hanamachi.training.dataset import make
from hanamachi.training.dataset.read import SHIPPED
from hanamachi.training.evaluation.progress import GamesBar

SEED = 0
GAMES = {  # of `expert`, and who judges its actions
    "hanamikoji": (96, "search:improve:expert:worlds=16"),
    "geishas_road:standard": (48, "search:improve:expert:worlds=8"),
    "hanabi:2p": (48, "search:single_agent:expert:worlds=16,hands=500"),
}


def main() -> None:
    for id, (games, judge) in GAMES.items():
        folder = SHIPPED / id.replace(":", "-")
        with GamesBar() as watch:
            figures = make(id, ["expert"], games, folder, SEED, judge=judge, watch=watch)
        print(f"{id}: {figures.in_words(['expert'])}", flush=True)


if __name__ == "__main__":
    main()
