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
        "a game was decided by.",
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
  const problem = h("p", { class: "refusal", role: "alert" });
  const start = (wanted) => open(wanted).catch((error) => (problem.textContent = error.message));
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
    problem,
    h("details", {}, h("summary", {}, "Variant, options and seats"), setup.element),
  );
}

function pace(game, human) {
  if (game.cooperative) return human ? "together with an agent" : "agents work together";
  return human ? "against an agent" : "agent against agent";
}

/** Open a table and go to it: to its first human seat, or to watch it. */
async function open(wanted) {
  const { keys, watch } = await ask("/api/tables", { seed: null, ...wanted });
  rememberSeats(keys);
  const [first] = Object.values(keys);
  location.hash = first ? `seat=${first}` : `watch=${watch}`;
}

// --- Review

function reviewCard() {
  const problem = h("p", { class: "refusal", role: "alert" });
  const text = h("textarea", { id: "record", rows: 5, spellcheck: "false" });
  const file = h("input", { type: "file", id: "file", accept: ".json,.txt", onchange: read });
  async function read() {
    if (file.files.length) text.value = await file.files[0].text();
  }
  async function submit(event) {
    event.preventDefault();
    try {
      const { replay } = await ask("/api/replays", { text: text.value });
      location.hash = `replay=${replay}&move=0&seat=all`;
    } catch (error) {
      problem.textContent = capitalised(error.message);
    }
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
      problem,
      h("button", { type: "submit", class: "main" }, "Open"),
    ),
    h("p", { class: "faint" }, "A game that you have just played opens from its own table."),
  );
}
