// Play, pause, step and speed: for games of policies, and for replays.

import { h } from "./dom.js";

const SPEEDS = [
  ["slow", 2500],
  ["calm", 1200],
  ["brisk", 500],
  ["fast", 120],
]; // milliseconds between moves

export class Pacer {
  /** `step()` asks for the next move; call `moved(more)` at the first and each new position. */
  constructor(step) {
    this.step = step;
    this.running = false;
    this.more = false;
    this.toggle = h("button", { type: "button", class: "main", onclick: () => this.turn() });
    this.once = h("button", { type: "button", onclick: () => this.stepOnce() }, "Step");
    this.speed = h(
      "select",
      { id: "speed" },
      SPEEDS.map(([name, pause]) => h("option", { value: pause, selected: pause === 1200 }, name)),
    );
    const label = h("label", { for: "speed" }, "Speed");
    this.element = h("div", { class: "row" }, this.toggle, this.once, label, this.speed);
    this.show();
  }

  turn(running = !this.running) {
    this.running = running;
    this.show();
    if (running) this.step();
    else clearTimeout(this.timer);
  }

  stepOnce() {
    if (this.running) this.turn(false);
    this.step();
  }

  /** A new position is there; `more` says whether a move can follow. */
  moved(more) {
    this.more = more;
    clearTimeout(this.timer);
    if (!more) this.running = false;
    this.show();
    if (this.running) this.timer = setTimeout(this.step, Number(this.speed.value));
  }

  focusFirst() {
    this.toggle.focus({ preventScroll: true });
  }

  show() {
    this.toggle.textContent = this.running ? "Pause" : "Play";
    this.toggle.disabled = this.once.disabled = !this.more;
  }

  close() {
    this.running = false;
    clearTimeout(this.timer);
  }
}
