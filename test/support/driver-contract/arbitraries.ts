import fc, { type Arbitrary } from "fast-check";
import type { ColumnDefinition, Operator } from "../../../src/entity/index.ts";
import type { Pair, Row, SortKey, Where } from "../../../src/gate/index.ts";
import { fixtureModel } from "../entities.ts";
import { entityNamed, rowOf, type Shortcomings } from "./database.ts";

/** Rows of the blog's entities, and the pairs of `post.tags`. */
export interface RandomBlog {
  readonly rows: Readonly<Record<string, readonly Row[]>>;
  readonly tags: readonly Pair[];
}

const moments = ["2024-01-01T00:00:00.000Z", "2024-01-01T00:00:00.001Z", "1999-12-31T23:59:59.999Z"].map(
  (text) => new Date(text),
);
// Lower-case letters and digits sort alike in every collation.
const words = ["a", "ab", "b", "b2", "c1"];
// Characters that patterns and quoting could mishandle. Compared only for equality, never for order.
const phrases = ["", "%", "_", "a_b", "A%B", "\\", "x\\%y", "AB", "it's", "100%"];
const fragments = ["", "%", "_", "a", "B", "\\", "\\%", "'", "%b", "0"];

/** Values of a column in random rows and conditions: few, so that they often match. */
function valuesOf(entity: string, column: ColumnDefinition): readonly unknown[] {
  const { role, relation, name } = column;
  if (role === "foreignKey")
    return idsOf(fixtureModel.relation(entityNamed(entity), relation as string)?.target.name as string);
  if (role === "id") return idsOf(entity);
  const byName: Record<string, readonly unknown[]> = {
    body: phrases,
    bio: phrases,
    views: [-1, 0, 1, 2],
    rating: [-0.5, 0.5, 1.5],
    published: [true, false],
    status: ["draft", "review", "done"],
    publishedAt: moments,
    deletedAt: moments,
    place: [1, 2],
    createdAt: moments,
    updatedAt: moments,
    meta: [{ a: 1 }, []],
  };
  return byName[name] ?? words;
}

const SIZES: Readonly<Record<string, number>> = {
  user: 3,
  category: 2,
  tag: 2,
  profile: 2,
  badge: 2,
  seat: 4,
  post: 6,
  comment: 5,
};
const idsOf = (entity: string): string[] =>
  Array.from({ length: SIZES[entity] ?? 0 }, (_, index) => `${entity[0]}${index}`);
const UNIQUE: Readonly<Record<string, Row>> = {
  user: { nickname: null },
  post: { slug: null },
  seat: { code: null, row: null },
};

function rowsOf(entity: string): Arbitrary<Row[]> {
  const { columns } = entityNamed(entity);
  const cells: Record<string, Arbitrary<unknown>> = {};
  for (const column of Object.values(columns)) {
    if (column.role === "id") continue;
    const value = fc.constantFrom(...valuesOf(entity, column));
    cells[column.name] = column.optional ? fc.option(value) : value;
  }
  const row = fc.record(cells);
  return fc
    .tuple(...idsOf(entity).map((id) => fc.option(row, { freq: 9 }).map((made) => made && { ...made, id })))
    .map((made) =>
      made
        .filter((one) => one !== null)
        .map((one) =>
          rowOf(entityNamed(entity), {
            ...one,
            ...UNIQUE[entity],
            ...(columns.email ? { email: `${one.id}@example.com` } : {}),
          }),
        ),
    );
}

/** A blog whose references all exist: a reference to a missing row is set to null, or its row is removed. */
export const randomBlog: Arbitrary<RandomBlog> = fc
  .record({
    user: rowsOf("user"),
    category: rowsOf("category"),
    tag: rowsOf("tag"),
    profile: rowsOf("profile"),
    badge: rowsOf("badge"),
    seat: rowsOf("seat"),
    post: rowsOf("post"),
    comment: rowsOf("comment"),
    tags: fc.array(fc.record({ source: fc.constantFrom(...idsOf("post")), target: fc.constantFrom(...idsOf("tag")) })),
  })
  .map(({ tags, ...all }) => {
    const rows: Record<string, Row[]> = {};
    for (const [name, list] of Object.entries(all)) {
      const entity = entityNamed(name);
      const keys = Object.values(entity.columns).filter(({ role }) => role === "foreignKey");
      rows[name] = [];
      for (const row of list) {
        const kept = { ...row };
        const isWhole = keys.every(({ name: key, optional, relation }) => {
          const target = fixtureModel.relation(entity, relation as string)?.target.name as string;
          // Rows of an entity refer only to earlier rows, so that they can be stored in order.
          const exists = rows[target]?.some(({ id }) => id === kept[key]) === true;
          if (exists || kept[key] === null) return true;
          kept[key] = null;
          return optional;
        });
        if (isWhole) rows[name].push(kept);
      }
    }
    rows.tag = unrepeated(rows.tag ?? [], "name");
    rows.profile = unrepeated(rows.profile ?? [], "userId");
    rows.badge = unrepeated(rows.badge ?? [], "userId");
    const [gone, live] = [true, false].map((is) => (rows.seat ?? []).filter((row) => (row.deletedAt !== null) === is));
    const free = (live ?? []).filter(({ userId }) => userId === null);
    const held = (live ?? []).filter(({ userId }) => userId !== null);
    rows.seat = [...(gone ?? []), ...free, ...unrepeated(held, "userId")];
    const has = (name: string, id: string): boolean => rows[name]?.some((row) => row.id === id) === true;
    const pairs = tags.filter(({ source, target }) => has("post", source) && has("tag", target));
    return { rows, tags: [...new Map(pairs.map((pair) => [`${pair.source} ${pair.target}`, pair])).values()] };
  });

