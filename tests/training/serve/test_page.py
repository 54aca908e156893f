"""The page of `hanamachi serve` in a real Chromium."""

import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from browsers import (
    Browser,
    Server,
    browsers,
    by_keys,
    by_mouse,
    by_words,
    focus_is_in,
    move,
    my_turn,
    needs_chromium,
    number,
    over,
    play,
    press,
    until,
)
from samples import WHOLE
from selenium.webdriver.common.keys import Keys

from hanamachi.games.registry import GAMES, VARIANTS, variant
from hanamachi.limits import SOCKETS_OF_A_SEAT
from hanamachi.sessions.notation import notation
from hanamachi.sessions.saved_games import record_of
from hanamachi.sessions.session import Session

WIDE, NARROW = 1280, 390
in_full = pytest.mark.skipif(not WHOLE, reason="a browser takes long; make verify runs it")
FAILS_ONCE = """
import json, os, sys
asked = __file__ + ".asked"
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready"}), flush=True)
    if message["type"] == "move":
        first, _ = not os.path.exists(asked), open(asked, "w").close()
        print(json.dumps({"action": -1 if first else message["choose_from"][0]}), flush=True)
"""
FAILURE = ".failure:not([hidden])"
LOOKS = [(WIDE, False), (NARROW, True), (WIDE, True), (NARROW, False)]  # width, dark


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    needs_chromium()
    running = Server(tmp_path_factory.mktemp("tables"))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def window(server: Server) -> Iterator[Browser]:
    with browsers(server.address) as (browser,):
        yield browser


@pytest.fixture
def browser(window: Browser) -> Iterator[Browser]:
    """A window whose console shows no error in the test."""
    window.look(WIDE)
    yield window
    assert not window.problems()


def begin(browser: Browser, game: str) -> None:
    """One click on the first screen starts a game."""
    browser.open()
    browser.click(f".card:first-child .game img[src$='{game}.svg']")
    browser.element(".picture svg")


def open_table(browser: Browser, game: str, *seats: str, **options: Any) -> dict[str, str]:
    """A table as the page asks for it; returns the keys of its seats, or that of who watches."""
    ask = """
        const [game, seats, options, done] = arguments;
        fetch("/api/tables", {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ game, options, seats, seed: null }),
        }).then((answer) => answer.json()).then(done);
    """
    opened = browser.driver.execute_async_script(ask, game, list(seats), options)
    return opened["keys"] or {"watch": opened["watch"]}


def keep_lines(browser: Browser, later: str = "") -> None:
    """The page's sockets are in `lines`; JavaScript makes all `later` ones but the first.

    `last` is the last message that came.
    """
    browser.script(f"""
        window.lines = [];
        const Line = window.WebSocket;
        window.WebSocket = function (address) {{
          const line = lines.length ? later(address) : new Line(address);
          if (!lines.length) line.addEventListener("message", ({{ data }}) => (window.last = data));
          lines.push(line);
          return line;
        }};
        window.WebSocket.OPEN = Line.OPEN;
        function later(address) {{ {later} }}
    """)


def count_words(browser: Browser, selector: str) -> None:
    """`said` counts how often the words in an element are set."""
    browser.script(
        """
        window.said = 0;
        const counter = new MutationObserver((changes) => (window.said += changes.length));
        counter.observe(document.querySelector(arguments[0]), { childList: true, subtree: true });
        """,
        selector,
    )


def hold_answers(browser: Browser) -> None:
    """Answers of the server wait until `release`; `asked` counts the requests."""
    browser.script("""
        const ask = window.fetch;
        const released = new Promise((release) => (window.release = release));
        window.asked = 0;
        window.fetch = (...request) => {
          window.asked += 1;
          return ask(...request).then((answer) => released.then(() => answer));
        };
    """)


def release(browser: Browser) -> None:
    """Let the answers come, and the page do with them what it does."""
    browser.driver.execute_async_script("window.release(); setTimeout(arguments[0], 300);")


