// A game in progress: a seat at the table, or a game of policies to watch.

import { Connection } from "./connection.js";
import { showAbove } from "./dialog.js";
import { h } from "./dom.js";
import { invitations } from "./invitations.js";
import { Pacer } from "./pacer.js";
import { Panel } from "./panel.js";
import { Picture } from "./picture.js";
import { rulesButton } from "./rules.js";
import { capitalised, percent, policyName, signed, told, withoutTitle, yourTurn } from "./words.js";

/** Show the game of this key; returns what to call when the view is left. */
export function table(main, key, watching) {
  const view = new Table(key, watching);
  main.append(view.element);
  return () => view.close();
}

const OUTCOMES = { won: "You have won", lost: "You have lost", drawn: "The game is a draw" };

class Table {
  constructor(key, watching) {
    this.watching = watching;
    this.position = null;
    this.panel = new Panel(
      (what) => this.sendNow({ type: "act", ...what }),
      (choice) => this.picture.mark(choice),
      (piece) => this.picture.colour(piece),
    );
    this.picture = new Picture((...click) => this.panel.pressed(...click));
    this.pacer = watching ? new Pacer(() => this.sendNow({ type: "step" })) : null;
    this.element = this.laidOut(key);
    this.onKey = (event) => this.key(event);
    addEventListener("keydown", this.onKey);
    this.connection = new Connection(
      key,
      (message) => this.receive(message),
      (state) => this.connected(state),
    );
  }

  close() {
    this.connection.close();
    if (this.pacer) this.pacer.close();
    removeEventListener("keydown", this.onKey);
  }

  laidOut(key) {
    this.title = h("h1", {}, "The table");
    this.headline = h("p", { class: "faint headline" });
    this.status = h("p", { class: "status", role: "status" }, "Connecting …");
    this.notice = h("p", { class: "notice", role: "alert", hidden: true });
    this.players = h("ul", { class: "players", "aria-label": "Players" });
    this.events = h("ul", { class: "events", "aria-live": "polite" });
    this.log = h("ol", { class: "log", tabindex: "0", "aria-label": "The whole game" });
    this.hint = h("button", { type: "button", onclick: () => this.askHint() }, "Hint");
    this.hints = h("section", { class: "panel hints", "aria-live": "polite", hidden: true });
    this.end = h("section", { class: "panel end", hidden: true });
    this.failure = this.failurePanel();
    this.lastGame = h("a", { class: "button", hidden: true }, "Review the last game");
    this.roundEnd = h(
      "button",
      { type: "button", hidden: true, onclick: () => this.showRoundEnd() },
      "See how the round ended",
    );
    this.last = h(
      "section",
      { class: "panel news" },
      h("h2", {}, "What happened"),
      this.events,
      this.roundEnd,
    );
    const all = h("details", { class: "panel" }, h("summary", {}, "The whole game"), this.log);
    const rules = rulesButton(() => this.position.view.variant);
    rules.disabled = true;
    this.rules = rules;
    this.invited = invitations(key);
    const buttons = h("div", { class: "row" }, this.watching ? null : this.hint, rules);
    this.controls = this.watching ? this.watchPanel() : this.panel.element;
    this.panel.offer([], {}, "Connecting …");
    this.hint.disabled = true;
    return h(
      "div",
      { class: "table" },
      h("div", { class: "title" }, h("div", {}, this.title, this.headline), buttons),
      this.notice,
      h("div", { class: "board" }, this.status, this.picture.element, this.players),
      h(
        "div",
        { class: "side" },
        this.end,
        this.failure,
        this.controls,
        this.hints,
        this.last,
        all,
        this.lastGame,
        this.invited,
      ),
    );
  }

  /** Why a policy did not move, and what can be done: all may ask it again, or begin a new game. */
  failurePanel() {
    this.reason = h("p");
    const again = () => {
      this.reason.textContent = "Asking again …";
      this.sendNow({ type: "step" });
    };
    const anew = () => this.send({ type: "new" });
    return h(
      "section",
      { class: "panel failure", role: "alert", hidden: true },
      this.reason,
      h(
        "div",
        { class: "row" },
        h("button", { type: "button", class: "main", onclick: again }, "Ask again"),
        h("button", { type: "button", onclick: anew }, "New game"),
      ),
    );
  }

