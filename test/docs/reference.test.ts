import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as keelson from "../../src/index.ts";
import { DEFAULT_LIMITS } from "../../src/kernel/index.ts";
import * as idempotency from "../../src/plugins/idempotency/index.ts";
import { LIST_FAULTS, PLUGIN_FAULTS } from "../support/plugin-faults.ts";
import { sourceFiles } from "../support/source-files.ts";
import { hookNames } from "./concepts/members-of.ts";

/** First cells of a page's table, without back-ticks. */
function column(page: string, index = 1): string[] {
  const rows = readFileSync(new URL(`../../docs/reference/${page}`, import.meta.url), "utf8").split("\n");
  return rows
    .filter((row) => row.startsWith("| `"))
    .map((row) => (row.split("|")[index] as string).trim().replaceAll("`", ""));
}

describe("docs/reference/errors.md", () => {
  const classes = Object.entries({ ...keelson, ...idempotency }).filter(
    ([name, value]) =>
      typeof value === "function" && name.endsWith("Error") && name !== "KeelsonError" && /^[A-Z]/.test(name),
  );
  const made = classes.map(([name, make]) => {
    const argument =
      name === "MethodNotAllowedError"
        ? ["GET"]
        : name === "PayloadTooLargeError" || name === "RateLimitedError"
          ? 1
          : name === "ValidationFailedError"
            ? {}
            : "x";
    const { code, status } = new (make as new (argument: unknown) => keelson.KeelsonError)(argument);
    return `${code} ${status} ${name}`;
  });

  it("lists every error class with its code and status, and no other", () => {
    const codes = column("errors.md");
    const statuses = column("errors.md", 2);
    const names = column("errors.md", 3);
    expect(codes.map((code, i) => `${code} ${statuses[i]} ${names[i]}`).sort()).toEqual(made.sort());
  });

  it("lists every code that the source mentions", () => {
    // Codes that a client assigns to responses from outside the API are not sent.
    const answering = (path: string) => path.endsWith(".ts") && !path.startsWith("src/client/");
    const used = sourceFiles("src", answering).flatMap(({ text }) =>
      [...text.matchAll(/super\(\s*"([A-Z_]+)"|code: "([A-Z_]{5,})"/g)].map((match) => match[1] ?? match[2]),
    );
    expect(column("errors.md")).toEqual(expect.arrayContaining([...new Set(used)]));
  });
});

describe("docs/reference/hooks.md", () => {
  it("lists every hook, and no other", () => {
    expect(column("hooks.md").sort()).toEqual(hookNames().sort());
  });
});

describe("docs/reference/limits.md", () => {
  it("lists every limit with its default, and no other", () => {
    const rows = column("limits.md").map((name, i) => [name, Number(column("limits.md", 2)[i])]);
    expect(Object.fromEntries(rows)).toEqual(DEFAULT_LIMITS);
  });
});

describe("docs/reference/start-up.md", () => {
  const fragments = column("start-up.md");
  const patterns = fragments.map(
    (fragment) => new RegExp(fragment.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", ".+")),
  );
  const late = 'Plugin "acme/odd" called hooks.on("request:end") after setup, when it would have no effect';
  const said = [...[...PLUGIN_FAULTS, ...LIST_FAULTS].map(([, , problem]) => problem), late];

  it("has every problem of a plugin", () => {
    expect(said.filter((problem) => !patterns.some((pattern) => pattern.test(problem)))).toEqual([]);
  });

  it("has no row about a problem that no test causes", () => {
    expect(fragments.filter((_, i) => !said.some((problem) => patterns[i]?.test(problem)))).toEqual([]);
  });

  it("has only sentences from the source", () => {
    const source = ["src/kernel", "src/gate", "src/entity"]
      .flatMap((folder) => sourceFiles(folder))
      .map(({ text }) => text)
      .join("\n");
    const parts = fragments.flatMap((fragment) => fragment.split(/…|"|: /)).map((part) => part.trim());
    expect(parts.filter((part) => part.length > 3 && !source.includes(part))).toEqual([]);
  });
});
