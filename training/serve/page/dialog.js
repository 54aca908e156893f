// A window above the table, closed by its button or by Escape.

import { h } from "./dom.js";

/** Show something; returns the window. */
export function showAbove(label, content) {
  const close = h("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const dialog = h(
    "dialog",
    { "aria-label": label, onclose: () => dialog.remove() },
    content,
    close,
  );
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
