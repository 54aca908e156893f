// A finished game, move by move, and what an agent thinks of each decision.

import { ask } from "./api.js";
import { Curve } from "./curve.js";
import { copyButton, h } from "./dom.js";
import { Pacer } from "./pacer.js";
import { Picture } from "./picture.js";
import { rulesButton } from "./rules.js";
import { capitalised, percent, told, withoutTitle } from "./words.js";

const LATER = 60_000; // milliseconds until a review is asked for again that had no room
const SLIGHT = 0.005; // a share that two digits do not show
const DOWNLOADS = [
  ["record.json", "Record"],
  ["notation.txt", "Notation"],
];

/** Show the replay of this address; returns what to call when the view is left. */
export function replay(main, address) {
  const view = new Replay(main, address);
  view.open();
  return () => view.close();
}

class Replay {
  constructor(main, address) {
    this.main = main;
    this.id = address.get("replay");
    this.at = Math.trunc(Number(address.get("move"))) || 0; // moves that have been made
    this.seat = address.get("seat") || "all";
    this.leaving = new AbortController();
    this.asked = 0; // positions asked for; only the last answer is shown
    this.onKey = (event) => this.key(event);
    addEventListener("keydown", this.onKey);
  }

  close() {
    this.closed = true;
    this.leaving.abort(); // a review that nobody reads need not be made
    clearTimeout(this.again);
    this.pacer?.close();
    removeEventListener("keydown", this.onKey);
  }

  path(rest = "") {
    return `/api/replays/${encodeURIComponent(this.id)}${rest}`;
  }

  async open() {
    try {
      this.game = await ask(this.path());
    } catch (error) {
      if (this.closed) return;
      this.main.replaceChildren(h("p", { class: "notice", role: "alert" }, error.message));
      return;
    }
    if (this.closed) return;
    this.main.replaceChildren(this.laidOut());
    await this.go(this.at);
    if (!this.closed) this.askReview();
  }

  laidOut() {
    const { moves } = this.game;
    this.headline = h("p", { class: "faint" });
    this.status = h("p", { class: "status", role: "status" });
    this.picture = new Picture();
    this.slider = h("input", {
      type: "range",
      min: 0,
      max: moves.length,
      step: 1,
      "aria-label": "Move",
      oninput: () => this.go(Number(this.slider.value)),
    });
    this.before = this.stepButton("‹", "One move back", -1);
    this.after = this.stepButton("›", "One move on", 1);
    this.pacer = new Pacer(() => this.go(this.at + 1));
    this.curve = new Curve(moves.length, (move) => this.go(move));
    this.opinion = h("div", { "aria-live": "polite" });
    this.worst = h("p", { class: "row", hidden: true });
    this.moves = h("ol", { class: "moves" });
    this.moveButtons = moves.map((move) => this.moveButton(move));
    this.moves.append(...moves.map((move, place) => this.moveLine(move, place)));
    return h(
      "div",
      { class: "table" },
      h(
        "div",
        { class: "title" },
        h("div", {}, h("h1", {}, this.game.title), this.headline),
        rulesButton(() => this.game.variant),
      ),
      h(
        "div",
        { class: "board" },
        this.status,
        this.picture.element,
        h("div", { class: "slide" }, this.before, this.slider, this.after),
        h("div", { class: "row" }, this.pacer.element, this.seatChoice()),
        this.curve.element,
      ),
      h(
        "div",
        { class: "side" },
        h(
          "section",
          { class: "panel" },
          h("h2", {}, "What the agent thinks"),
          this.opinion,
          this.worst,
        ),
        h("section", { class: "panel" }, h("h2", {}, "Moves"), this.moves),
        this.links(),
      ),
    );
  }

  stepButton(sign, label, step) {
    const onclick = () => this.go(this.at + step);
    return h("button", { type: "button", "aria-label": label, onclick }, sign);
  }

  seatChoice() {
    const seats = Array.from({ length: this.game.seats }, (_, seat) => String(seat));
    const options = [
      h("option", { value: "all" }, "open hands"),
      ...seats.map((seat) => h("option", { value: seat }, `as player ${seat} saw it`)),
    ];
    const onchange = () => {
      this.seat = field.value;
      this.go(this.at);
    };
    const field = h("select", { id: "view", onchange }, options);
    field.value = this.seat;
    if (!field.value) field.value = this.seat = "all";
    return h("div", { class: "row" }, h("label", { for: "view" }, "View"), field);
  }

  links() {
    const files = this.game.hanab_live
      ? [...DOWNLOADS, ["hanab-live.json", "hanab.live JSON"]]
      : DOWNLOADS;
    const anchors = files.map(([file, words]) =>
      h("a", { class: "button", href: this.path(`/${file}`), download: file }, words),
    );
    return h(
      "section",
      { class: "panel" },
      h("h2", {}, "Keep it"),
      h(
        "div",
        { class: "row" },
        copyButton("Copy a link to this position", () => location.href),
      ),
      h("div", { class: "row" }, anchors),
    );
  }

  // --- Moves

