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

/** A text with a copy button's usual manners: it says that it has copied. */
export function copyButton(words, text) {
  const button = h("button", { type: "button", class: "quiet", onclick: copy }, words);
  async function copy() {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Copying is not allowed here";
    }
    setTimeout(() => (button.textContent = words), 2000);
  }
  return button;
}
