// The links of a table's other human seats, which only the browser that opened it knows.

const STORED = "seats"; // in localStorage, so that a link is not lost with the tab
const TABLES = 20; // whose seats are remembered

import { copyButton, h } from "./dom.js";

/** The seats' keys ("0" -> key) of the last tables; none where the browser keeps no data. */
function remembered() {
  try {
    return JSON.parse(localStorage.getItem(STORED)) || [];
  } catch {
    return [];
  }
}

/** Remember the seats' keys of a table with more than one, if the browser keeps data. */
export function rememberSeats(keys) {
  if (Object.keys(keys).length < 2) return;
  try {
    localStorage.setItem(STORED, JSON.stringify([keys, ...remembered()].slice(0, TABLES)));
  } catch {
    return;
  }
}

/** The links to the other seats, or null if there are none or another browser opened the table. */
export function invitations(key) {
  const keys = remembered().find((seats) => Object.values(seats).includes(key)) || {};
  const others = Object.entries(keys).filter(([, other]) => other !== key);
  if (!others.length) return null;
  const lines = others.map(([seat, other]) => {
    const address = `${location.origin}/#seat=${other}`;
    return h(
      "li",
      { class: "row" },
      h("a", { href: address, target: "_blank", rel: "noopener" }, `player ${seat}'s seat`),
      copyButton("Copy the link", () => address),
    );
  });
  const what = "Each link is one seat. Send it to the person who plays there, or open it here.";
  return h(
    "section",
    { class: "panel invitations" },
    h("h2", {}, "Other seats"),
    h("p", { class: "faint" }, what),
    h("ul", {}, lines),
  );
}
