// How single pieces (a tile, cards, a player) become one legal action; it knows no game.
//
// Each action lists its pieces; equal cards are listed once a copy. A choice is a list of steps,
// each a piece or a whole action, and leaves the actions that contain all of its pieces.

export const USE = "use"; // the kind of pieces that say what to do

const FEW = 6; // at most as many actions are also listed in words

export class Choice {
  constructor(legal) {
    this.legal = legal;
    this.steps = []; // { piece, spot }: spot is the place in the picture; or { action }
  }

  /** The actions that the steps leave. */
  get left() {
    return leftBy(this.legal, this.steps);
  }

  /** The action that is chosen, once it is the only one. */
  get single() {
    const left = this.left;
    return left.length === 1 ? left[0] : null;
  }

  /** Of each piece: copies chosen, copies that all actions left share, and copies still open. */
  get pieces() {
    const left = this.left.map((action) => counted(action.pieces));
    const chosen = counted(piecesOf(this.steps));
    const states = new Map();
    for (const [piece, copies] of most(this.legal)) {
      const possible = left.map((counts) => counts.get(piece) || 0);
      const mine = chosen.get(piece) || 0;
      const shared = Math.min(...possible);
      const open = Math.max(...possible);
      states.set(piece, {
        copies,
        chosen: mine,
        implied: Math.max(shared - mine, 0),
        open: open - Math.max(mine, shared),
      });
    }
    return states;
  }

  /** Whether there are so few actions that they are listed in words from the beginning. */
  get few() {
    return this.legal.length <= FEW;
  }

  /** The actions to list in words: few, or such as pieces cannot tell apart. */
  get listed() {
    if (this.few) return this.legal;
    const steps = this.steps.filter((step) => !step.action);
    const left = leftBy(this.legal, steps);
    if (left.length <= FEW || left.every((action) => samePieces(action, left[0]))) return left;
    const size = piecesOf(steps).length;
    return left.filter((action) => action.pieces.length === size);
  }

  /** Choose a piece; older pieces of its kind give way if it does not go with them. */
  choose(piece, spot = null) {
    let steps = this.steps.filter((step) => !step.action);
    const fits = () => leftBy(this.legal, [...steps, { piece }]).length > 0;
    while (!fits()) {
      const older = steps.findIndex((step) => kind(step.piece) === kind(piece));
      if (older < 0) break;
      steps = steps.filter((_, place) => place !== older);
    }
    if (!fits()) steps = [];
    if (fits()) this.steps = [...steps, { piece, spot }];
  }

  /** Take a piece back: the one at this spot of the picture, or the last equal one. */
  release(piece, spot = null) {
    const equal = this.steps.filter((step) => step.piece === piece);
    const one = equal.find((step) => spot !== null && step.spot === spot) || equal.at(-1);
    this.steps = this.steps.filter((step) => step !== one && !step.action);
  }

  pick(action) {
    this.steps = [...this.steps.filter((step) => !step.action), { action }];
  }

  undo() {
    this.steps.pop();
  }
}

/** Before the colon: "hand:2a" is a card, "use:gift" what to do with it, as is "discard". */
export const kind = (piece) => (piece.includes(":") ? piece.split(":")[0] : USE);

/** The actions that words typed so far could mean, as `gift 2a` may: the first word shortened. */
export function meant(legal, typed) {
  const [first, ...others] = words(typed);
  if (!first) return legal;
  const exact = legal.filter((action) => words(action.words).join(" ") === words(typed).join(" "));
  if (exact.length) return exact;
  return legal.filter((action) => {
    const [verb, ...rest] = words(action.words);
    return verb.startsWith(first) && contains(counted(rest), others);
  });
}

const words = (line) => line.toLowerCase().replaceAll(/[,|]/g, " ").split(/\s+/).filter(Boolean);

const piecesOf = (steps) => steps.filter((step) => step.piece).map((step) => step.piece);

function leftBy(legal, steps) {
  const picked = steps.find((step) => step.action);
  if (picked) return [picked.action];
  const pieces = piecesOf(steps);
  return legal.filter((action) => contains(counted(action.pieces), pieces));
}

function counted(pieces) {
  const counts = new Map();
  for (const piece of pieces) counts.set(piece, (counts.get(piece) || 0) + 1);
  return counts;
}

function contains(counts, pieces) {
  return [...counted(pieces)].every(([piece, copies]) => (counts.get(piece) || 0) >= copies);
}

const samePieces = (one, other) =>
  one.pieces.length === other.pieces.length && contains(counted(one.pieces), other.pieces);

/** Of each piece, the most copies that one action uses; in the order of the actions. */
function most(legal) {
  const copies = new Map();
  for (const action of legal)
    for (const [piece, n] of counted(action.pieces))
      copies.set(piece, Math.max(copies.get(piece) || 0, n));
  return copies;
}
