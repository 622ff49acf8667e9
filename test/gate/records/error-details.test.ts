import { describe, expect, it, onTestFinished } from "vitest";
import { entity, int, KeelsonError, string } from "../../../src/entity/index.ts";
import {
  createPlugin,
  type FieldMask,
  type HookFunction,
  type OperationScope,
  tagRecord,
} from "../../../src/gate/index.ts";
import { ConflictError, handleError } from "../../../src/kernel/index.ts";
import { createTestApp, recordingLogger } from "../../../src/testing/index.ts";
import { deferred } from "../../support/deferred.ts";

const thing = entity("thing", { name: string, salary: int, token: string.omit().optional() }).rules({
  read: ["everyone"],
});
const withoutSalary = (mask: FieldMask): FieldMask => ({ ...mask, readable: new Set(["id", "name"]) });
const hide: HookFunction<"access:mask"> = (draft) => {
  draft.mask = withoutSalary(draft.mask);
};

/** The response of an app whose handler, or whose request hook, throws. */
async function failing(
  handler: (scope: OperationScope) => unknown,
  hooks: NonNullable<Parameters<typeof createPlugin>[0]["hooks"]> = { "access:mask": hide },
) {
  const log = recordingLogger();
  const app = createTestApp({
    entities: [thing],
    logger: log,
    plugins: [
      createPlugin({
        id: "failing",
        version: "1.0.0",
        hooks,
        endpoints: {
          run: { path: "/run", method: "GET", rules: ["everyone"], handler: ({ scope }) => handler(scope) },
        },
      }),
    ],
  });
  onTestFinished(() => app.close());
  await app.api.asSystem().thing.create({ id: "t", name: "n", salary: 47_114_711, token: "canary" });
  return { log, ...(await app.as(null).request("GET", "/run")) };
}

const detailsOf = ({ body }: { readonly body: unknown }): unknown => (body as { readonly details?: unknown }).details;

describe("records in the details of an error", () => {
  it("are masked for the caller as in any response, at any depth", async () => {
    const reply = await failing(async ({ driver }) => {
      const record = await driver.findOne("thing", { id: "t" });
      throw new ConflictError("taken", { details: { record, list: [{ ...record }], at: new Date(0), count: 1 } });
    });
    expect(reply.body).toMatchObject({ code: "CONFLICT", message: "taken", status: 409 });
    const shown = { id: "t", name: "n" };
    expect(detailsOf(reply)).toEqual({ record: shown, list: [shown], at: "1970-01-01T00:00:00.000Z", count: 1 });
  });

  it("are masked in the details of custom errors", async () => {
    class Taken extends KeelsonError {
      readonly #by: unknown;
      constructor(by: unknown) {
        super("TAKEN", 409, "taken");
        this.#by = by;
      }
      override toJSON(): Record<string, unknown> {
        return { ...super.toJSON(), by: this.#by };
      }
    }
    const reply = await failing(async ({ driver }) => {
      throw new Taken(await driver.findOne("thing", { id: "t" }));
    });
    expect(reply.body).toMatchObject({ code: "TAKEN", by: { id: "t", name: "n" } });
    expect(JSON.stringify(reply.body)).not.toContain("47114711");
  });

  it("wait for an async mask", async () => {
    const opened = deferred<void>();
    const answer = failing(
      async ({ driver }) => {
        const record = await driver.findOne("thing", { id: "t" });
        opened.resolve();
        throw new ConflictError("taken", { details: record });
      },
      {
        "access:mask": async (draft) => {
          if (draft.principal.kind === "system") return;
          const widest = draft.mask;
          draft.mask = withoutSalary(widest);
          await opened.promise;
          draft.mask = widest;
        },
      },
    );
    expect(detailsOf(await answer)).toMatchObject({ name: "n", salary: 47_114_711 });
  });

  it("are left out if the caller is unknown", async () => {
    const record = tagRecord(thing.build(), { id: "t", name: "n", salary: 47_114_711 });
    const thrown = () => {
      throw new ConflictError("taken", { details: { record, list: [record], why: "taken" } });
    };
    const details = { list: [null], why: "taken" };
    expect(detailsOf(await failing(() => ({}), { "request:start": thrown }))).toEqual(details);
    expect(detailsOf(await failing(() => ({}), { "request:end": thrown }))).toEqual(details);
    expect(JSON.parse(JSON.stringify(handleError(new ConflictError("no", { details: { record } })).body))).toEqual({
      code: "CONFLICT",
      message: "no",
      status: 409,
      details: {},
    });
  });

  it("are left out if they are not JSON, and the error is still reported", async () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    for (const details of [circle, { list: [circle] }]) {
      const reply = await failing(() => {
        throw new ConflictError("taken", { details });
      });
      expect(reply).toMatchObject({ status: 409, body: { code: "CONFLICT", message: "taken", status: 409 } });
      expect(reply.body).not.toHaveProperty("details");
      const early = await failing(() => ({}), {
        "request:start": () => {
          throw new ConflictError("taken", { details });
        },
      });
      expect(early).toMatchObject({ status: 409, body: { code: "CONFLICT", message: "taken" } });
    }
  });
});
