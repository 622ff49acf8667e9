import { afterEach, describe, expect, it } from "vitest";
import { embedded, postgres } from "../../../src/drivers/prisma/index.ts";
import { type AnyEntity, entity, manyToMany, string } from "../../../src/entity/index.ts";
import type { Driver } from "../../../src/gate/index.ts";
import { connectDriver } from "../../support/connect-driver.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";

const person = entity("person", {
  name: string,
  followers: manyToMany(() => person),
  follows: manyToMany(() => person).inverse("followers"),
  above: manyToMany(() => person).inverse("under"),
  under: manyToMany(() => person),
  blocked: manyToMany(() => person),
}).timestamps(false);
const zebra = entity("zebra", {
  name: string,
  eats: manyToMany(() => apple).inverse("eatenBy"),
  likes: manyToMany(() => apple),
}).timestamps(false);
const apple = entity("apple", {
  name: string,
  eatenBy: manyToMany(() => zebra).inverse("eats"),
}).timestamps(false);

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function open(make: () => Promise<readonly [Driver, () => Promise<void>]>, entities: readonly AnyEntity[]) {
  const [made, drop] = await make();
  const driver = await connectDriver(made, entities);
  closing.push(() => driver.disconnect(), drop);
  for (const { name } of entities) for (const id of ["a", "b", "c"]) await driver.create(name, { id, name: id });
  const pairs = async (name: string, relation: string): Promise<string[]> =>
    (await driver.links(name, relation, ["a", "b", "c"])).map(({ source, target }) => source + target);
  return { driver, pairs };
}

describe.each<[string, () => Promise<readonly [Driver, () => Promise<void>]>]>([
  [
    "SQLite",
    async () => {
      const { file, remove } = await freshSqliteFile();
      return [embedded({ file }), remove];
    },
  ],
  [
    "PostgreSQL",
    async () => {
      const { url, drop } = await freshPostgres();
      return [postgres(url), drop];
    },
  ],
])("pairs on %s", (_name, make) => {
  it("of an entity with itself have a direction, with any names of the two sides", async () => {
    const { driver, pairs } = await open(make, [person.build()]);
    await driver.link("person", "follows", "a", ["b"]);
    await driver.link("person", "followers", "c", ["a"]);
    await driver.link("person", "above", "a", ["c"]);
    await driver.link("person", "under", "b", ["c"]);
    await driver.link("person", "blocked", "c", ["b"]);
    expect(await pairs("person", "follows")).toEqual(["ab", "ac"]);
    expect(await pairs("person", "followers")).toEqual(["ba", "ca"]);
    expect(await pairs("person", "above")).toEqual(["ac", "cb"]);
    expect(await pairs("person", "under")).toEqual(["bc", "ca"]);
    expect(await pairs("person", "blocked")).toEqual(["cb"]);
  });

  it("of two relations between the same entities are separate", async () => {
    const { driver, pairs } = await open(make, [zebra.build(), apple.build()]);
    await driver.link("zebra", "eats", "a", ["b"]);
    await driver.link("apple", "eatenBy", "a", ["c"]);
    await driver.link("zebra", "likes", "b", ["c"]);
    expect(await pairs("zebra", "eats")).toEqual(["ab", "ca"]);
    expect(await pairs("apple", "eatenBy")).toEqual(["ac", "ba"]);
    expect(await pairs("zebra", "likes")).toEqual(["bc"]);
  });
});