# --- Play


# in make test the first game is played by keys alone, below
@pytest.mark.parametrize(
    "game", [pytest.param(name, marks=in_full) if name == "hanamikoji" else name for name in GAMES]
)
def test_one_click_starts_a_game_that_can_be_played_by_mouse(browser: Browser, game: str) -> None:
    begin(browser, game)
    play(browser, by_mouse, Random(1))
    assert browser.words(".end h2")


@pytest.mark.parametrize("game", list(GAMES) if WHOLE else ["hanamikoji"])
def test_a_game_can_be_played_by_keys_alone(browser: Browser, game: str) -> None:
    begin(browser, game)
    play(browser, by_keys, Random(1))
    assert browser.words(".end h2")


def test_the_keyboard_stays_among_the_choices_when_its_button_closes(browser: Browser) -> None:
    show_panel(browser, *[f"a{other}" for other in "abcdefg"])  # each has an `a`, one has two
    for key in (Keys.ENTER, Keys.ARROW_LEFT, Keys.ENTER):  # choose one `a`, then take it back
        press(browser, key)
        assert focus_is_in(browser, ".choice .groups")


def test_the_keyboard_stays_at_undo_while_there_is_more_to_undo(browser: Browser) -> None:
    show_panel(browser, *map("".join, combinations("abcdef", 3)))
    for _ in range(2):
        browser.click(".groups .piece[aria-pressed=false]")
    browser.script("document.querySelector('.confirm button:last-child').focus()")
    for left in (1, 0):
        press(browser, Keys.ENTER)
        assert len(browser.elements(".groups [aria-pressed=true]")) == left
        assert focus_is_in(browser, ".confirm" if left else ".choice .groups")


def show_panel(browser: Browser, *actions: str) -> None:
    """A panel alone, with actions of these cards, and the keyboard in it."""
    browser.open()
    legal = [
        {"action": number, "pieces": [f"card:{card}" for card in cards], "words": str(number)}
        for number, cards in enumerate(actions)
    ]
    script = """
        const [legal, done] = arguments;
        import("/page/panel.js").then(({ Panel }) => {
          const panel = new Panel(() => {}, () => {}, () => null);
          document.querySelector("main").replaceChildren(panel.element);
          panel.offer(legal, {});
          panel.focusFirst();
          done();
        });
    """
    browser.driver.execute_async_script(script, legal)


def test_the_keyboard_stays_in_the_panel_from_turn_to_turn_and_goes_on_to_the_end(
    browser: Browser,
) -> None:
    browser.open()
    keys = open_table(browser, "hanamikoji", "human", "greedy", max_rounds=1)
    browser.open(f"#seat={keys['0']}")
    while not over(browser):
        move(browser, confirm_by_key, Random(1))
        until(lambda: my_turn(browser) or over(browser), "the turn")
        assert focus_is_in(browser, ".end" if over(browser) else ".choice")


def confirm_by_key(browser: Browser, rng: Random) -> None:
    choose_first(browser)
    browser.element(".confirm .main").send_keys(Keys.ENTER)


def choose_first(browser: Browser) -> None:
    """Choose the first pieces that are open, until a single action is left."""
    browser.script("""
        const first = ".groups button:not(.away)[aria-pressed=false]";
        const confirm = document.querySelector(".confirm .main");
        while (confirm.disabled) document.querySelector(first).click();
    """)


def test_a_choice_stays_while_others_come_and_go(browser: Browser) -> None:
    browser.open()
    keys = open_table(browser, "hanamikoji", "human", "human", starter=0)
    browser.open(f"#seat={keys['0']}")
    browser.click(".groups button")
    browser.element("#notation").send_keys("secr")
    come = "window.other = new WebSocket(`ws://${location.host}/ws?key=${arguments[0]}`)"
    browser.script(come, keys["1"])
    until(lambda: "not here" not in browser.words(".players"), "the other player")
    browser.script("other.close()")
    until(lambda: "not here" in browser.words(".players"), "the other player's leave")
    assert browser.elements(".groups [aria-pressed=true]")
    assert browser.element("#notation").get_attribute("value") == "secr"


