// Which view the address asks for: a seat, a game to watch, a replay, or the first screen.

import { home } from "./home.js";
import { replay } from "./replay.js";
import { table } from "./table.js";

const main = document.querySelector("main");
let leave = () => {};

function show() {
  leave();
  document.querySelector("dialog")?.close();
  main.replaceChildren();
  document.title = "Hanamachi";
  const address = new URLSearchParams(location.hash.slice(1));
  if (address.has("seat") && !address.has("replay"))
    leave = table(main, address.get("seat"), false);
  else if (address.has("watch")) leave = table(main, address.get("watch"), true);
  else if (address.has("replay")) leave = replay(main, address);
  else leave = home(main);
  scrollTo(0, 0);
}

addEventListener("hashchange", () => {
  show();
  main.focus({ preventScroll: true }); // the keyboard begins in the new view
});
show();
