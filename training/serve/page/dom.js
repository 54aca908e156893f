// Elements without markup: words stay words, wherever they come from.

/** An element; attributes that are functions listen (`onclick`), false and null ones are none. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== false));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** An element of a picture. */
export function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A button that copies a text, and says whether it could. */
export function copyButton(words, text) {
  const button = h("button", { type: "button", class: "quiet", onclick: copy }, words);
  async function copy() {
    const done = await copied(text());
    button.textContent = done ? "Copied" : "Copying is not allowed here";
    setTimeout(() => (button.textContent = words), 2000);
  }
  return button;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedFromField(text); // browsers have no clipboard where the address is not https
  }
}

function copiedFromField(text) {
  const focused = document.activeElement;
  const field = h("textarea", { class: "unseen", readonly: true }, text);
  document.body.append(field);
  field.focus({ preventScroll: true });
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  focused.focus({ preventScroll: true });
  return done;
}
