// Holds keep-alive connections to PORT that have had one answer and ask nothing more, as many as it is told over IPC.
import { once } from "node:events";
import { connect, type Socket } from "node:net";

const AT_ONCE = 100;
const QUESTION = "GET /api/orders/o1 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";

const open: Socket[] = [];

/** Asks once, and waits for the answer; the server then keeps the connection for as long as it keeps idle ones. */
async function ask(socket: Socket): Promise<void> {
  const answer = once(socket, "data");
  socket.write(QUESTION);
  const text = String((await answer)[0]);
  if (!text.startsWith("HTTP/1.1 200")) throw new Error(text);
}

async function openOne(): Promise<void> {
  const socket = connect(Number(process.env.PORT), "127.0.0.1");
  await once(socket, "connect");
  socket.on("close", () => {
    if (open.includes(socket)) throw new Error("the server has closed an idle connection");
  });
  await ask(socket);
  open.push(socket);
}

async function adjust(count: number): Promise<void> {
  for (const socket of open.splice(count)) socket.destroy();
  const kept = [...open];
  let missing = count - kept.length;
  const worker = async (): Promise<void> => {
    for (let socket = kept.pop(); socket !== undefined; socket = kept.pop()) await ask(socket);
    while (missing-- > 0) await openOne();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

process.on("message", async (count: number) => {
  await adjust(count);
  process.send?.(open.length);
});
process.on("disconnect", () => process.exit());
process.send?.("ready");
