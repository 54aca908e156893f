// "Your choice": the pieces as large buttons, the choices in words, notation, and Confirm.

import { Choice, USE, kind, meant } from "./choice.js";
import { h } from "./dom.js";
import { capitalised } from "./words.js";

const GROUPS = {
  [USE]: "What to do",
  hand: "Your cards",
  card: "Your cards",
  offer: "Offered cards",
  pair: "Offered pairs",
}; // by kind of piece; others are called what their kind is
const ADVICE = "Click pieces in the picture, or these buttons.";

export class Panel {
  /**
   * `act({action} | {words})` sends, `changed(choice)` is called at every change of the choice, and
   * `colour(piece)` is what the picture shows of a piece, or null.
   */
  constructor(act, changed, colour) {
    this.act = act;
    this.changed = changed;
    this.colour = colour;
    this.heading = h("h2", { id: "choice", tabindex: "-1" }, "Your choice");
    this.groups = h("div", { class: "groups", onkeydown: walk });
    this.chosen = h("p", { class: "chosen-words", "aria-live": "polite" });
    this.confirm = h(
      "button",
      { type: "button", class: "main", onclick: () => this.send() },
      "Confirm",
    );
    this.back = h("button", { type: "button", onclick: () => this.undo() }, "Undo");
    this.refusal = h("p", { class: "refusal", role: "alert" });
    const bar = h("div", { class: "confirm" }, this.chosen, this.confirm, this.back);
    this.waiting = h("p", { class: "faint" });
    this.form = h("div", {}, this.groups, bar, this.notation());
    this.element = h(
      "section",
      { class: "panel choice", "aria-labelledby": "choice" },
      this.heading,
      this.waiting,
      this.form,
      this.refusal,
    );
  }

  notation() {
    this.typed = h("input", {
      id: "notation",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      oninput: () => this.showMeant(),
    });
    this.meant = h("p", { class: "faint", "aria-live": "polite" });
    const row = h("div", { class: "row" }, this.typed, h("button", { type: "submit" }, "Play"));
    return h(
      "form",
      { class: "notation", onsubmit: (event) => this.sendTyped(event) },
      h("label", { for: "notation" }, "Or type it"),
      row,
      this.meant,
    );
  }

  /** What the seat may do now; where there is nothing to do, `waiting` says what it waits for. */
  offer(legal, labels, waiting = "") {
    const inside = this.element.contains(document.activeElement);
    this.labels = labels;
    this.choice = legal.length ? new Choice(legal) : null;
    this.form.hidden = !this.choice;
    this.waiting.textContent = waiting;
    this.waiting.hidden = Boolean(this.choice);
    this.refusal.textContent = this.typed.value = this.meant.textContent = "";
    this.sent = false;
    if (this.choice) this.typed.placeholder = legal[Math.min(1, legal.length - 1)].words;
    this.show();
    if (inside) this.focusFirst();
  }

  /** The keyboard stays in the panel from one turn to the next. */
  focusFirst() {
    const button = this.groups.querySelector("button:enabled") || this.confirm;
    const first = this.typing ? this.typed : button;
    if (this.choice) first.focus({ preventScroll: true });
    else this.rest();
  }

  /** The keyboard waits at the heading: a button that is disabled or removed would lose it. */
  rest() {
    this.heading.focus({ preventScroll: true });
  }

  /** What was sent did not count; `words` say why. */
  refuse(words) {
    this.sent = false;
    this.show();
    this.refusal.textContent = capitalised(words);
  }

  // --- Changes of the choice

  change(step) {
    if (!this.choice) return;
    step();
    this.refusal.textContent = "";
    this.show();
  }

  pressed(piece, spot, chosen) {
    this.change(() =>
      chosen ? this.choice.release(piece, spot) : this.choice.choose(piece, spot),
    );
  }

  pick(action) {
    this.change(() => this.choice.pick(action));
  }

  undo() {
    this.change(() => this.choice.undo());
  }

  // --- Sending

  send() {
    const action = this.choice && this.choice.single;
    if (!action || this.confirm.disabled) return;
    this.typing = false;
    if (this.element.contains(document.activeElement)) this.rest();
    this.confirm.disabled = true; // until the server has answered
    this.act({ action: action.action });
  }

