// The value of each position as a curve over the game; a click goes to the position.

import { h, s } from "./dom.js";

const [HEIGHT, LEFT, EDGE] = [150, 44, 14]; // units of the picture
const [WIDE, NARROW] = [640, 360]; // across, so that its numbers can be read on phones, too

export class Curve {
  /** Of a game of so many moves; `go(move)` shows a position. */
  constructor(moves, go) {
    this.moves = Math.max(moves, 1);
    this.width = matchMedia("(max-width: 40rem)").matches ? NARROW : WIDE;
    this.svg = s("svg", { viewBox: `0 0 ${this.width} ${HEIGHT}`, role: "img" });
    this.svg.addEventListener("click", (event) => go(this.moveAt(event)));
    this.words = h("p", { class: "faint" });
    this.element = h("figure", { class: "curve", hidden: true }, this.svg, this.words);
    this.cursor = s("line", { class: "cursor", y1: EDGE, y2: HEIGHT - EDGE });
  }

  /** Show a review's values: the team's, or player 0's where the players are rivals. */
  show({ moves, worst, policy }, cooperative) {
    const values = moves
      .filter(({ value }) => value !== null)
      .map(({ number, value }) => [number - 1, value]);
    if (values.length < 2) return;
    const [low, high] = range(values, cooperative);
    const share = (value) => Math.min(Math.max((high - value) / (high - low), 0), 1);
    this.y = (value) => EDGE + share(value) * (HEIGHT - 2 * EDGE);
    const points = values.map(([move, value]) => `${this.x(move)},${this.y(value)}`).join(" ");
    const grave = values.filter(([move]) => worst.includes(move + 1));
    this.svg.replaceChildren(
      ...[low, (low + high) / 2, high].flatMap((value) => this.line(value)),
      s("polyline", { class: "values", points }),
      ...grave.map(([move, value]) =>
        s("circle", { class: "grave", cx: this.x(move), cy: this.y(value), r: 5 }),
      ),
      this.cursor,
    );
    const whose = cooperative ? "the team" : "player 0";
    const dots = grave.length ? "; the dots are the moves that lost most" : "";
    this.words.textContent = `What ${policy} expects for ${whose}, move by move${dots}.`;
    this.svg.setAttribute("aria-label", this.words.textContent);
    this.element.hidden = false;
  }

  mark(move) {
    this.cursor.setAttribute("x1", this.x(move));
    this.cursor.setAttribute("x2", this.x(move));
  }

  x(move) {
    return LEFT + (move / this.moves) * (this.width - LEFT - EDGE);
  }

  moveAt(event) {
    const { left, width } = this.svg.getBoundingClientRect();
    const x = ((event.clientX - left) / width) * this.width;
    return Math.round(((x - LEFT) / (this.width - LEFT - EDGE)) * this.moves);
  }

  line(value) {
    const y = this.y(value);
    const number = Number.isInteger(value) ? String(value) : value.toFixed(1);
    return [
      s("line", { class: "grid", x1: LEFT, x2: this.width - EDGE, y1: y, y2: y }),
      s("text", { x: LEFT - 8, y: y + 4, "text-anchor": "end" }, number.replace("-", "−")),
    ];
  }
}

/** The lowest and the highest value that the picture shows. */
function range(values, cooperative) {
  if (!cooperative) return [-1, 1];
  const numbers = values.map(([, value]) => value);
  const low = Math.floor(Math.min(...numbers));
  return [low, Math.max(low + 2, Math.ceil(Math.max(...numbers)))];
}
