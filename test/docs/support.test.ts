import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openPage } from "../support/page.ts";
import { repositoryRoot } from "../support/source-files.ts";

const read = (file: string): string => readFileSync(join(repositoryRoot, file), "utf8");
const manifest = JSON.parse(read("package.json")) as {
  readonly license: string;
  readonly engines: { readonly node: string };
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};
const page = read("docs/support.md");
const row = (name: string): string => new RegExp(`^\\| ${name} \\| ([^|]*) \\|`, "m").exec(page)?.[1] ?? "";

it("docs/support.md names the versions that the package requires", () => {
  const { engines, peerDependencies, devDependencies } = manifest;
  expect(engines.node).toBe(`>=${row("Node.js").split(" ")[0]}`);
  expect(devDependencies.typescript).toMatch(row("TypeScript").split(" ")[0] ?? "?");
  expect(peerDependencies["@tanstack/react-query"]).toBe(`^${row("TanStack Query").split(" ")[0]}.0`);
  expect(peerDependencies["better-auth"]).toBe(`^${row("better-auth").split(" ")[0]}.0`);
  const [express, hono, next] = row("Express, Hono, Next.js").split(";");
  const majors = (text = ""): string[] => text.match(/\d+/g) ?? [];
  const declared = (name: string): string[] =>
    (peerDependencies[name] ?? "").split("||").map((range) => /\d+/.exec(range)?.[0] ?? "");
  expect([majors(express), majors(hono), majors(next)]).toEqual(["express", "hono", "next"].map(declared));
});

it("docs/support.md names the licence of the package", () => {
  expect(page).toContain(`${manifest.license} licence`);
  expect(read("LICENSE")).toContain("MIT");
});

it("docs/support.md has a worker that handles requests", async () => {
  const blocks = openPage("support");
  onTestFinished(() => blocks.remove());
  const { worker } = await blocks.load<{ worker: { fetch(request: Request): Promise<Response> } }>("worker.ts");
  const response = await worker.fetch(new Request("http://notes.example/api/notes"));
  expect([response.status, await response.json()]).toEqual([200, []]);
});