/** Blogs that a database with these shortcomings can store. */
export function randomBlogFor({ keepsDeletedValues = false }: Shortcomings): Arbitrary<RandomBlog> {
  if (!keepsDeletedValues) return randomBlog;
  return randomBlog.map(({ rows, tags }) => {
    const { seat = [] } = rows;
    const free = seat.filter(({ userId }) => userId === null);
    const held = seat.filter(({ userId }) => userId !== null);
    return { rows: { ...rows, seat: [...free, ...unrepeated(held, "userId")] }, tags };
  });
}

function unrepeated(rows: readonly Row[], column: string): Row[] {
  return [...new Map(rows.map((row) => [row[column], row])).values()];
}

const ORDER = new Set<Operator>(["gt", "gte", "lt", "lte"]);
const TEXT = new Set<Operator>(["like", "starts", "ends"]);

function operandOf(operator: Operator, values: readonly unknown[]): Arbitrary<unknown> {
  const value = fc.constantFrom(...values);
  if (operator === "null") return fc.boolean();
  if (TEXT.has(operator)) return fc.constantFrom(...fragments);
  if (operator === "in" || operator === "nin") return fc.array(fc.option(value, { freq: 4 }), { maxLength: 3 });
  return ORDER.has(operator) ? value : fc.option(value, { freq: 4 });
}

function columnCondition(entity: string, column: ColumnDefinition): Arbitrary<Where> {
  const values = valuesOf(entity, column);
  const operators = [...column.kind.operators].filter((operator) => values !== phrases || !ORDER.has(operator));
  const condition = fc
    .uniqueArray(fc.constantFrom(...operators), { minLength: 1, maxLength: 2 })
    .chain((chosen) =>
      fc.record(Object.fromEntries(chosen.map((operator) => [operator, operandOf(operator, values)]))),
    );
  const short = column.kind.operators.has("eq") ? operandOf("eq", values) : fc.constant(null);
  return fc
    .oneof({ weight: 3, arbitrary: condition }, { weight: 1, arbitrary: short })
    .map((made) => ({ [column.name]: made }));
}

/** A where on an entity: every operator, logic, and nested conditions on related records. */
export function randomWhere(entity: string, depth = 3): Arbitrary<Where> {
  const definition = entityNamed(entity);
  const leaf = fc.oneof(...Object.values(definition.columns).map((column) => columnCondition(entity, column)));
  if (depth === 0) return leaf;
  const inner = fc.oneof(leaf, ...(depth > 1 ? [randomLogic(entity, depth - 1)] : []));
  const relations = fixtureModel.relationsOf(definition).filter(({ name }) => name !== "friends");
  const related = relations.map(({ name, target }) =>
    fc
      .oneof(
        { weight: 5, arbitrary: randomWhere(target.name, Math.min(depth - 1, 1)) },
        { weight: 1, arbitrary: fc.constant({}) },
        { weight: 1, arbitrary: fc.constant(null) },
      )
      .map((where) => ({ [name]: where })),
  );
  return fc.oneof(
    leaf,
    inner,
    ...(related.length > 0 ? [fc.oneof(...related)] : []),
    randomLogicOf(fc.oneof(leaf, inner, ...related)),
  );
}

function randomLogic(entity: string, depth: number): Arbitrary<Where> {
  return randomLogicOf(randomWhere(entity, depth - 1));
}

function randomLogicOf(part: Arbitrary<Where>): Arbitrary<Where> {
  const parts = fc.array(part, { maxLength: 3 });
  return fc.oneof(
    parts.map((AND) => ({ AND })),
    parts.map((OR) => ({ OR })),
    fc.oneof(part, parts).map((NOT) => ({ NOT })),
    fc.tuple(part, part).map(([left, right]) => ({ ...left, ...right })),
    fc.tuple(part, parts).map(([left, OR]) => ({ ...left, OR })),
  );
}

/** A sort by columns that all databases order alike. */
export function randomSort(entity: string): Arbitrary<SortKey[]> {
  const columns = Object.values(entityNamed(entity).columns).filter(
    (column) => column.kind.sortable && valuesOf(entity, column) !== phrases,
  );
  return fc.uniqueArray(
    fc.record({
      field: fc.constantFrom(...columns.map(({ name }) => name)),
      direction: fc.constantFrom("asc", "desc"),
    }),
    { selector: ({ field }) => field, maxLength: 3 },
  );
}
