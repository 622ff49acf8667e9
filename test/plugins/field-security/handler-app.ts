import {
  createPlugin,
  type EntityLike,
  endpoint,
  type KeelsonConfig,
  memoryDriver,
  noopLogger,
  type Plugin,
  type PluginList,
  type User,
} from "../../../src/index.ts";
import type { OperationScope } from "../../../src/plugin.ts";
import { createTestApp } from "../../../src/testing/index.ts";

type Config<E extends readonly EntityLike[]> = Omit<KeelsonConfig<E>, "getUser" | "plugins">;

/**
 * An app with an endpoint whose handler a test sets.
 * @param choose plugins, from the default ones @default these
 */
export function createHandlerApp<const E extends readonly EntityLike[]>(
  config: Config<E>,
  choose: (defaults: PluginList) => Iterable<Plugin> = (defaults) => defaults,
) {
  let work: (scope: OperationScope) => unknown = () => undefined;
  const run = endpoint("/run", { method: "GET", rules: ["everyone"], handler: ({ scope }) => work(scope) });
  const app = createTestApp<E>({
    driver: memoryDriver(),
    logger: noopLogger,
    ...config,
    plugins: (defaults) => [...choose(defaults), createPlugin({ id: "handler", version: "1.0.0", endpoints: { run } })],
  });
  return {
    ...app,
    /** The endpoint's handler from now on. */
    handle(code: (scope: OperationScope) => unknown): void {
      work = code;
    },
    /** What code in a handler reads, and the response to its caller. */
    async inHandler<T>(code: (scope: OperationScope) => Promise<T>, as: User | null = null) {
      let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
      work = async (scope) => {
        try {
          outcome = { value: await code(scope) };
        } catch (error) {
          outcome = { error };
          throw error;
        }
        return outcome.value;
      };
      const { status, body } = await app.as(as).request("GET", "/run");
      if (outcome === undefined || "error" in outcome) throw outcome?.error;
      return { value: outcome.value, status, body };
    },
  };
}
