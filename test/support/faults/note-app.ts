import {
  action,
  bulkUpdateAction,
  createPlugin,
  type Driver,
  entity,
  int,
  keelson,
  type Limits,
  noopLogger,
  string,
} from "../../../src/index.ts";
import { audit } from "../../../src/plugins/audit/index.ts";
import { type JsonResponse, request } from "../http.ts";

const OPEN = { read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] };

export const note = entity("note", { text: string, size: int.default(0) })
  .rules(OPEN)
  .actions({
    bulkUpdate: bulkUpdateAction(),
    /** Holds a connection for a while. */
    slow: action()
      .rules("everyone")
      .input({ milliseconds: int.default(50), text: string.default("slow") })
      .handler(({ input, transaction }) =>
        transaction(async ({ driver, client }) => {
          const { id } = await client("note").create({ text: input.text });
          await new Promise((resolve) => setTimeout(resolve, input.milliseconds));
          await driver.update("note", { id }, { size: 1 });
          return { id };
        }),
      ),
  });

/** Notes that all callers read and write, each change with an audit entry. */
export function noteApp(driver: Driver, limits: Partial<Limits> = {}) {
  let begun = 0;
  const counting = createPlugin({ id: "counting", hooks: { "request:start": () => void begun++ } });
  const api = keelson({ entities: [note], driver, limits, plugins: [audit(), counting], logger: noopLogger });
  return { ...api, begun: () => begun };
}

/** Waits for a condition; the test's time limit ends the wait. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Checks a response to a database failure: 503, Retry-After, and no details of the cause. */
export function unavailable({ status, headers, json }: JsonResponse): string | undefined {
  if (status !== 503) return `status ${status}`;
  if (!/^\d+$/.test(headers.get("retry-after") ?? "")) return "no Retry-After";
  if (json.code !== "DATABASE_UNAVAILABLE" && json.code !== "UNAVAILABLE") return `code ${json.code}`;
  return /127\.0\.0\.1|ECONN|prisma|terminat|pg_/i.test(JSON.stringify(json)) ? "tells too much" : undefined;
}

/** Repeats a read until the app answers it; the test's time limit ends the wait. */
export async function untilThere(url: string): Promise<void> {
  while ((await request(url, "GET", "/api/notes?_limit=1")).status !== 200)
    await new Promise((resolve) => setTimeout(resolve, 50));
}
