// The links of a table's other human seats, which only the browser that opened it knows.

import { copyButton, h } from "./dom.js";

/** Remember the seats' keys ("0" -> key) under each of them. */
export function rememberSeats(keys) {
  for (const key of Object.values(keys)) sessionStorage.setItem(key, JSON.stringify(keys));
}

/** The links to the other seats, or null if there are none or another browser opened the table. */
export function invitations(key) {
  const keys = JSON.parse(sessionStorage.getItem(key) || "{}");
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
