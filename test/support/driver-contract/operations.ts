import fc, { type Arbitrary } from "fast-check";
import type { Driver } from "../../../src/gate/index.ts";
import type { ConflictError, ValidationFailedError } from "../../../src/kernel/index.ts";
import { type RandomBlog, randomSort, randomWhere } from "./arbitraries.ts";
import { empty, entityNamed, insert, rowOf } from "./database.ts";

/** Calls of a driver. */
export type Operation = (driver: Driver) => Promise<unknown>;

/** The result of an operation, or its Keelson error with the fields. */
export async function outcomeOf(operation: Operation, driver: Driver): Promise<unknown> {
  try {
    return { gave: await operation(driver) };
  } catch (error) {
    if (process.env.SHOW)
      console.log((error as Error).name, (error as { cause?: unknown }).cause, operation.toString());
    const { name, fields, errors } = error as Partial<ConflictError & ValidationFailedError>;
    return { threw: name, fields: fields && [...fields].sort(), errors };
  }
}

/** Replaces all records. */
export async function plantRandom(driver: Driver, { rows, tags }: RandomBlog): Promise<void> {
  await empty(driver);
  for (const [name, list] of Object.entries(rows)) await insert(driver, name, list);
  for (const { source, target } of tags) await driver.link("post", "tags", source, [target]);
}

const readable = fc.constantFrom("post", "user", "comment", "seat", "category");

/** Reads of all kinds under one random condition. */
export const randomRead: Arbitrary<Operation> = readable.chain((name) => {
  const columns = Object.keys(entityNamed(name).columns);
  return fc
    .record({
      where: randomWhere(name),
      sort: randomSort(name),
      select: fc.option(fc.subarray(columns, { minLength: 1 })),
      limit: fc.option(fc.nat(4)),
      offset: fc.nat(3),
      id: fc.constantFrom(`${name[0]}0`, `${name[0]}1`),
    })
    .map(
      ({ where, sort, select, limit, offset, id }): Operation =>
        async (driver) => [
          await driver.findMany(name, {
            where,
            sort,
            offset,
            select: select ?? undefined,
            limit: limit ?? undefined,
          }),
          await driver.count(name, where),
          await driver.findOne(name, where, { select: select ?? undefined }),
          await driver.findOne(name, { AND: [{ id }, where] }),
          await driver.links("post", "tags", ["p0", "p1", "p2"], name === "post" ? {} : { limit: 100 }),
        ],
    );
});

const change = fc.record({
  title: fc.constantFrom("a", "zz"),
  slug: fc.option(fc.constantFrom("s", "t")),
  authorId: fc.constantFrom("u0", "u1", "nobody"),
  editorId: fc.option(fc.constantFrom("u0", "u2", "nobody")),
  meta: fc.option(fc.constantFrom({ a: 1 }, [null], "DbNull")),
});

/** One write of any kind. */
export const randomWrite: Arbitrary<Operation> = fc.oneof(
  fc
    .record({ where: randomWhere("post"), values: change, id: fc.constantFrom("p0", "p1", "p2") })
    .chain(({ where, values, id }) =>
      fc.constantFrom<Operation>(
        (driver) => driver.update("post", { AND: [{ id }, where] }, values),
        (driver) => driver.update("post", { AND: [{ id }, where] }, {}),
        (driver) => driver.updateMany("post", { AND: [where, { id: { null: false } }] }, values),
        (driver) => driver.delete("post", { AND: [{ id }, where] }),
        (driver) => driver.deleteMany("post", { AND: [where, { id: { null: false } }] }),
        (driver) => driver.create("post", rowOf(entityNamed("post"), { ...values, id })),
        (driver) => driver.create("post", rowOf(entityNamed("post"), { ...values, id: "new" })),
        (driver) =>
          driver.transaction(async (inner) => {
            await inner.updateMany("post", { AND: [where, { views: { gte: -9 } }] }, { views: 7 });
            return inner.create("post", rowOf(entityNamed("post"), { ...values, id: "new" }));
          }),
      ),
    ),
  fc.constantFrom("u0", "u1").map(
    (id): Operation =>
      (driver) =>
        driver.delete("user", { id }),
  ),
  fc
    .record({ id: fc.constantFrom("p0", "nope"), targets: fc.subarray(["t0", "t1", "nope"]) })
    .chain(({ id, targets }) =>
      fc.constantFrom<Operation>(
        (driver) => driver.link("post", "tags", id, targets),
        (driver) => driver.unlink("post", "tags", id, targets),
      ),
    ),
);
