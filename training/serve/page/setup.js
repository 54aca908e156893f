// The form in which a table is chosen: game, variant, options, and who sits where.

import { h } from "./dom.js";
import { capitalised, policyName } from "./words.js";

const SEARCH = "search:";

/** What tells variants of a game apart: "hanabi:2p:multicolour" is "2 players, multicolour". */
function variantName(game) {
  const parts = game.id.split(":").slice(1);
  const words = parts.map((part) => part.replace(/^(\d)p$/, "$1 players").replaceAll("_", " "));
  return capitalised(words.join(", ") || "original");
}

export class Setup {
  /** `seats(game)` are those to begin with; `start({game, options, seats})` opens the table. */
  constructor(name, games, seats, human, start) {
    this.name = name;
    this.games = games;
    this.usualSeats = seats;
    this.human = human;
    this.start = start;
    this.families = [...new Set(games.map(({ game }) => game))];
    this.familyField = this.select("game", this.familyChoices(), () => this.showVariants());
    this.variantField = this.select("variant", [], () => this.showGame());
    this.seatRows = h("div", { class: "stack" });
    this.optionRows = h("div", { class: "stack" });
    this.element = h(
      "form",
      { class: "stack", onsubmit: (event) => this.submit(event) },
      this.labelled("Game", this.familyField),
      this.labelled("Variant", this.variantField),
      h("fieldset", {}, h("legend", {}, "Seats"), this.seatRows),
      h("details", {}, h("summary", {}, "Options of the rules"), this.optionRows),
      h("button", { type: "submit", class: "main" }, human ? "Play" : "Watch"),
    );
    this.showVariants();
  }

  select(what, choices, onchange = () => {}) {
    const options = choices.map(([value, words]) => h("option", { value }, words));
    return h("select", { id: `${this.name}-${what}`, onchange }, options);
  }

  labelled(words, field, ...more) {
    return h("div", { class: "field" }, h("label", { for: field.id }, words), field, ...more);
  }

  familyChoices() {
    return this.families.map((name) => [name, this.games.find(({ game }) => game === name).title]);
  }

  showVariants() {
    const games = this.games.filter(({ game }) => game === this.familyField.value);
    const options = games.map((game) => h("option", { value: game.id }, variantName(game)));
    this.variantField.replaceChildren(...options);
    this.showGame();
  }

  showGame() {
    this.game = this.games.find((game) => game.id === this.variantField.value);
    const seats = this.usualSeats(this.game);
    this.seatFields = seats.map((who, seat) => this.seatField(seat, who));
    const rows = this.seatFields.map((field, seat) => this.labelled(`Player ${seat}`, field));
    this.seatRows.replaceChildren(...rows);
    this.optionFields = this.game.options.map((option) => this.optionField(option));
    this.optionRows.replaceChildren(...this.optionFields.map(({ row }) => row));
  }

  seatField(seat, who) {
    const field = this.select(`seat-${seat}`, this.human ? [["human", "a human"]] : []);
    const barred = this.human ? this.game.not_with_people || [] : [];
    const policies = this.game.policies.filter((name) => !barred.includes(name));
    const searches = (name) => name.startsWith(SEARCH);
    field.append(
      choices(
        "Policies",
        policies.filter((name) => !searches(name)),
      ),
      choices("Searches", policies.filter(searches)),
    );
    field.value = who;
    return field;
  }

  optionField({ name, default: usual, help }) {
    const id = `${this.name}-option-${name}`;
    const field =
      typeof usual === "boolean"
        ? h("input", { id, type: "checkbox", checked: usual })
        : h("input", { id, value: written(usual) });
    const hint = h("p", { class: "faint", id: `${id}-help` }, help || "");
    field.setAttribute("aria-describedby", hint.id);
    const value = () => (typeof usual === "boolean" ? field.checked : read(field.value, usual));
    const changed = () => written(value()) !== written(usual);
    return { name, value, changed, row: this.labelled(spaced(name), field, hint) };
  }

  submit(event) {
    event.preventDefault();
    const changed = this.optionFields.filter((field) => field.changed());
    this.start({
      game: this.game.id,
      options: Object.fromEntries(changed.map((field) => [field.name, field.value()])),
      seats: this.seatFields.map((field) => field.value),
    });
  }
}

function choices(label, names) {
  const options = names.map((value) => h("option", { value }, policyName(value)));
  return h("optgroup", { label, hidden: !names.length }, options);
}

const spaced = (name) => capitalised(name.replaceAll("_", " "));

/** An option's value as it stands in its field, and back. */
const written = (value) =>
  value === null ? "none" : Array.isArray(value) ? value.join(" ") : String(value);

function read(text, usual) {
  const words = text
    .trim()
    .split(/[\s,]+/)
    .filter(Boolean);
  const values = words.map((word) => (word === "none" && !usual?.length ? null : number(word)));
  if (Array.isArray(usual) || values.length > 1) return values;
  return values.length ? values[0] : "";
}

const number = (word) => (/^-?\d+(\.\d+)?$/.test(word) ? Number(word) : word);
