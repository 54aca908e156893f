// The first screen: play, watch, or review.

import { ask } from "./api.js";
import { h } from "./dom.js";
import { rememberSeats } from "./invitations.js";
import { Setup } from "./setup.js";
import { capitalised } from "./words.js";

/** Show the first screen; returns what to call when the view is left. */
export function home(main) {
  const cards = h("div", { class: "cards" }, h("p", { class: "faint" }, "Laying the table …"));
  main.append(
    h(
      "div",
      { class: "home" },
      h("h1", {}, "Three games of hidden hands"),
      h(
        "p",
        { class: "lead" },
        "Play them against agents or with friends, watch agents play each other, and see what ",
        "decided a game.",
      ),
      cards,
    ),
  );
  ask("/api/games")
    .then(({ games }) => cards.replaceChildren(playCard(games), watchCard(games), reviewCard()))
    .catch((error) => cards.replaceChildren(refusal(error)));
  return () => {};
}

const refusal = (error) => h("p", { class: "refusal", role: "alert" }, error.message);

/** The place in a card that says what it waits for, or what went wrong. */
class Progress {
  constructor(words) {
    this.words = words;
    this.status = h("p", { class: "faint", role: "status" });
    this.problem = h("p", { class: "refusal", role: "alert" });
    this.element = h("div", { class: "progress" }, this.status, this.problem);
  }

  /** Go where `find()` leads, unless the view was left; the card's buttons rest meanwhile. */
  async go(find) {
    const pressed = document.activeElement;
    this.wait(true);
    try {
      const place = await find();
      if (this.element.isConnected) location.hash = place;
    } catch (error) {
      this.wait(false);
      this.problem.textContent = capitalised(error.message);
      if (document.activeElement === document.body) pressed.focus(); // its button was disabled
    }
  }

  wait(waiting) {
    const buttons = this.element.closest(".card").querySelectorAll("button");
    for (const button of buttons) button.disabled = waiting;
    this.status.textContent = waiting ? this.words : "";
    this.problem.textContent = "";
  }
}

// --- Play and watch

function playCard(games) {
  const seats = (game) => ["human", ...Array(game.seats - 1).fill(game.usual)];
  const what = "You take the first seat; an agent takes every other.";
  return startCard("Play", what, games, seats, true);
}

function watchCard(games) {
  const seats = (game) => Array(game.seats).fill(game.usual);
  const what = "Agents play, and you see all hands.";
  return startCard("Watch", what, games, seats, false);
}

function startCard(name, what, games, seats, human) {
  const progress = new Progress("Laying the table …");
  const start = (wanted) => progress.go(() => open(wanted));
  const families = [...new Map(games.toReversed().map((game) => [game.game, game])).values()];
  const quick = families.toReversed().map((game) =>
    h(
      "button",
      {
        type: "button",
        class: "game",
        onclick: () => start({ game: game.id, options: {}, seats: seats(game) }),
      },
      h("img", { src: `/page/${game.game}.svg`, alt: "", width: 56, height: 56 }),
      h("span", {}, h("strong", {}, game.title), h("small", {}, pace(game, human))),
    ),
  );
  const setup = new Setup(name.toLowerCase(), games, seats, human, start);
  return h(
    "section",
    { class: "card" },
    h("h2", {}, name),
    h("p", {}, what),
    h("div", { class: "quick" }, quick),
    progress.element,
    h("details", {}, h("summary", {}, "Variant, options and seats"), setup.element),
  );
}

function pace(game, human) {
  if (game.cooperative) return human ? "together with an agent" : "agents work together";
  return human ? "against an agent" : "agent against agent";
}

/** Open a table; returns the place of its first human seat, or where to watch it. */
async function open(wanted) {
  const { keys, watch } = await ask("/api/tables", { seed: null, ...wanted });
  rememberSeats(keys);
  const [first] = Object.values(keys);
  return first ? `seat=${first}` : `watch=${watch}`;
}

// --- Review

function reviewCard() {
  const progress = new Progress("Reading the game …");
  const text = h("textarea", { id: "record", rows: 5, spellcheck: "false" });
  const file = h("input", { type: "file", id: "file", accept: ".json,.txt", onchange: read });
  async function read() {
    if (file.files.length) text.value = await file.files[0].text();
  }
  async function find() {
    const { replay } = await ask("/api/replays", { text: text.value });
    return `replay=${replay}&move=0&seat=all`;
  }
  function submit(event) {
    event.preventDefault();
    progress.go(find);
  }
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Review"),
    h("p", {}, "Walk through a game; an agent shows what each move was worth."),
    h(
      "form",
      { class: "stack", onsubmit: submit },
      h("label", { for: "file" }, "A saved game"),
      file,
      h("label", { for: "record" }, "or its text: a record, notation, or hanab.live JSON"),
      text,
      h("button", { type: "submit", class: "main" }, "Open"),
    ),
    progress.element,
    h("p", { class: "faint" }, "A game that you have just played opens from its own table."),
  );
}