  moveButton({ number, by, words }) {
    const onclick = () => this.go(number);
    return h(
      "button",
      { type: "button", onclick },
      h("span", { class: "number" }, String(number)),
      h("span", { class: "told" }, told({ by, words })),
    );
  }

  moveLine({ round_over: ended }, place) {
    return h("li", { class: ended ? "round-over" : null }, this.moveButtons[place]);
  }

  /** Show the position after so many moves. */
  async go(move) {
    const last = this.game.moves.length;
    this.at = Math.min(Math.max(move, 0), last);
    const asked = ++this.asked;
    this.slider.value = this.at;
    this.keepFocus(() => {
      this.before.disabled = this.at === 0;
      this.after.disabled = this.at === last;
    });
    this.markMove();
    this.showThought();
    try {
      const position = await ask(this.path(`/${this.at}?seat=${this.seat}`));
      if (asked === this.asked && !this.closed) this.show(position);
    } catch (error) {
      if (asked !== this.asked || this.closed) return;
      this.pacer.turn(false);
      this.status.textContent = error.message;
    }
  }

  show({ view, picture }) {
    history.replaceState(null, "", `#replay=${this.id}&move=${this.at}&seat=${this.seat}`);
    this.picture.show(picture);
    this.headline.textContent = withoutTitle(view);
    this.status.textContent = capitalised(view.status);
    this.slider.setAttribute("aria-valuetext", `after move ${this.at}: ${view.status}`);
    document.title = `Move ${this.at} of ${this.game.moves.length} · ${this.game.title}`;
    this.keepFocus(() => this.pacer.moved(this.at < this.game.moves.length));
  }

  /** The keyboard goes on at the slider when its button closes. */
  keepFocus(change) {
    const focused = document.activeElement;
    change();
    if (focused.disabled) this.slider.focus({ preventScroll: true });
  }

  markMove() {
    this.moveButtons.forEach((button, place) => {
      if (place + 1 === this.at) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    this.curve.mark(this.at);
    const button = this.moveButtons[this.at - 1];
    if (!button) this.moves.scrollTop = 0;
    else if (this.moves.scrollHeight > this.moves.clientHeight)
      this.moves.scrollTop = button.offsetTop - this.moves.clientHeight / 2;
  }

  // --- The review

  async askReview() {
    this.showThought();
    try {
      this.review = await ask(this.path("/review"), null, this.leaving.signal);
    } catch (error) {
      if (this.closed) return;
      this.reviewProblem = error.message;
      if (error.later) this.again = setTimeout(() => this.askReview(), LATER);
    }
    if (this.closed) return;
    if (this.review) this.markLosses();
    this.showThought();
  }

  markLosses() {
    const { moves, worst } = this.review;
    this.curve.show(this.review, this.game.cooperative);
    this.showWorst(worst);
    for (const { number, lost } of moves) {
      if (!lost) continue;
      const grave = worst.includes(number) ? "lost grave" : "lost";
      this.moveButtons[number - 1].append(h("span", { class: grave }, `−${lost.toFixed(2)}`));
    }
  }

  /** Buttons that stay while the moves pass, so that the keyboard can stay at them. */
  showWorst(worst) {
    this.worst.hidden = !worst.length;
    const buttons = worst.map((number) => {
      const onclick = () => this.go(number - 1);
      return h("button", { type: "button", class: "quiet", onclick }, `move ${number}`);
    });
    this.worst.replaceChildren("Lost most:", ...buttons);
  }

  /** What the agent would have done in this position, and what was done. */
  showThought() {
    if (!this.review) {
      const words = this.reviewProblem || "The agent is reading the game …";
      this.opinion.replaceChildren(h("p", { class: "faint" }, words));
      return;
    }
    const played = this.game.moves[this.at];
    const opinion = this.review.moves.find(({ number }) => number === this.at + 1);
    if (!played || !opinion) {
      this.opinion.replaceChildren();
      return;
    }
    const lines = opinion.best
      .filter(([share]) => share >= SLIGHT)
      .map(([share, words]) => bar(share, words, words === played.words));
    const loss = lossWords(opinion, this.game.cooperative);
    this.opinion.replaceChildren(
      h("p", { class: "faint" }, `${this.review.policy}, in the place of player ${played.by}`),
      h("ul", { class: "bars" }, lines),
      h("p", {}, `Played: ${told(played)}. ${loss}`),
    );
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.game) return;
    if (event.target.closest("input, select, textarea, dialog, .picture.large")) return;
    if (event.key === "ArrowLeft") this.go(this.at - 1);
    if (event.key === "ArrowRight") this.go(this.at + 1);
  }
}

/** Differences that may be chance count as 0, which does not prove that nothing was lost. */
function lossWords({ lost, better }, cooperative) {
  if (!lost) return "No clear loss.";
  return `It lost ${lost.toFixed(2)} ${cooperative ? "points" : "in value"}: a search prefers ${better}.`;
}

function bar(share, words, played) {
  const line = h(
    "div",
    { class: played ? "bar played" : "bar" },
    words,
    h("span", {}, percent(share)),
  );
  line.style.setProperty("--share", share);
  return h("li", {}, line);
}
