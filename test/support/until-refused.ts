import { once } from "node:events";
import { connect } from "node:net";

/** Connects to a local port until the connection is refused. */
export async function untilRefused(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const outcome = await Promise.race([
      once(socket, "connect").then(() => "accepted"),
      once(socket, "error").then(([error]) => (error as NodeJS.ErrnoException).code),
    ]).catch((error: NodeJS.ErrnoException) => error.code);
    socket.destroy();
    if (outcome === "ECONNREFUSED") return;
  }
}
