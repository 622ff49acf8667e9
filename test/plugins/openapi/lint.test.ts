import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Spectral } from "@stoplight/spectral-core";
import { oas } from "@stoplight/spectral-rulesets";
import { noopLogger } from "keelson";
import { openapiDocument } from "keelson/openapi";
import { expect, it, onTestFinished } from "vitest";
import { createFilms } from "../../../examples/films/api.ts";
import { freshSqliteFile } from "../../support/databases.ts";

const CALLERS = [
  ["the system", "system"],
  ["a user", { id: "ann" }],
  ["nobody", "public"],
] as const;

async function openFilms() {
  const { file, remove } = await freshSqliteFile();
  const secrets = { tokens: "x".repeat(32), encryption: "ab".repeat(32) };
  const api = createFilms({ file, secrets, logger: noopLogger });
  onTestFinished(remove);
  onTestFinished(() => api.close());
  return api;
}

it.each(CALLERS)("the document of the films for %s passes the strict rules of Redocly", async (_, as) => {
  const api = await openFilms();
  const config = await createConfig({ extends: ["recommended-strict"], rules: { "tag-description": "error" } });
  const source = JSON.stringify(await openapiDocument(api, { as }));
  const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
});

it.each(CALLERS)("the document of the films for %s passes the rules of Spectral", async (_, as) => {
  const api = await openFilms();
  const spectral = new Spectral();
  spectral.setRuleset({ extends: [[oas as never, "recommended"]], rules: { "oas3-parameter-description": "error" } });
  const problems = await spectral.run(JSON.parse(JSON.stringify(await openapiDocument(api, { as }))));
  expect(problems.map(({ code, message, path }) => [code, message, path.join("/")])).toEqual([]);
});

it("a list repeats at most a third of its parameters, and references the others", async () => {
  const api = await openFilms();
  const { paths, components } = await openapiDocument(api);
  const { parameters = [] } = paths["/api/films"]?.get ?? {};
  expect(parameters.length).toBeLessThan(408 / 3);
  expect(parameters).toContainEqual({ $ref: "#/components/parameters/_page" });
  expect(components.parameters["Film._where"]?.schema).toMatchObject({
    contentMediaType: "application/json",
    contentSchema: { $ref: "#/components/schemas/FilmWhere" },
  });
  const { reviews, genre } = (components.schemas.FilmWhere as { properties: Record<string, object> }).properties;
  expect(JSON.stringify([reviews, genre])).toMatch(/ReviewWhere.*some.*GenreWhere/);
});