  watchPanel() {
    return h("section", { class: "panel watch" }, h("h2", {}, "Watch"), this.pacer.element);
  }

  // --- The connection

  send(message) {
    if (!this.connection.send(message)) this.refuse("there is no connection, so nothing was sent");
  }

  /** A message that only counts in the position that is shown. */
  sendNow(message) {
    this.send({ ...message, number: this.position.number });
  }

  connected(state) {
    if (state === "open") this.resume();
    if (state === "lost") this.say("Connection lost. Reconnecting …");
    if (state === "refused") {
      this.status.textContent = "You are not at the table.";
      this.controls.hidden = this.hint.disabled = true;
      this.panel.offer([], {}); // nor does the picture offer anything
    }
    if (state !== "open" && this.pacer) this.pacer.turn(false);
  }

  /** What was asked on the connection before has no answer on this one. */
  resume() {
    this.say("");
    this.panel.refuse("");
    this.dropHint();
  }

  receive(message) {
    if (message.type === "position") this.show(message);
    else if (message.type === "hint") this.showHint(message);
    else if (this.connection.seated) this.refuse(message.words);
    else this.say(capitalised(message.words)); // of the seat, not of a choice
  }

  refuse(words) {
    this.dropHint();
    if (this.mine) this.panel.refuse(words);
    else this.say(capitalised(words));
  }

  /** A notice above the table; none without words. */
  say(words) {
    this.notice.hidden = !words;
    if (this.notice.textContent !== words) this.notice.textContent = words; // said once
  }

  // --- The position

  show(position) {
    const { game, number } = this.position || {};
    const moved = game !== position.game || number !== position.number;
    const atEnd = this.end.contains(document.activeElement);
    this.position = position;
    this.element.dataset.number = position.number;
    const { view } = position;
    this.title.textContent = view.title;
    this.headline.textContent = withoutTitle(view);
    this.status.textContent = capitalised(this.turn(view));
    this.status.classList.toggle("mine", this.mine);
    document.title = `${this.shortly(view)} · ${view.title}`;
    this.rules.disabled = false;
    this.showPlayers(position);
    this.showFailure(position.failed);
    const inside = this.controls.contains(document.activeElement);
    if (!moved) return;
    this.say("");
    this.picture.show(position.picture);
    this.controls.hidden = view.over;
    this.panel.offer(view.legal, view.pieces, `Waiting for player ${view.mover} …`);
    this.hint.disabled = !this.mine;
    this.hints.hidden = true;
    this.showEvents(position);
    this.showEnd(position);
    if (inside && view.over) this.end.querySelector("h2").focus(); // its own place is hidden
    if (this.pacer) this.pacer.moved(!view.over);
    if (atEnd && !view.over) (this.pacer || this.panel).focusFirst();
  }

  /** Why a policy did not move, or null; the keyboard goes on when there is no more to ask. */
  showFailure(failed) {
    const asking = this.failure.contains(document.activeElement);
    this.failure.hidden = !failed;
    if (!failed) {
      if (asking) (this.pacer || this.panel).focusFirst();
      return;
    }
    if (this.pacer) this.pacer.turn(false);
    const words = capitalised(failed);
    if (this.reason.textContent !== words) this.reason.textContent = words; // said once
  }

  /** The seat that this page shows; null for one who watches. */
  get seat() {
    return this.position.players.find(({ name }) => name === "you")?.seat ?? null;
  }

  get mine() {
    const view = this.position?.view;
    return (
      Boolean(view) && view.mover !== null && view.mover === view.seat && view.legal.length > 0
    );
  }

  turn(view) {
    return this.mine ? yourTurn(view.status) : view.status;
  }

