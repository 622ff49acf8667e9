import type { EntityLike, Keelson, KeelsonConfig, Plugin, User } from "../index.ts";
import { keelson, memoryDriver } from "../index.ts";

/** A response with its JSON parsed. */
export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** An app under test, with a function to call it as a user. */
export interface TestApp<TEntities extends readonly EntityLike[]> {
  readonly api: Keelson<TEntities>;
  /** Sends requests as a user; null for an anonymous caller. */
  as(user: User | null): {
    request(
      method: string,
      path: string,
      body?: unknown,
      headers?: Readonly<Record<string, string>>,
    ): Promise<TestResponse>;
  };
  close(): Promise<void>;
}

/**
 * Makes an in-process app that is called through `api.fetch` without a network; on `memoryDriver()` by default. Paths
 * include the API prefix (`/api/posts`).
 * @param config the options of `keelson()`
 * @example const app = createTestApp({ entities: [post] }) const { status } = await app.as({ id: "u1"
 *   }).request("POST", "/api/posts", { title: "Hello" })
 */
export function createTestApp<const TEntities extends readonly EntityLike[]>(
  config: Omit<KeelsonConfig<TEntities>, "getUser">,
): TestApp<TEntities> {
  const callers = new Map<string, User>();
  const api = keelson<TEntities, Iterable<Plugin>>({
    ...config,
    driver: config.driver ?? memoryDriver(),
    getUser: (request) => callers.get(request.headers.get("x-test-caller") ?? "") ?? null,
  });
  let count = 0;
  return {
    api,
    as(user) {
      const key = String(++count);
      if (user !== null) callers.set(key, user);
      return {
        async request(method, path, body, headers = {}) {
          const json = body === undefined ? {} : { body: JSON.stringify(body) };
          const type = body === undefined ? {} : { "content-type": "application/json" };
          const init = { method, ...json, headers: { ...type, ...headers, "x-test-caller": key } };
          const response = await api.fetch(new Request(`http://test.invalid${path}`, init));
          const text = await response.text();
          const isJson = /[/+]json\b/.test(response.headers.get("content-type") ?? "");
          return {
            status: response.status,
            headers: response.headers,
            body: isJson && text !== "" ? JSON.parse(text) : text,
          };
        },
      };
    },
    close: () => api.close(),
  };
}
