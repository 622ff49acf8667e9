import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import vm from "node:vm";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { bundleForBrowser } from "../../scripts/browser-bundle.ts";
import { repositoryRoot } from "../support/source-files.ts";
import { openShop } from "./shop.ts";

async function bundle(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "keelson-client-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return await bundleForBrowser(join(repositoryRoot, "src/client/index.ts"), folder);
}

describe("the client's bundle for browsers", () => {
  it("is under 6 kB, minified and compressed", async () => {
    expect(gzipSync(await bundle()).length).toBeLessThan(6_000);
  });

  it("works with browser APIs only", async () => {
    const { baseUrl, close } = await openShop();
    onTestFinished(close);
    const script = (await bundle()).replace(/export\s*\{([^}]*)\};?\s*$/, (_, names: string) => {
      const members = names.split(",").map((name) => name.split(" as ").reverse().join(":"));
      return `globalThis.client={${members.join(",")}};`;
    });
    const context = vm.createContext({ fetch, Headers });
    vm.runInContext(script, context);
    const run = async (code: string): Promise<unknown> => JSON.parse(await vm.runInContext(code, context));
    const create = `client.createClient({ baseUrl: ${JSON.stringify(baseUrl)}, routes: { person: { path: "people" } } })`;
    expect(
      await run(
        `${create}.person.list({ where: { name: { like: "AN" } }, select: ["name"] }).then((page) => JSON.stringify(page))`,
      ),
    ).toEqual({ data: [{ id: "ann", name: "ann" }], total: 1, nextCursor: null });
    expect(
      await run(
        `${create}.person.get("nope").catch((error) => JSON.stringify([error instanceof client.KeelsonClientError, error.code]))`,
      ),
    ).toEqual([true, "NOT_FOUND"]);
  });
});