  sendTyped(event) {
    event.preventDefault();
    const words = this.typed.value.trim();
    if (!words || !this.choice || this.sent) return;
    const actions = meant(this.choice.legal, words);
    this.typing = this.sent = true; // sent until the server has answered
    this.act(actions.length === 1 ? { action: actions[0].action } : { words });
  }

  showMeant() {
    const words = this.typed.value.trim();
    const actions = words && this.choice ? meant(this.choice.legal, words) : [];
    this.meant.textContent = !words
      ? ""
      : actions.length === 1
        ? `Enter plays: ${actions[0].words}`
        : `${actions.length} of your choices fit`;
  }

  // --- What is shown

  show() {
    const place = this.focused();
    const single = this.choice && this.choice.single;
    this.groups.replaceChildren(...(this.choice ? this.grouped() : []));
    const words = single ? capitalised(single.words) : ADVICE;
    if (this.chosen.textContent !== words) this.chosen.textContent = words; // said once
    this.confirm.disabled = !single;
    this.back.disabled = !this.choice || !this.choice.steps.length;
    this.element.classList.toggle("ready", Boolean(single));
    this.changed(this.choice);
    if (place !== null) this.focus(place, single);
  }

  /** The place of the focused button in the panel, -1 for another thing in it, null elsewhere. */
  focused() {
    const active = document.activeElement;
    if (!this.element.contains(active) || active === this.typed) return null;
    return [...this.groups.querySelectorAll("button")].indexOf(active);
  }

  /** The keyboard stays where it was, at the nearest button that is open, or goes on to Confirm. */
  focus(place, single) {
    if (!this.choice) return;
    if (place < 0 && document.activeElement.matches("button:enabled")) return; // such as Undo
    const buttons = [...this.groups.querySelectorAll("button")];
    const enabled = ({ disabled }) => !disabled;
    const next = buttons.slice(Math.max(place, 0)).find(enabled) || buttons.findLast(enabled);
    (single ? this.confirm : next).focus({ preventScroll: true });
  }

  grouped() {
    const pieces = this.choice.few ? [] : this.pieceGroups();
    const listed = this.choice.listed;
    if (!listed.length || (pieces.length && listed.length === 1)) return pieces;
    const title = pieces.length ? "What is left" : "Choose one";
    const buttons = listed.map((action) => this.actionButton(action));
    return [...pieces, group(title, buttons, "words")];
  }

  pieceGroups() {
    const groups = new Map([[USE, []]]); // first what to do
    for (const [piece, state] of this.choice.pieces) {
      const buttons = groups.get(kind(piece)) || [];
      for (let copy = 0; copy < state.copies; copy++)
        buttons.push(this.pieceButton(piece, state, copy));
      groups.set(kind(piece), buttons);
    }
    const filled = [...groups].filter(([, buttons]) => buttons.length);
    return filled.map(([name, buttons]) => group(GROUPS[name] || capitalised(name), buttons));
  }

  pieceButton(piece, state, copy) {
    const chosen = copy < state.chosen;
    const implied = !chosen && copy < state.chosen + state.implied;
    const open = !chosen && !implied && copy < state.chosen + state.implied + state.open;
    const button = h(
      "button",
      {
        type: "button",
        class: open || chosen || implied ? "piece" : "piece away",
        "aria-pressed": String(chosen || implied),
        disabled: implied,
        onclick: () => this.pressed(piece, null, chosen),
      },
      this.labels[piece] || piece,
    );
    const colour = this.colour(piece);
    if (colour && !this.labels[piece].includes(" ")) {
      button.classList.add("coloured");
      button.style.setProperty("--piece", colour);
    }
    return button;
  }

  actionButton(action) {
    const attributes = {
      type: "button",
      class: this.choice.left.includes(action) ? null : "away",
      "aria-pressed": String(this.choice.single === action),
      onclick: () => this.pick(action),
    };
    return h("button", attributes, action.words);
  }
}

function group(title, buttons, kind = "pieces") {
  return h("fieldset", { class: kind }, h("legend", {}, title), buttons);
}

/** Arrow keys walk from button to button. */
function walk(event) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const buttons = [...event.currentTarget.querySelectorAll("button:enabled")];
  const place = buttons.indexOf(document.activeElement);
  if (place < 0) return;
  event.preventDefault();
  buttons[(place + step + buttons.length) % buttons.length].focus();
}
