// How the page says what the server tells it.

export const capitalised = (words) => words.charAt(0).toUpperCase() + words.slice(1);
export const percent = (share) => `${Math.round(100 * share)}%`;
export const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2);

/** An event: chance and the table speak for themselves. */
export const told = ({ by, words }) =>
  by === null ? capitalised(words) : `player ${by}: ${words}`;

/** A view's headline below its title, with which it may begin. */
export const withoutTitle = ({ headline, title }) =>
  headline.startsWith(`${title} · `) ? headline.slice(title.length + 3) : headline;

/** "player 0 takes 2a or 3b", said to player 0: "Your turn: take 2a or 3b". */
export function yourTurn(status) {
  const turn = /^(?:it is the turn of player \d+|player \d+ is to move)(.*)$/.exec(status);
  if (turn) return `Your turn${turn[1]}`;
  const [, verb, rest] = /^player \d+ (\w+?)s (.+)$/.exec(status) || [];
  return `Your turn: ${verb ? `${verb} ${rest}` : status}`;
}

/** A policy's name: that of "search:improve:expert:worlds=32" is "expert with search, 32 deals". */
export function policyName(name) {
  const search = /^search:[^:]+:(.+):worlds=(\d+)$/.exec(name);
  return search ? `${search[1]} with search, ${search[2]} deals` : name;
}