def test_a_choice_can_be_confirmed_again_when_the_line_was_lost(browser: Browser) -> None:
    browser.open()
    browser.script("""
        window.lines = [];
        const Line = window.WebSocket;
        window.WebSocket = class extends Line {
          constructor(address) {
            super(address);
            lines.push(this);
          }
          send(message) {
            if (this !== lines[0]) super.send(message); // nothing arrives on the first line
          }
        };
    """)
    keys = open_table(browser, "hanabi:2p", "human", "expert", starter=0)
    browser.script("location.hash = `seat=${arguments[0]}`", keys["0"])
    until(lambda: my_turn(browser), "the turn")
    browser.button("Hint").click()
    assert browser.words(".hints p") == "Thinking …"
    choose_first(browser)
    browser.click(".confirm .main")
    assert not browser.elements(".confirm .main:enabled")
    browser.script("lines[0].close()")
    browser.click(".confirm .main:enabled")
    until(lambda: number(browser) > 0, "the answer to a choice")
    assert not any(hint.is_displayed() for hint in browser.elements(".hints"))


def test_a_seat_that_is_refused_in_its_turn_says_why_and_offers_nothing(browser: Browser) -> None:
    browser.open()
    keep_lines(browser, later="return new Line(`${address}x`);")  # no such seat
    sit_down(browser)
    browser.script("lines[0].close()")
    until(lambda: "not valid" in browser.words(".table .notice"), "the reason")
    assert not browser.button("Hint").is_enabled()
    assert not browser.elements(".picture .open")


def test_nothing_is_sent_before_the_connection_shows_the_game(browser: Browser) -> None:
    browser.open()
    keep_lines(
        browser, later="return { readyState: 1, close() {}, send() { window.sent = true; } };"
    )
    sit_down(browser)
    browser.script("lines[0].close()")
    until(lambda: browser.script("return lines.length") == 2, "another connection")
    browser.button("Hint").click()
    assert browser.words(".choice .refusal")
    assert not browser.script("return window.sent")


def test_a_lost_connection_is_told_once(browser: Browser) -> None:
    browser.open()
    keep_lines(
        browser,
        later="""
        const line = { close() {} };
        setTimeout(() => line.onclose({ code: 1006 }));
        return line;
        """,
    )
    sit_down(browser)
    count_words(browser, ".notice")
    browser.script("lines[0].close()")
    again = "dispatchEvent(new Event('online')); return lines.length"
    until(lambda: browser.script(again) > 3, "some attempts")
    assert browser.words(".notice")
    assert browser.script("return said") == 1


def sit_down(browser: Browser) -> None:
    """Come to a table, without another page, where it is one's turn."""
    keys = open_table(browser, "hanamikoji", "human", "greedy", starter=0)
    browser.script("location.hash = `seat=${arguments[0]}`", keys["0"])
    until(lambda: my_turn(browser), "the turn")


def test_a_browser_that_finds_a_seat_full_waits_until_it_is_not(browser: Browser) -> None:
    browser.open()
    keys = open_table(browser, "hanamikoji", "human", "human")
    fill = """
        const [key, count, done] = arguments;
        const others = Array.from({ length: count }, () => {
          const other = new WebSocket(`ws://${location.host}/ws?key=${key}`);
          return new Promise((seated) => (other.onmessage = () => seated(other)));
        });
        Promise.all(others).then((seated) => done((window.others = seated).length));
    """
    browser.driver.execute_async_script(fill, keys["0"], SOCKETS_OF_A_SEAT)
    browser.script("location.hash = `seat=${arguments[0]}`", keys["0"])
    assert "too many browsers" in browser.words(".table .notice").lower()
    browser.script("for (const other of others) other.close()")
    browser.element(".picture svg")
    assert not any(notice.is_displayed() for notice in browser.elements(".notice"))


