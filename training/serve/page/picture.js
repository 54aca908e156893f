// The table's picture: the server's SVG, whose pieces can be clicked and glide to new places.

import { h, s } from "./dom.js";

const GLIDE = 320; // milliseconds
const RING = 3; // how far a piece's ring lies outside of it, in units of the picture
const VIVID = 60; // how far the parts of a colour, of 255, lie from each other

const still = matchMedia("(prefers-reduced-motion: reduce)");

/** The server's SVG as an element. */
function drawn(text) {
  const parsed = new DOMParser().parseFromString(plain(text), "image/svg+xml");
  return document.adoptNode(parsed.documentElement);
}

export class Picture {
  /** `onPiece(piece, spot, chosen)` gets clicks; spot is the place among equal pieces. */
  constructor(onPiece = () => {}) {
    this.onPiece = onPiece;
    this.sheet = h("div", { class: "picture", onclick: (event) => this.clicked(event) });
    this.larger = h(
      "button",
      {
        type: "button",
        class: "quiet larger",
        "aria-pressed": "false",
        onclick: () => this.enlarge(),
      },
      "Larger picture",
    );
    this.element = h("div", {}, this.sheet, this.larger);
  }

  /** Show another picture; pieces that were there before glide from where they were. */
  show(text) {
    const before = this.svg && placesOf(this.all());
    this.svg = drawn(text);
    this.svg.setAttribute("role", "group"); // not one image, so that its pieces' labels are read
    this.sheet.replaceChildren(this.svg);
    for (const piece of this.all()) ring(piece);
    if (before && !still.matches) glide(this.svg, this.all(), before);
  }

  /** On narrow screens: twice the size, to be moved from side to side; or the whole again. */
  enlarge() {
    const large = this.sheet.classList.toggle("large");
    this.larger.setAttribute("aria-pressed", String(large));
    this.sheet.tabIndex = large ? 0 : -1; // so that the keyboard can move it
  }

  /** Show which pieces can be chosen and which are; `choice` is null when it is no time to. */
  mark(choice) {
    const states = choice ? choice.pieces : new Map();
    const spots = new Map();
    for (const element of this.all()) {
      const piece = element.dataset.piece;
      const spot = spots.get(piece) || 0;
      spots.set(piece, spot + 1);
      element.dataset.spot = spot;
      const state = states.get(piece);
      element.classList.toggle("possible", Boolean(state));
      element.classList.toggle("open", Boolean(state && state.open > 0));
      element.classList.remove("chosen");
    }
    for (const [piece, state] of states) this.markChosen(piece, state, choice);
  }

  markChosen(piece, state, choice) {
    const elements = this.all().filter((element) => element.dataset.piece === piece);
    const clicked = choice.steps.filter((step) => step.piece === piece).map((step) => step.spot);
    const first = elements.filter((_, spot) => clicked.includes(spot));
    const others = elements.filter((_, spot) => !clicked.includes(spot));
    const shown = [...first, ...others].slice(0, state.chosen + state.implied);
    for (const element of shown) element.classList.add("chosen");
  }

  /** The colour of a piece's ground or edge, if it has one: not that of paper or ink. */
  colour(piece) {
    const element = this.all().find(({ dataset }) => dataset.piece === piece);
    const [first, ...others] = element?.querySelectorAll("rect[fill]") || [];
    const above = others.filter((other) => ["x", "y"].every((side) => same(first, other, side)));
    const colours = [first, ...above].flatMap((ground) =>
      ["fill", "stroke"].map((name) => ground?.getAttribute(name)),
    );
    return colours.find(colourful) || null;
  }

  all() {
    return this.svg ? [...this.svg.querySelectorAll("[data-piece]")] : [];
  }

  clicked(event) {
    const element = event.target.closest("[data-piece]");
    if (!element || !element.classList.contains("possible")) return;
    const spot = Number(element.dataset.spot);
    this.onPiece(element.dataset.piece, spot, element.classList.contains("chosen"));
  }
}

const same = (one, other, name) => one.getAttribute(name) === other.getAttribute(name);

function colourful(colour) {
  const digits = /^#(..)(..)(..)$/.exec(colour) || [];
  const parts = digits.slice(1).map((part) => parseInt(part, 16));
  return Math.max(...parts) - Math.min(...parts) > VIVID;
}

/** The picture without a style of its own: a policy that allows none would refuse it. */
const plain = (text) => text.replace(/(<svg[^>]*?) style="[^"]*"/, "$1");

/** A frame around a piece, which also makes all of its area clickable. */
function ring(piece) {
  const { x, y, width, height } = piece.getBBox();
  const around = { x: x - RING, y: y - RING, width: width + 2 * RING, height: height + 2 * RING };
  piece.append(s("rect", { class: "ring", rx: 7, ...around }));
}

/** Each piece's place on the screen, by its name and how many equal ones come before it. */
function placesOf(pieces) {
  const places = new Map();
  const equal = new Map();
  for (const element of pieces) {
    const name = element.dataset.piece;
    equal.set(name, (equal.get(name) || 0) + 1);
    places.set(`${name} ${equal.get(name)}`, [element, element.getBoundingClientRect()]);
  }
  return places;
}

function glide(svg, pieces, before) {
  const unit = svg.viewBox.baseVal.width / svg.getBoundingClientRect().width;
  const how = { duration: GLIDE, easing: "cubic-bezier(.2, .8, .2, 1)" };
  for (const [name, [element, now]] of placesOf(pieces)) {
    if (!before.has(name)) {
      element.animate([{ opacity: 0 }, { opacity: 1 }], how);
      continue;
    }
    const [, then] = before.get(name);
    const [x, y] = [(then.x - now.x) * unit, (then.y - now.y) * unit];
    if (Math.hypot(x, y) < 1) continue;
    const from = { transform: `translate(${x}px, ${y}px)` };
    element.animate([from, { transform: "none" }], { ...how, composite: "add" });
  }
}
