// A bot in JavaScript. It plays random actions; put your idea into `choose`.
//
// hanamachi evaluate process:examples/bots/bot.js random --game hanamikoji

// The number of a legal action. `view` is all that you may know: view.table holds the cards,
// view.events what happened since your last turn, and view.legal your actions, such as
// {"action": 5, "words": "secret 4", "pieces": ["use:secret", "hand:4"]}.
function choose(view) {
  return view.legal[Math.floor(Math.random() * view.legal.length)].action;
}

function answer(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
}

const lines = require("node:readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hello") {
    answer({ type: "ready" });
  } else if (message.type === "move") {
    answer({ action: choose(message.view) });
  }
  // "end" tells how a game ended and "goodbye" that there are no more; neither wants an answer
});