def test_a_browser_has_one_connection_when_the_old_one_closes_late(browser: Browser) -> None:
    browser.open()
    script = """
        const done = arguments[0];
        const opened = [];
        const Line = window.WebSocket;
        window.WebSocket = class {
          static OPEN = 1;
          readyState = 2; // it closes
          constructor() { opened.push(this); }
          close() {}
        };
        import("/page/connection.js").then(({ Connection }) => {
          const connection = new Connection("key", () => {}, () => {});
          dispatchEvent(new Event("online"));
          opened[0].onclose?.({ code: 1006 });
          setTimeout(() => {
            connection.close();
            window.WebSocket = Line;
            done(opened.length);
          }, 600);
        });
    """
    assert browser.driver.execute_async_script(script) == 2


def test_a_second_click_opens_no_second_table(browser: Browser) -> None:
    browser.open()
    browser.element(".card .game")
    hold_answers(browser)
    browser.click(".card:first-child .game")
    assert browser.words(".card:first-child [role=status]")
    assert not browser.elements(".card:first-child button:enabled")
    browser.script("document.querySelector('.card .game').click()")
    assert browser.script("return asked") == 1
    browser.script("location.hash = 'elsewhere'")
    until(lambda: browser.elements(".home .cards > p"), "another first screen")
    release(browser)
    assert browser.place == "#elsewhere"
    browser.element(".card .game")


def test_a_table_that_cannot_be_opened_can_be_tried_again(browser: Browser) -> None:
    browser.open()
    game = browser.element(".card .game")
    browser.script("window.ask = window.fetch; window.fetch = () => Promise.reject()")
    game.send_keys(Keys.ENTER)
    assert browser.words(".card:first-child .refusal")
    assert focus_is_in(browser, ".game")
    browser.script("window.fetch = window.ask")
    press(browser, Keys.ENTER)
    browser.element(".picture svg")
    assert focus_is_in(browser, "main")


@in_full
def test_a_game_can_be_played_by_typing_and_begun_again(browser: Browser) -> None:
    begin(browser, "hanamikoji")
    play(browser, by_words, Random(1))
    browser.button("New game").click()
    until(lambda: not over(browser), "another game")
    move(browser, by_words, Random(1))


@in_full
def test_words_that_are_no_choice_are_refused_and_change_nothing(browser: Browser) -> None:
    begin(browser, "hanamikoji")
    until(lambda: my_turn(browser), "the turn")
    before = number(browser)
    browser.element("#notation").send_keys("gift everything\n")
    assert browser.words(".choice .refusal")
    assert number(browser) == before
    move(browser, by_mouse, Random(1))


@in_full
def test_a_choice_can_be_taken_back_until_it_is_confirmed(browser: Browser) -> None:
    browser.open()
    keys = open_table(browser, "hanamikoji", "human", "greedy", starter=0)
    browser.open(f"#seat={keys['0']}")
    browser.click("[data-piece^='use:'].open")
    assert browser.elements(".picture .chosen")
    browser.driver.switch_to.active_element.send_keys("\ue00c")  # Escape
    until(lambda: not browser.elements(".groups [aria-pressed=true]"), "nothing chosen")
    before = number(browser)
    move(browser, by_mouse, Random(1))
    assert number(browser) > before


@in_full
def test_a_hint_can_be_chosen(browser: Browser) -> None:
    begin(browser, "hanamikoji")
    until(lambda: my_turn(browser), "the turn")
    browser.button("Hint").click()
    browser.click(".bars button")
    before = number(browser)
    browser.click(".confirm .main:enabled")
    until(lambda: number(browser) != before, "the answer to a choice")


