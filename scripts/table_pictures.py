"""The pictures of the table in the browser that README and docs show.

    python scripts/table_pictures.py  # writes assets/table.png and assets/review.png

A server plays a game with itself by hints, in a real Chromium, which must be installed.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from selenium import webdriver
from selenium.webdriver.common.by import By

from hanamachi.engine.contract import OVER
from hanamachi.games.registry import variant
from hanamachi.policies import load_policy
from hanamachi.sessions.notation import notation
from hanamachi.sessions.players import SeatedPlayer, turn_of
from hanamachi.sessions.saved_games import record_of
from hanamachi.sessions.session import Session
from hanamachi.training.serve.own_process import post, serving

ASSETS = Path(__file__).parents[1] / "assets"
WIDTH, HEIGHT, PATIENCE = 1180, 1000, 120.0  # pixels, pixels, seconds
MOVES = 3  # of the person before the picture of a game


@contextmanager
def browser() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    size = f"window-size={WIDTH},{HEIGHT}"
    for argument in ("headless=new", "no-sandbox", "hide-scrollbars", size):
        options.add_argument(f"--{argument}")
    driver = webdriver.Chrome(options)
    try:
        yield driver
    finally:
        driver.quit()


def until(found: Callable[[], Any]) -> Any:
    """What `found` returns once it is true."""
    end = time.monotonic() + PATIENCE
    while not (result := found()):
        if time.monotonic() > end:
            raise SystemExit("the page does not show what was waited for")
        time.sleep(0.1)
    return result


def button(driver: webdriver.Chrome, words: str) -> Any:
    shown = [each for each in driver.find_elements(By.CSS_SELECTOR, "button") if each.text == words]
    return shown[0] if shown and shown[0].is_enabled() else None


def my_turn(driver: webdriver.Chrome) -> bool:
    return bool(driver.find_elements(By.CSS_SELECTOR, ".status.mine"))


def actions(driver: webdriver.Chrome) -> str | None:
    """How many have been taken in the game that is shown."""
    return driver.find_element(By.CSS_SELECTOR, ".table").get_attribute("data-number")


def hint(driver: webdriver.Chrome) -> Any:
    """Ask for a hint at one's turn; returns the button of its best action."""
    until(lambda: my_turn(driver))
    until(lambda: button(driver, "Hint")).click()
    return until(lambda: driver.find_elements(By.CSS_SELECTOR, ".bars button"))[0]


def play(driver: webdriver.Chrome) -> None:
    """Play what the hint says."""
    hint(driver).click()
    before = actions(driver)
    until(lambda: button(driver, "Confirm")).click()
    until(lambda: actions(driver) != before)


def picture_of_a_game(driver: webdriver.Chrome, address: str) -> None:
    seats = ["human", "hanamikoji"]
    table = {"game": "hanamikoji", "options": {"starter": 0}, "seats": seats, "seed": 7}
    driver.get(f"{address}/#seat={post(address, '/api/tables', table)['keys']['0']}")
    for _ in range(MOVES):
        play(driver)
    hint(driver)
    driver.execute_script("scrollTo(0, 0)")
    time.sleep(1)  # until the pieces lie still
    driver.save_screenshot(str(ASSETS / "table.png"))


def played(id: str, policy: str) -> str:
    """A game between two of these policies, in notation."""
    rules = variant(id)
    session, rng = Session(rules), np.random.default_rng(0)
    session.begin(seed=7)
    player = SeatedPlayer(load_policy(policy, id), rules, games=1)
    while session.mover != OVER:
        session.step(int(player.act(turn_of(session), rng)[0]))
    return notation(record_of(session))


def picture_of_a_review(driver: webdriver.Chrome, address: str) -> None:
    game = {"text": played("hanabi:2p", "greedy")}
    driver.get(f"{address}/#replay={post(address, '/api/replays', game)['replay']}&move=12")
    until(lambda: driver.find_elements(By.CSS_SELECTOR, ".curve:not([hidden])"))
    time.sleep(1)
    driver.save_screenshot(str(ASSETS / "review.png"))


def main() -> None:
    with TemporaryDirectory() as folder, serving(folder) as address, browser() as driver:
        picture_of_a_game(driver, address)
        picture_of_a_review(driver, address)


if __name__ == "__main__":
    main()
