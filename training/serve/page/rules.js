// The rules of a game, in a window above the table.

import { ask } from "./api.js";
import { showAbove } from "./dialog.js";
import { h } from "./dom.js";

/** A button that opens the rules of a variant. */
export function rulesButton(variant) {
  return h("button", { type: "button", onclick: () => open(variant()) }, "Rules");
}

async function open(variant) {
  const text = h("div", { class: "prose", tabindex: "0", role: "region", "aria-label": "Rules" });
  showAbove("Rules", text);
  try {
    const { html } = await ask(`/api/rules/${encodeURIComponent(variant)}`);
    const parsed = new DOMParser().parseFromString(html, "text/html");
    text.replaceChildren(...[...parsed.body.childNodes].map((node) => document.adoptNode(node)));
  } catch (error) {
    text.replaceChildren(error.message);
  }
}
