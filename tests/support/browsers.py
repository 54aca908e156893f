"""A real Chromium in front of a real `hanamachi serve`, led by mouse, by keys, or by words."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest
from selenium import webdriver
from selenium.common.exceptions import (
    ElementClickInterceptedException,
    StaleElementReferenceException,
)
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

PATIENCE = 120.0  # seconds; a slow computer compiles kernels meanwhile
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
MISSING = "there is no Chromium with its chromedriver: apt-get install chromium chromium-driver"
SERIOUS = ("serious", "critical")

T = TypeVar("T")


def needs_chromium() -> None:
    """Skip the test where there is no browser."""
    if shutil.which("chromedriver") is None or chromium() is None:
        pytest.skip(MISSING)


def chromium() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


def until(found: Callable[[], T], what: str) -> T:
    """What `found` returns once it is true; a page that changes meanwhile is asked again."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            if result := found():
                return result
        except StaleElementReferenceException:
            pass
        time.sleep(0.03)
    raise AssertionError(f"waited in vain for {what}")


# --- The server


class Server:
    """`hanamachi serve` in a process of its own; it can be stopped and started again."""

    def __init__(self, data: Path, *policies: str) -> None:
        self.data, self.policies = data, policies
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        program = [sys.executable, "-m", "hanamachi.training.cli.main", "serve", *self.policies]
        settings = ["--port", str(self.port), "--data", str(self.data)]
        self.process = subprocess.Popen([*program, *settings], stdout=subprocess.DEVNULL)
        until(self._answers, "the server")

    def _answers(self) -> bool:
        assert self.process.poll() is None, "the server has stopped"
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)


# --- The browser


class Browser:
    """One window. `element` and `elements` find what CSS selectors name."""

    def __init__(self, address: str, width: int = 1280, dark: bool = False) -> None:
        self.address = address
        options = webdriver.ChromeOptions()
        options.binary_location = chromium() or ""
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage"):
            options.add_argument(f"--{argument}")
        service = webdriver.ChromeService(shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(options, service)
        self.driver.set_script_timeout(PATIENCE)
        self.look(width, dark)

    def look(self, width: int, dark: bool = False, still: bool = True) -> None:
        """The width of the window, the theme, and whether the system asks for little motion."""
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"},
        ]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def open(self, place: str = "") -> None:
        self.driver.get("about:blank")  # another hash alone would not load the page
        self.driver.get(f"{self.address}/{place}")

    @property
    def place(self) -> str:
        """What follows the server's address."""
        return self.driver.current_url.removeprefix(f"{self.address}/")

    def elements(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def element(self, selector: str) -> WebElement:
        """The first that is shown, once it is."""
        return until(lambda: next(filter(shown, self.elements(selector)), None), selector)

    def click(self, selector: str) -> None:
        until(lambda: self._clicked(selector), f"a click on {selector}")

    def _clicked(self, selector: str) -> bool:
        self.element(selector).click()
        return True

    def button(self, words: str) -> WebElement:
        """The button or the link with these words, once it is there."""

        def found() -> WebElement | None:
            buttons = filter(shown, self.elements("button, a"))
            return next((each for each in buttons if each.text == words), None)

        return until(found, words)

    def words(self, selector: str) -> str:
        return until(lambda: self.element(selector).text, f"words in {selector}")

    def script(self, text: str, *arguments: Any) -> Any:
        return self.driver.execute_script(text, *arguments)

    def problems(self) -> list[str]:
        """What the console has shown of errors and warnings since it was last asked."""
        entries = self.driver.get_log("browser")
        return [each["message"] for each in entries if each["level"] in ("SEVERE", "WARNING")]

    def faults(self) -> list[str]:
        """What axe-core finds serious in the page as it is now."""
        axe = pytest.importorskip("axe_core_python", reason="pip install axe-core-python")
        self.script((files(axe) / "axe.min.js").read_text("utf-8"))
        found = self.driver.execute_async_script(
            "const done = arguments[0]; axe.run().then(({ violations }) => done(violations))"
        )
        return [
            f"{each['id']}: {node['html'][:200]}"
            for each in found
            if each["impact"] in SERIOUS
            for node in each["nodes"]
        ]

    def quit(self) -> None:
        self.driver.quit()


def shown(element: WebElement) -> bool:
    return element.is_displayed()


@contextmanager
def browsers(address: str, count: int = 1) -> Iterator[Sequence[Browser]]:
    """Windows that share nothing."""
    opened: list[Browser] = []
    try:
        for _ in range(count):
            opened.append(Browser(address))
        yield opened
    finally:
        for browser in opened:
            browser.quit()


# --- At the table

Choose = Callable[[Browser, Random], None]


def number(browser: Browser) -> int:
    """How many actions have been taken in the game that is shown."""
    return int(browser.element(".table[data-number]").get_attribute("data-number") or 0)


def over(browser: Browser) -> bool:
    return any(map(shown, browser.elements(".end")))


def my_turn(browser: Browser) -> bool:
    return any(map(shown, browser.elements(".status.mine")))


def move(browser: Browser, choose: Choose, rng: Random) -> None:
    """Wait for the turn, choose, and wait until the server has it; nothing once it is over."""
    until(lambda: my_turn(browser) or over(browser), "the turn")
    if over(browser):
        return
    before = number(browser)
    choose(browser, rng)
    until(lambda: number(browser) != before, "the answer to a choice")


def play(browser: Browser, choose: Choose, rng: Random) -> None:
    """Play to the end."""
    while not over(browser):
        move(browser, choose, rng)


def by_mouse(browser: Browser, rng: Random) -> None:
    """Click pieces in the picture, or buttons where there are none, then Confirm."""
    while not ready(browser):
        pieces = browser.elements(".picture .open:not(.chosen)")
        buttons = browser.elements(".words button, .piece:not(.away)[aria-pressed=false]")
        one = rng.choice(pieces or [each for each in buttons if shown(each)])
        browser.script("arguments[0].scrollIntoView({ block: 'center' })", one)
        with suppress(ElementClickInterceptedException):  # its middle lies under another piece
            one.click()
    browser.click(".confirm .main")


def by_keys(browser: Browser, rng: Random) -> None:
    """Walk to the choice by Tab, among it by arrows, and choose by Enter."""

    def placed() -> bool:
        return ready(browser) or focus_is_in(browser, ".choice .groups")

    walk(browser, placed)
    while not ready(browser):
        for _ in range(rng.randrange(4)):
            press(browser, Keys.ARROW_RIGHT)
        press(browser, Keys.ENTER)
        until(placed, "the keyboard's place among the choices")
    walk(browser, lambda: focus_is_in(browser, ".confirm .main"))
    press(browser, Keys.ENTER)


def walk(browser: Browser, there: Callable[[], bool]) -> None:
    """Press Tab until one is there, at most as often as no page has places to stop at."""
    for _ in range(500):
        if there():
            return
        press(browser, Keys.TAB)
    raise AssertionError("the keyboard does not lead there")


def by_words(browser: Browser, rng: Random) -> None:
    """Type what the field suggests."""
    field = browser.element("#notation")
    field.send_keys(field.get_attribute("placeholder") or "", Keys.ENTER)


def ready(browser: Browser) -> bool:
    """Whether a single action is chosen and waits for Confirm."""
    return bool(browser.elements(".confirm .main:enabled"))


def press(browser: Browser, key: str) -> None:
    browser.driver.switch_to.active_element.send_keys(key)


def focus_is_in(browser: Browser, selector: str) -> bool:
    inside = "return Boolean(document.activeElement.closest(arguments[0]))"
    return bool(browser.script(inside, selector))