@in_full
def test_the_rules_are_at_hand(browser: Browser) -> None:
    begin(browser, "hanabi")
    browser.button("Rules").click()
    assert browser.words("dialog h1")
    browser.button("Close").click()
    until(lambda: not browser.elements("dialog"), "the table")


def test_only_tables_with_links_to_send_make_room_for_each_other(browser: Browser) -> None:
    browser.open()
    script = """
        const done = arguments[0];
        import("/page/invitations.js").then(({ rememberSeats, invitations }) => {
          rememberSeats({ 0: "mine", 1: "theirs" });
          for (let table = 0; table < 20; table += 1) {
            rememberSeats({}); // watched
            rememberSeats({ 0: `alone ${table}` });
          }
          done(Boolean(invitations("mine")));
        });
    """
    assert browser.driver.execute_async_script(script)


@in_full
def test_two_browsers_play_hanabi_together(server: Server) -> None:
    with browsers(server.address, 2) as (first, second):
        first.open()
        first.click(".card:first-child summary")
        choose_option(first, "#play-game", "hanabi")
        choose_option(first, "#play-seat-1", "human")
        first.click(".card:first-child form .main")
        second.driver.get(first.element(".invitations a").get_attribute("href"))
        rng = Random(1)
        while not over(first):
            mover = until(lambda: next(filter(my_turn, (first, second)), None), "a turn")
            move(mover, by_mouse, rng)
            other = second if mover is first else first
            until(lambda: number(other) == number(mover), "the other browser")  # noqa: B023
        assert over(second)
        assert first.words(".end") == second.words(".end")
        assert not first.problems() + second.problems()


def test_a_list_whose_default_is_none_can_be_typed(browser: Browser) -> None:
    browser.open()
    browser.click(".card:first-child summary")
    choose_option(browser, "#play-game", "geishas_road")
    choose_option(browser, "#play-variant", "geishas_road:standard")
    choose_option(browser, "#play-seat-1", "expert")  # the agent plays by the usual options alone
    browser.click(".card:first-child form summary")
    field = browser.element("#play-option-prestige_tokens")
    field.clear()
    field.send_keys("1 1 1 2 2 2 3 3 3")
    browser.click(".card:first-child form .main")
    assert browser.element(".picture svg")


def choose_option(browser: Browser, selector: str, value: str) -> None:
    browser.click(f"{selector} option[value='{value}']")


@in_full
def test_a_browser_comes_back_to_its_game_when_the_server_does(tmp_path: Path) -> None:
    needs_chromium()
    server = Server(tmp_path)
    try:
        with browsers(server.address) as (browser,):
            begin(browser, "hanamikoji")
            move(browser, by_mouse, Random(1))
            until(lambda: my_turn(browser), "the turn")
            before = number(browser), browser.words(".headline")
            server.stop()
            assert browser.words(".table .notice")
            server.start()
            until(lambda: not any(e.is_displayed() for e in browser.elements(".notice")), "a line")
            assert (number(browser), browser.words(".headline")) == before
            move(browser, by_mouse, Random(1))
    finally:
        server.stop()


@in_full
def test_a_link_that_opens_no_seat_says_so(browser: Browser) -> None:
    browser.open("#seat=nothing")
    assert browser.words(".notice")
    until(lambda: not any(e.is_displayed() for e in browser.elements("#choice")), "no choice")


@in_full
def test_a_policy_that_failed_can_be_asked_again(tmp_path: Path) -> None:
    needs_chromium()
    bot = tmp_path / "bot.py"
    bot.write_text(FAILS_ONCE, encoding="utf-8")
    spec = f"process:{sys.executable} {bot}"
    running = Server(tmp_path / "tables", spec)
    try:
        with browsers(running.address) as (browser,):
            browser.open()
            name = f"{Path(sys.executable).name} bot.py (policy 1)"
            keys = open_table(browser, "hanamikoji", "human", name)
            browser.open(f"#seat={keys['0']}")
            until(lambda: browser.elements(FAILURE) or act(browser), "the failure")
            browser.button("Ask again").click()
            until(lambda: my_turn(browser), "the answer of the policy")
            assert not browser.elements(FAILURE)
            assert not browser.problems()
    finally:
        running.stop()


