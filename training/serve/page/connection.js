// A seat's connection to the server, which is opened again whenever it breaks.

const FIRST_PAUSE = 500; // milliseconds; each pause is twice as long as the one before
const LONGEST_PAUSE = 15_000;
const REFUSED = 4004; // the code of a closed connection after which trying again is no use
const TRY_LATER = 1013; // after which it is; the server has said why

export class Connection {
  /** `onMessage(message)` gets what the server sends, `onState("open" | "lost" | "refused")` follows. */
  constructor(key, onMessage, onState) {
    this.key = key;
    this.onMessage = onMessage;
    this.onState = onState;
    this.pause = FIRST_PAUSE;
    this.closed = false;
    this.now = () => this.tryNow();
    addEventListener("online", this.now);
    this.open();
  }

  open() {
    if (this.socket) this.socket.onmessage = this.socket.onclose = null; // it may close only later
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(
      `${scheme}//${location.host}/ws?key=${encodeURIComponent(this.key)}`,
    );
    this.socket = socket;
    this.seated = false;
    socket.onmessage = (event) => this.receive(JSON.parse(event.data));
    socket.onclose = (event) => this.lost(event.code);
  }

  /** The connection is open once a position comes: the server may still refuse it. */
  receive(message) {
    if (!this.seated && message.type === "position") {
      this.seated = true;
      this.pause = FIRST_PAUSE;
      this.onState("open");
    }
    this.onMessage(message);
  }

  lost(code) {
    if (this.closed) return;
    if (code === REFUSED) {
      this.close();
      this.onState("refused");
      return;
    }
    if (code !== TRY_LATER) this.onState("lost");
    this.timer = setTimeout(() => this.open(), this.pause);
    this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
  }

  tryNow() {
    if (this.closed || this.socket.readyState <= WebSocket.OPEN) return;
    clearTimeout(this.timer);
    this.open();
  }

  /** False unless the board is that of an open connection: the game may have moved on meanwhile. */
  send(message) {
    if (!this.seated || this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    removeEventListener("online", this.now);
    this.socket.close();
  }
}
