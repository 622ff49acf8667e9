import type { PluginContext, RouteContext, RouteDescription } from "../../gate/index.ts";
import { kebabCase, PayloadTooLargeError, Reply } from "../../kernel/index.ts";

/** The used part of a better-auth instance. */
export interface AuthHandler {
  handler(request: Request): Promise<Response>;
  readonly api: object;
}

/** An endpoint as better-auth declares it. An endpoint without a path can only be called by code. */
interface AuthEndpoint {
  readonly path?: string;
  readonly options?: {
    readonly method?: string | readonly string[];
    readonly metadata?: { readonly SERVER_ONLY?: boolean; readonly openapi?: { readonly description?: string } };
  };
}

/** Passes the client's address to better-auth. Clients cannot set this header, because it is replaced. */
export const ADDRESS_HEADER = "x-keelson-address";

/** The largest request body for better-auth in bytes. */
const MOST_BYTES = 1_048_576;

/** Adds a route for each endpoint of better-auth and its plugins. */
export function addAccountRoutes({ routes }: PluginContext, auth: AuthHandler, path: string, origin: string): void {
  const taken = new Set<string>();
  for (const [name, endpoint] of Object.entries(auth.api) as [string, AuthEndpoint][]) {
    const { path: below, options } = endpoint;
    if (below === undefined || options?.metadata?.SERVER_ONLY === true) continue;
    for (const method of [options?.method ?? "GET"].flat()) {
      const at = `${method} ${below.replaceAll(/:[^/]+/g, ":")}`;
      if (taken.has(at)) continue;
      taken.add(at);
      routes.add({
        method,
        path: path + below,
        action: kebabCase(name),
        rules: ["everyone"],
        body: { as: "raw", bytes: MOST_BYTES },
        transactional: false,
        describe: () => describeEndpoint(method, options?.metadata?.openapi?.description),
        handler: async (call) => toReply(await auth.handler(await toRequest(call, origin))),
      });
    }
  }
}

/** The documentation of an endpoint. Its input and output are documented by better-auth, which has its own client. */
function describeEndpoint(method: string, description: string | undefined): RouteDescription {
  const body = { required: false, content: { "application/json": {} } };
  return { description, errors: ["4XX"], ...(method === "GET" ? {} : { body }) };
}

async function toRequest({ request }: RouteContext, origin: string): Promise<Request> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined && !DROPPED.has(name))
      headers.set(name, [value].flat().join(name === "cookie" ? "; " : ", "));
  if (request.address !== undefined) headers.set(ADDRESS_HEADER, request.address);
  const isRead = request.method === "GET" || request.method === "HEAD";
  return new Request(origin + request.url, {
    method: request.method,
    headers,
    body: isRead ? null : await readBody(request.body),
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  });
}

/** Headers of the connection, and headers that are replaced. */
const DROPPED: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
  ADDRESS_HEADER,
]);

/** @throws PayloadTooLargeError */
async function readBody(body: RouteContext["request"]["body"]): Promise<BodyInit | null> {
  if (body === undefined) return null;
  if (body.kind === "parsed") return JSON.stringify(body.value);
  if (body.kind === "text") return body.text;
  if (body.kind === "bytes") return new Uint8Array(body.bytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body.stream) {
    size += chunk.byteLength;
    if (size > MOST_BYTES) throw new PayloadTooLargeError(MOST_BYTES);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

async function toReply(response: Response): Promise<Reply> {
  const { status, headers } = response;
  const entries = [...headers].filter(([name]) => name !== "set-cookie" && name !== "content-length");
  const cookies = headers.getSetCookie();
  const all = { ...Object.fromEntries(entries), ...(cookies.length === 0 ? {} : { "set-cookie": cookies }) };
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (status >= 400) return new Reply(status, errorOf(status, bytes), withoutType(all));
  return new Reply(status, bytes.byteLength === 0 ? undefined : bytes, all);
}

/** Converts an error of better-auth to the format of the API's errors. */
function errorOf(status: number, bytes: Uint8Array): object {
  const none = { code: `STATUS_${status}`, message: "The request was refused", status };
  try {
    const { code, message, ...details } = JSON.parse(new TextDecoder().decode(bytes)) as Readonly<
      Record<string, unknown>
    >;
    return { ...none, ...details, ...(code ? { code } : {}), ...(message ? { message } : {}), status };
  } catch {
    return none; // an HTML page, or an empty body
  }
}

function withoutType({ "content-type": _, ...others }: Reply["headers"]): Reply["headers"] {
  return others;
}