def test_a_failure_is_told_once_and_keeps_the_keyboard_until_it_is_over(browser: Browser) -> None:
    browser.open()
    keep_lines(browser)
    sit_down(browser)
    show = """
        const position = { ...JSON.parse(last), failed: arguments[0] };
        lines[0].onmessage({ data: JSON.stringify(position) });
    """
    browser.script(show, "player 1 did not move")
    count_words(browser, ".failure")
    browser.script("document.querySelector('.failure button').focus()")
    browser.script(show, "player 1 did not move")  # as when others come and go
    assert browser.script("return said") == 0
    assert focus_is_in(browser, ".failure")
    browser.script(show, None)
    assert focus_is_in(browser, ".choice")


def act(browser: Browser) -> None:
    if my_turn(browser):
        move(browser, by_mouse, Random(1))


# --- Watch


@in_full
def test_watching_can_run_pause_and_go_step_by_step(browser: Browser) -> None:
    browser.open()
    browser.click(".card:nth-child(2) .game")
    browser.element(".picture svg")
    for expected in (1, 2):
        browser.button("Step").click()
        until(lambda: number(browser) == expected, "a step")  # noqa: B023
    choose_option(browser, "#speed", "120")
    browser.button("Play").click()
    until(lambda: over(browser), "the end")


def test_nothing_can_run_before_the_first_position(browser: Browser) -> None:
    browser.open()
    script = """
        const done = arguments[0];
        import("/page/pacer.js").then(({ Pacer }) => {
          const pacer = new Pacer(() => {});
          const enabled = () => pacer.element.querySelectorAll("button:enabled").length;
          const before = enabled();
          pacer.moved(true);
          done([before, enabled()]);
        });
    """
    assert browser.driver.execute_async_script(script) == [0, 2]


# --- Replay and review


@pytest.fixture(scope="module")
def game(server: Server) -> str:
    """A game of some moves, as its text."""
    session = Session(variant("hanamikoji"))
    session.begin(seed=1)
    for _ in range(4):
        _, mask = session.observe(session.mover)
        session.step(int(mask.argmax()))
    return notation(record_of(session))


def open_replay(browser: Browser, text: str) -> str:
    """The place of a replay, which the page shows."""
    browser.open()
    browser.element("#record")
    browser.script("document.querySelector('#record').value = arguments[0]", text)
    browser.click(".card:last-child form .main")
    browser.element(".picture svg")
    return browser.place


def test_a_replay_that_was_left_changes_nothing_any_more(browser: Browser, game: str) -> None:
    place = open_replay(browser, game)
    choose_option(browser, "#speed", "120")
    hold_answers(browser)
    browser.button("Play").click()
    browser.script("location.hash = 'elsewhere'")
    browser.script("location.hash = arguments[0]", place)
    browser.script("location.hash = 'home'")
    until(lambda: browser.elements(".home"), "the first screen")
    asked = browser.script("return asked")
    release(browser)
    assert browser.element(".card .game")
    assert not browser.elements(".slide")
    assert (browser.place, browser.driver.title) == ("#home", "Hanamachi")
    assert browser.script("return asked") == asked


def test_a_replay_stops_when_the_server_does_not_answer(browser: Browser, game: str) -> None:
    open_replay(browser, game)
    browser.script("window.fetch = () => Promise.reject()")
    browser.button("Play").click()
    until(lambda: "does not answer" in browser.words(".status"), "what is wrong")
    assert browser.button("Play")


