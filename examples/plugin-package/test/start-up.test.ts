import { ConfigurationError, entity, int, memoryDriver, noopLogger, string } from "keelson";
import { createFakeKernel, createTestApp } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { type SlugsOptions, slug, slugs } from "../src/index.ts";

/** Stands in for the service of the plugin crud: the fake kernel boots no other plugin. */
const parser = { reads: () => () => ({}), describe: async () => [], includes: async () => [] };
const kernel = () => createFakeKernel().given("query", parser);

const post = entity("post", { title: string, slug: slug() });

/** The text of the start-up report. */
async function problemsOf(fields: Parameters<typeof entity>[1], options: Record<string, unknown> = {}) {
  const error = await kernel()
    .withEntities(entity("post", fields))
    .use(slugs(options as Partial<SlugsOptions>))
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigurationError);
  return (error as Error).message;
}

describe("slugs()", () => {
  it("declares a route, a service and a hook, and nothing else", async () => {
    const fake = kernel().withEntities(post).withDriver(memoryDriver());
    await fake.use(slugs());
    expect(fake.seen).toEqual({
      services: ["slugs"],
      hooks: ["operation:validate"],
      routes: ["GET /posts/by-slug/:slug"],
      requires: ["crud"],
      provides: [],
      problems: [],
    });
  });

  it("has no route where none is wanted", async () => {
    const fake = kernel().withEntities(post).withDriver(memoryDriver());
    await fake.use(slugs({ route: false }));
    expect(fake.seen.routes).toEqual([]);
  });

  it("takes another transliteration", async () => {
    const cyrillic = new Map([..."привет"].map((letter, i) => [letter, [..."privet"][i] as string]));
    const transliterate = (text: string) => [...text].map((letter) => cyrillic.get(letter) ?? letter).join("");
    const fake = kernel().withEntities(post).withDriver(memoryDriver()).as({ id: "ann" });
    await fake.use(slugs({ transliterate: (text) => transliterate(text.toLowerCase()) }));
    // No plugin checks or completes values here: the driver alone generates the slug.
    const { records } = await fake.operation({ kind: "create", entity: "post", data: { title: "Привет" } });
    expect(records[0]).toMatchObject({ slug: "privet" });
  });

  it.each([
    ["an option it does not know", { title: string, slug: slug() }, { seperator: "_" }, /"seperator".*"separator"/],
    ["an unknown separator", { title: string, slug: slug() }, { separator: "/" }, /separator must be "-" or "_"/],
    ["a length out of range", { title: string, slug: slug({ maxLength: 5 }) }, {}, /post\.slug: maxLength must be/],
    ["no slug field at all", { title: string }, {}, /no entity has a slug\(\) field/],
    ["two slug fields", { title: string, slug: slug(), short: slug() }, {}, /post\.short: an entity has one slug/],
    ["a field that is not there", { titel: string, slug: slug() }, {}, /no field "title".*Did you mean "titel"/],
    ["a field that is no text", { title: int, slug: slug() }, {}, /made from text, and "title" is int/],
    ["a field that is hidden", { title: string.readable("admin"), slug: slug() }, {}, /would show what is in "title"/],
    ["a text in place of a function", { title: string, slug: slug() }, { transliterate: "yes" }, /must be a function/],
  ])("does not start with %s", async (_, fields, options, message) => {
    expect(await problemsOf(fields, options)).toMatch(message);
  });
});

it("a slug() field without the plugin stores nothing", async () => {
  const lonely = entity("lonely", { title: string, slug: slug() }).rules({ read: ["everyone"], create: ["everyone"] });
  const app = createTestApp({ entities: [lonely], logger: noopLogger });
  const { status } = await app.as(null).request("POST", "/api/lonelies", { title: "x" });
  expect([status, await app.api.asSystem().lonely.count()]).toEqual([500, 0]);
  await app.close();
});
