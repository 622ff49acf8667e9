import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/index.ts";
import type { CallerName } from "../protected/truth.ts";
import { type AttackedApp, type Hole, startAttackedApp } from "./attacked-app.ts";
import type { SentInit } from "./probe.ts";
import { sendAs } from "./send-as.ts";

/** A request as described in an advisory: caller, method, path, and the rest of the request. */
export type Asked = readonly [as: CallerName, method: string, path: string, init?: SentInit];

/** Starts the attacked app for the tests of a file. Call it while tests are collected. */
export function attackedApp(hole?: Hole): () => AttackedApp {
  let app: AttackedApp;
  beforeAll(async () => {
    const driver = memoryDriver();
    app = await startAttackedApp({ driver, rows: (entity) => driver.findMany(entity) }, hole);
  });
  afterAll(() => app.close());
  return () => app;
}

/**
 * One advisory: its exploit is refused like any invalid request, and legitimate requests next to it work.
 * @param title the advisory's id, and what happened
 * @param exploits requests that must be refused without revealing anything
 * @param neighbours similar requests that must succeed
 */
export function advisory(
  title: string,
  app: () => AttackedApp,
  { exploits, neighbours }: { readonly exploits: readonly Asked[]; readonly neighbours: readonly Asked[] },
): void {
  describe(title, () => {
    it("is refused", async () => {
      for (const [as, method, path, init] of exploits) {
        const { status, headers, text } = await sendAs(app(), as, method, path, init);
        const at = `${as} ${method} ${path}: ${status} ${text.slice(0, 200)}`;
        expect([400, 401, 403, 404], at).toContain(status);
        expect(headers.get("x-total-count"), at).toBeNull();
        expect(app().canaries.leaksIn(text, null), at).toEqual([]);
      }
    });

    it("does not affect legitimate requests", async () => {
      for (const [as, method, path, init] of neighbours) {
        const { status, text } = await sendAs(app(), as, method, path, init);
        expect([200, 201], `${as} ${method} ${path}: ${status} ${text.slice(0, 200)}`).toContain(status);
      }
    });
  });
}