  shortly(view) {
    if (view.over) return capitalised(view.status);
    if (this.mine) return "Your turn";
    return view.mover === null ? view.headline : `Player ${view.mover} to move`;
  }

  showPlayers({ players, view }) {
    const lines = players.map(({ seat, name, human, here }) => {
      const who = human ? name : policyName(name);
      const away = human && !here ? ", not here" : "";
      const attributes = seat === view.mover ? { class: "mover", "aria-current": "true" } : {};
      return h("li", attributes, `player ${seat}: ${who}${away}`);
    });
    this.players.replaceChildren(...lines);
    this.invited?.classList.toggle(
      "missing",
      players.some(({ here }) => !here),
    );
  }

  showEvents({ view, log, round_end: roundEnd }) {
    const news = view.events.map((event) => h("li", { class: by(event, this.seat) }, told(event)));
    this.events.replaceChildren(...news);
    this.last.hidden = !news.length;
    this.roundEnd.hidden = !roundEnd;
    const lines = log.map((event) => h("li", { class: by(event, this.seat) }, told(event)));
    this.log.replaceChildren(...lines);
  }

  showRoundEnd() {
    const picture = new Picture();
    showAbove("The table at the end of the round", picture.element);
    picture.show(this.position.round_end);
  }

  /** Where a game can be reviewed from this seat. */
  review(replay) {
    return `#replay=${replay}&move=0&seat=${this.seat ?? "all"}`;
  }

  showEnd({ view, replay, last_replay: last, outcome }) {
    this.end.hidden = !view.over;
    this.lastGame.hidden = view.over || !last;
    if (last) this.lastGame.href = this.review(last);
    if (!view.over) return;
    const again = () => this.send({ type: "new" });
    this.end.replaceChildren(
      h("h2", { tabindex: "-1" }, OUTCOMES[outcome] ?? "The game is over"),
      h("p", {}, capitalised(view.status)),
      h(
        "div",
        { class: "row" },
        h("a", { class: "button main", href: this.review(replay) }, "Replay and review"),
        h("button", { type: "button", onclick: again }, "New game"),
        h("a", { class: "button", href: "#" }, "Other games"),
      ),
    );
  }

  // --- Hints

  askHint() {
    this.thinking = true;
    this.hints.hidden = false;
    this.hints.replaceChildren(h("h2", {}, "Hint"), h("p", { class: "faint" }, "Thinking …"));
    this.sendNow({ type: "hint" });
  }

  /** A hint that has not come is no longer waited for. */
  dropHint() {
    if (this.thinking) this.hints.hidden = true;
    this.thinking = false;
  }

  showHint({ number, choices, value }) {
    if (number !== this.position.number) return;
    this.thinking = this.hints.hidden = false;
    const { legal } = this.position.view;
    const likely = choices.filter(([share]) => percent(share) !== percent(0));
    const lines = likely.map(([share, words]) => {
      const action = legal.find((one) => one.words === words);
      const button = h("button", { type: "button", class: "bar", disabled: !action }, words);
      button.style.setProperty("--share", share);
      button.append(h("span", {}, percent(share)));
      if (action) button.addEventListener("click", () => this.panel.pick(action));
      return h("li", {}, button);
    });
    const worth = value === null ? "" : this.worth(value);
    this.hints.replaceChildren(
      h("h2", {}, "Hint"),
      h("ul", { class: "bars" }, lines),
      h("p", { class: "faint" }, worth),
    );
    this.hints.scrollIntoView({ block: "nearest" });
  }

  worth(value) {
    return this.position.view.cooperative
      ? `The agent expects about ${value.toFixed(1)} more points.`
      : `The agent's value of your position: ${signed(value)}, where −1 is lost and +1 is won.`;
  }

  // --- Keys

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog")) return;
    if (event.key === "Escape") this.panel.undo();
    const elsewhere = !event.target.closest("button, a, input, select, textarea, summary");
    if (event.key === "Enter" && elsewhere) this.panel.send();
  }
}

const by = (event, seat) => (event.by === null ? "table-speaks" : event.by === seat ? "own" : "");
