import { expect, it } from "vitest";
import { entity, enums, int, jsonTyped, string } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { openPage } from "../support/page.ts";

const guide = openPage("guides/kinds");
const everyone = { create: ["everyone"], read: ["everyone"] };
const thing = entity("thing", {
  nr: int,
  state: enums("open", "in progress", "done").native().default("open"),
  tags: string.max(40).lower().array().optional(),
  settings: jsonTyped<object>().optional(),
}).rules(everyone);

/** Rows of the guide's tables that show a parameter and the same condition in code. */
const rows = [...guide.text.matchAll(/^\| `((?:tags|settings)[^`]*=[^`]*)` \|[^|]*\| `(\{[^`]*\})` \|$/gm)];

it("docs/guides/kinds.md shows each condition as a parameter and in code", async () => {
  expect(rows.length).toBeGreaterThan(9);
  const app = createTestApp({ entities: [thing] });
  const client = app.api.asSystem().thing;
  const things = [
    { tags: ["Red", "blue"], settings: { theme: "dark", size: 4, author: { name: "Ann", tags: ["x"] } } },
    { tags: ["red"], settings: { theme: "light", size: 2 } },
    { tags: [], settings: { theme: null } },
    { tags: null, settings: null },
  ];
  for (const [nr, given] of things.entries()) await client.create({ nr, ...given });
  for (const [, parameter, code] of rows) {
    const where = new Function(`return (${code})`)() as object;
    const { status, body } = await app.as(null).request("GET", `/api/things?${parameter}&_sort=nr`);
    expect(status, parameter).toBe(200);
    const found = (body as { nr: number }[]).map(({ nr }) => nr);
    const { data } = await client.list({ where: where as never, sort: ["nr"] });
    expect(found.length, parameter).toBeGreaterThan(0);
    expect(
      data.map(({ nr }) => nr),
      parameter,
    ).toEqual(found);
  }
  await app.close();
  guide.remove();
});
