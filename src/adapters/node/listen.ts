import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { ConfigurationError } from "../../entity/index.ts";

/**
 * Starts listening, and tells where.
 * @throws ConfigurationError when the port is taken or may not be used
 */
export async function listen(
  server: Server,
  port: number,
  hostname: string | undefined,
): Promise<{ readonly url: string; readonly port: number }> {
  try {
    await once(server.listen(port, hostname), "listening");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const place = `${hostname ?? "*"}:${port}`;
    throw new ConfigurationError(`Cannot listen on ${place} (${code}); choose another port`, { cause });
  }
  const address = server.address() as AddressInfo;
  const host = hostname?.includes(":") ? `[${hostname}]` : (hostname ?? "localhost");
  return { url: `http://${host}:${address.port}`, port: address.port };
}