def test_an_old_request_that_fails_changes_nothing(browser: Browser, game: str) -> None:
    open_replay(browser, game)
    browser.script("""
        const ask = window.fetch;
        window.fetch = () => new Promise((_, reject) => (window.fail = reject));
        document.querySelector("[aria-label='One move on']").click();
        window.fetch = ask;
        document.querySelector("[aria-label='One move on']").click();
    """)
    until(lambda: "move=2" in browser.place, "the second move")
    browser.driver.execute_async_script("window.fail(); setTimeout(arguments[0], 50);")
    assert "does not answer" not in browser.words(".status")


def test_a_link_can_be_copied_where_browsers_have_no_clipboard(browser: Browser, game: str) -> None:
    """As at the address of a computer in the network, which is not https."""
    place = open_replay(browser, game)
    browser.script("""
        Object.defineProperty(navigator, "clipboard", { value: undefined });
        document.addEventListener("copy", ({ target }) => (window.copied = target.value));
    """)
    button = browser.button("Copy a link to this position")
    button.click()
    until(lambda: button.text == "Copied", "a copy")
    assert browser.script("return copied").endswith(place)
    assert focus_is_in(browser, ".quiet")


def test_arrows_move_an_enlarged_picture_and_not_the_game(browser: Browser, game: str) -> None:
    browser.look(NARROW)
    open_replay(browser, game)
    browser.button("Larger picture").click()
    sheet, slider = browser.element(".picture"), browser.element(".slide input")
    wide = "return arguments[0].scrollWidth > arguments[0].clientWidth"
    assert browser.script(wide, sheet)
    sheet.send_keys(Keys.ARROW_RIGHT)
    assert slider.get_attribute("value") == "0"
    browser.look(WIDE)
    assert not browser.script(wide, sheet)


def test_the_keyboard_keeps_its_place_in_a_replay(browser: Browser, game: str) -> None:
    place = open_replay(browser, game)
    browser.script("""
        const moves = [1, 2, 3, 4].map((number) => ({ number, value: 0, best: [], lost: 0 }));
        const review = { policy: "greedy", moves, worst: [2] };
        const ask = window.fetch;
        window.fetch = (path, ...more) =>
          path.endsWith("/review") ? Promise.resolve(Response.json(review)) : ask(path, ...more);
    """)
    come_back(browser, place)
    browser.button("move 2").send_keys(Keys.ENTER)
    until(lambda: "move=1" in browser.place, "the move")
    assert browser.driver.switch_to.active_element.text == "move 2"
    for button in (".slide button:last-child", ".row button:nth-child(2)"):  # one move on, Step
        browser.click(".moves li:nth-child(3) button")
        until(lambda: "move=3" in browser.place, "the third move")
        browser.element(button).send_keys(Keys.ENTER)
        until(lambda: "move=4" in browser.place, "the end")
        assert focus_is_in(browser, ".slide input")


def test_a_link_to_half_a_move_shows_the_move_before(browser: Browser, game: str) -> None:
    place = open_replay(browser, game)
    come_back(browser, place.replace("move=0", "move=1.5"))
    until(lambda: "move=1&" in browser.place, "the first move")


def test_a_review_without_room_is_asked_for_again_until_its_replay_is_left(
    browser: Browser, game: str
) -> None:
    place = open_replay(browser, game)
    browser.script("""
        const [wait, ask] = [window.setTimeout, window.fetch];
        window.setTimeout = (call, pause) => wait(call, pause / 1000);
        window.signals = [];
        window.fetch = (path, how) => {
          if (!path.endsWith("/review")) return ask(path, how);
          signals.push(how.signal);
          const full = Response.json({ error: "too many games" }, { status: 503 });
          return signals.length > 1 ? new Promise(() => {}) : Promise.resolve(full);
        };
    """)
    come_back(browser, place)
    until(lambda: browser.script("return signals.length") == 2, "another request")
    assert not browser.script("return signals[1].aborted")
    browser.script("location.hash = 'home'")
    until(lambda: browser.script("return signals[1].aborted"), "the end of the request")


