import { afterEach, describe, expect, it } from "vitest";
import {
  action,
  defineRule,
  entity,
  keelson,
  memoryDriver,
  noopLogger,
  type Step,
  step,
  string,
  workflows,
} from "../../../src/index.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";
import { deferred } from "../../support/deferred.ts";

const insider = defineRule("parallelInsider", ({ user }) => user?.role === "insider");
const secret = entity("secret", { text: string }).rules({ read: [insider] });
type Client = (name: string) => Record<"count" | "run" | "tell", () => Promise<unknown>>;

let counted: ReturnType<typeof deferred<void>>;
let begun: ReturnType<typeof deferred<void>>;
/** Its first attempt fails after the handler has counted. */
const flaky: Step = {
  name: "flaky",
  atomic: true,
  retry: { attempts: 2, delay: 1 },
  async execute({ attempt }: { readonly attempt: number }) {
    begun.resolve();
    await counted.promise;
    if (attempt === 1) throw new Error("once");
    return { done: true };
  },
};
const apps: { close(): Promise<unknown> }[] = [];
afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())).then(() => {}));

describe("a handler with a run in progress", () => {
  it.each([
    ["itself", true],
    ["itself", false],
    ["another run", false],
  ])("has what is counted meanwhile compared: by %s, journal: %s", async (by, journal) => {
    counted = deferred<void>();
    begun = deferred<void>();
    let role = "insider";
    const own = () => action().rules("authenticated");
    const note = entity("note", { text: string })
      .rules({ read: ["authenticated"] })
      .actions({
        run: own().workflow([flaky]),
        tell: own().workflow([
          step("count", async (given) => ({ n: await (given.client as never as Client)("secret").count() })),
        ]),
        both: own().handler(async (given) => {
          const client = given.client as never as Client;
          const count = async () => {
            await begun.promise;
            const found = await (by === "itself" ? client("secret").count() : client("note").tell());
            counted.resolve();
            return found;
          };
          return { found: (await Promise.all([client("note").run(), count()]))[1] };
        }),
      });
    const api = keelson({
      entities: [secret, note],
      driver: memoryDriver({ secret: [{ id: "s", text: "alpha" }] }),
      logger: noopLogger,
      plugins: (defaults) =>
        defaults.replace("workflows", workflows({ journal })).with(idempotency({ withoutTransaction: ["note.both"] })),
      getUser: () => ({ id: "ann", role }),
    });
    apps.push(api);
    await api.ready;
    const send = async () => {
      const headers = { "content-type": "application/json", "idempotency-key": "k" };
      const init = { method: "POST", headers, body: "{}" };
      return (await api.fetch(new Request("http://test.invalid/api/notes/both", init))).status;
    };
    expect([await send(), await send()]).toEqual([200, 200]);
    role = "outsider";
    expect(await send()).toBe(403);
  });
});
