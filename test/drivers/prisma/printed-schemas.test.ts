import { getDMMF } from "@prisma/get-dmmf";
import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { toPrismaSchema } from "../../../src/drivers/prisma/index.ts";
import {
  belongsTo,
  bool,
  datetime,
  type EntityModel,
  email,
  entity,
  enums,
  float,
  hasMany,
  hasOne,
  int,
  json,
  manyToMany,
  type Provider,
  selfRef,
  string,
  text,
} from "../../../src/entity/index.ts";
import { createApp, createPlugin, schemaFromEntities } from "../../../src/gate/index.ts";
import { noopLogger } from "../../../src/kernel/index.ts";
import { workflows } from "../../../src/plugins/workflows/index.ts";

const author = entity("author", {
  name: string,
  address: email.unique(),
  secret: string.encrypted({ searchable: true }).optional(),
  passphrase: string.password(),
  books: hasMany(() => book).inverse("author"),
  profile: hasOne(() => profile),
  friends: manyToMany(() => author),
});
const profile = entity("profile", { bio: text.optional(), author: belongsTo(() => author).onDelete("cascade") });
const book = entity("book", {
  title: string.default('a "b" \\ c'),
  summary: text.optional(),
  status: enums("draft", "printed").default("draft"),
  pages: int.default(0),
  price: float.default(9.5),
  isOut: bool.default(false),
  printedAt: datetime.default(new Date("2024-05-31T12:00:00.123Z")),
  data: json.default({ a: ["'", null] }),
  author: belongsTo(() => author),
  reviewer: belongsTo(() => author).optional(),
  sequelTo: selfRef().optional(),
  distributor: belongsTo(() => author).remote("trade"),
  genres: manyToMany(() => genre),
  hiddenGenres: manyToMany(() => genre),
  deletedAt: datetime.optional(),
})
  .unique(["authorId", "title"])
  .index(["status", "summary"])
  .versioned()
  .softDelete();
const genre = entity("genre", { name: string.unique() }).timestamps(false);

/** An entity of a plugin, with a relation to one of the app's. */
const visit = entity("visit", { path: string, author: belongsTo(() => author).optional() });

/** Requirements of the definitions that this test does not cover. */
const FEATURES = ["encrypted", "password", "versioned", "soft-delete", "remote-relations"];

/** The entities of an app and of its plugins, combined as at the start. */
async function modelOfApp(): Promise<EntityModel> {
  const kernel = createApp({
    entities: [author, profile, book, genre],
    driver: memoryDriver(),
    plugins: [
      createPlugin({
        id: "visits",
        version: "1.0.0",
        provides: FEATURES,
        schema: schemaFromEntities([visit], { internal: true }),
      }),
      workflows({ journal: true, encrypted: true }),
    ],
    logger: noopLogger,
  });
  await kernel.close();
  return kernel.model;
}

describe.each<Provider>(["sqlite", "postgresql", "mysql"])("the schema of an app for %s", (provider) => {
  it("stays the same, byte by byte", async () => {
    const schema = toPrismaSchema(await modelOfApp(), { provider });
    expect(toPrismaSchema(await modelOfApp(), { provider })).toBe(schema);
    expect(getDMMF({ datamodel: [["schema.prisma", schema]] })).not.toHaveProperty("error");
    await expect(schema).toMatchFileSnapshot(`./schemas/app.${provider}.prisma`);
  });

  it("has the entities of its plugins, internal ones included, and their targets", async () => {
    const parsed = getDMMF({
      datamodel: [["schema.prisma", toPrismaSchema(await modelOfApp(), { provider })]],
    });
    const { models } = "error" in parsed ? { models: [] } : parsed.datamodel;
    expect(models.map(({ name }) => name)).toEqual([
      ...["author", "profile", "book", "genre", "visit"],
      ...["workflowRun", "workflowStep"],
    ]);
    const columns = models.find(({ name }) => name === "visit")?.fields.map(({ name }) => name);
    expect(columns).toEqual(["id", "path", "authorId", "createdAt", "updatedAt", "author"]);
  });
});