def come_back(browser: Browser, place: str) -> None:
    """To a place of the page by way of the first screen, without another page."""
    browser.script("location.hash = 'home'")
    browser.element(".card .game")
    browser.script("location.hash = arguments[0]", place)


@in_full
def test_a_game_just_played_can_be_replayed_and_reviewed(browser: Browser) -> None:
    begin(browser, "hanamikoji")
    play(browser, by_mouse, Random(2))
    browser.button("Replay and review").click()
    browser.element(".curve svg")
    browser.click(".moves li:nth-child(3) button")
    until(lambda: "move=3" in browser.place, "the third move")
    assert browser.elements(".bar")
    link, words = browser.place, browser.words(".status")
    browser.open(link)
    until(lambda: browser.words(".status") == words, "the same position")
    browser.element(".slide input").send_keys("\ue014")  # the right arrow
    until(lambda: "move=4" in browser.place, "the next move")
    choose_option(browser, "#view", "1")
    until(lambda: "seat=1" in browser.place, "the other seat")


@in_full
def test_a_saved_game_can_be_opened_from_its_file(browser: Browser, tmp_path: Path) -> None:
    begin(browser, "hanamikoji")
    play(browser, by_words, Random(1))
    browser.button("Replay and review").click()
    record = browser.button("Record").get_attribute("href")
    file = tmp_path / "game.json"
    fetched = "const done = arguments[1]; fetch(arguments[0]).then((a) => a.text()).then(done)"
    file.write_text(browser.driver.execute_async_script(fetched, record))
    browser.open()
    browser.element("#file").send_keys(str(file))
    until(lambda: browser.element("#record").get_attribute("value"), "the file's words")
    browser.click(".card:last-child form .main")
    browser.element(".moves button")


# --- The look


@in_full
@pytest.mark.parametrize("game", list(VARIANTS) if WHOLE else ["hanamikoji"])
@pytest.mark.parametrize(("width", "dark"), LOOKS if WHOLE else LOOKS[:2])
def test_axe_finds_no_serious_fault_and_nothing_is_wider_than_the_window(
    browser: Browser, game: str, width: int, dark: bool
) -> None:
    browser.look(width, dark)
    browser.open()
    browser.element(".card .game")
    for summary in browser.elements(".card summary"):
        browser.script("arguments[0].click()", summary)
    check(browser)
    others = ["greedy"] * (variant(game).seats - 1)
    keys = open_table(browser, game, "human", *others)
    browser.open(f"#seat={keys['0']}")
    until(lambda: my_turn(browser), "the turn")
    browser.button("Hint").click()
    browser.element(".bars button")
    check(browser)
    move(browser, by_mouse, Random(3))
    check(browser)
    play(browser, by_words, Random(3))
    check(browser)
    if (width, dark) in LOOKS[:2]:
        browser.button("Replay and review").click()
        browser.element(".bars .bar")  # a review takes its time
        check(browser)


@in_full
@pytest.mark.parametrize("still", [False, True])
def test_pieces_glide_shortly_and_not_where_the_system_asks_for_rest(
    browser: Browser, still: bool
) -> None:
    browser.look(WIDE, still=still)
    begin(browser, "hanamikoji")
    browser.script("""
        window.durations = [];
        const animate = Element.prototype.animate;
        Element.prototype.animate = function (frames, how) {
          durations.push(how.duration);
          return animate.call(this, frames, how);
        };
    """)
    for _ in range(2):
        move(browser, by_mouse, Random(1))
    until(lambda: my_turn(browser) or over(browser), "the turn")
    durations = browser.script("return durations")
    assert bool(durations) != still
    assert all(duration < 500 for duration in durations)


def check(browser: Browser) -> None:
    assert not browser.faults()
    over = "return document.documentElement.scrollWidth - innerWidth"
    assert browser.script(over) <= 0, "the page is wider than its window"
