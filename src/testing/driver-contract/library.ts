import {
  type AnyEntity,
  belongsTo,
  bool,
  datetime,
  email,
  entity,
  float,
  hasMany,
  int,
  json,
  manyToMany,
  string,
  text,
} from "../../entity/index.ts";
import type { Driver, Row } from "../../gate/index.ts";

const author = entity("author", { name: string, email: email.unique(), books: hasMany(() => book).inverse("author") });
/** Prevents deletion of its author; a deleted editor is set to null. */
const book = entity("book", {
  title: string,
  summary: text.optional(),
  pages: int.optional(),
  rating: float.optional(),
  out: bool.default(false),
  releasedAt: datetime.optional(),
  meta: json.optional(),
  author: belongsTo(() => author),
  editor: belongsTo(() => author)
    .optional()
    .onDelete("setNull"),
  notes: hasMany(() => note),
  tags: manyToMany(() => tag),
}).unique(["authorId", "title"]);
/** Deleted with its book; versioned. */
const note = entity("note", { text: string, book: belongsTo(() => book).onDelete("cascade") }).versioned();
const tag = entity("tag", { name: string.unique(), books: manyToMany(() => book) }).timestamps(false);

/** The entities of the contract, each before those that it refers to, which is the order for deleting their records. */
export const LIBRARY: readonly AnyEntity[] = Object.freeze(
  [note, book, author, tag].map((one) => one.build() as AnyEntity),
);

const MOMENT = new Date("2024-05-31T12:00:00.000Z");
const STAMPS: Row = { createdAt: MOMENT, updatedAt: MOMENT };
const BLANK: Row = {
  ...STAMPS,
  summary: null,
  pages: null,
  rating: null,
  out: false,
  releasedAt: null,
  meta: null,
  editorId: null,
};

export const authorRow = (values: Row): Row => ({ ...STAMPS, ...values });
export const bookRow = (values: Row): Row => ({ ...BLANK, ...values });
export const noteRow = (values: Row): Row => ({ ...STAMPS, version: 1, ...values });

/** A complete row with every kind of value. */
export const DUNE: Row = Object.freeze(
  bookRow({
    id: "b1",
    title: "Dune",
    summary: "100% sand_",
    pages: 412,
    rating: 4.5,
    out: true,
    releasedAt: new Date("1965-08-01T00:00:00.001Z"),
    meta: { worlds: ["Arrakis", null, { moons: 2 }] },
    authorId: "a1",
    editorId: "a2",
  }),
);

/** Empties the tables and stores a small library. */
export async function plantLibrary(driver: Driver): Promise<void> {
  for (const { name } of LIBRARY) await driver.deleteMany(name, { id: { null: false } });
  await driver.createMany(
    "author",
    ["ann", "bob", "cleo"].map((name, i) => authorRow({ id: `a${i + 1}`, name, email: `${name}@example.com` })),
  );
  await driver.createMany("book", [
    { ...DUNE },
    bookRow({ id: "b2", title: "Dune two", pages: 0, authorId: "a1" }),
    bookRow({ id: "b3", title: "Emma", summary: "A\\B", pages: -3, rating: 4.5, authorId: "a2", editorId: "a1" }),
    bookRow({ id: "b4", title: "Zen", pages: 412, out: true, authorId: "a2" }),
  ]);
  await driver.createMany("note", [
    noteRow({ id: "n1", text: "good", bookId: "b1" }),
    noteRow({ id: "n2", text: "long", bookId: "b1" }),
    noteRow({ id: "n3", text: "good", bookId: "b3" }),
  ]);
  await driver.createMany("tag", [
    { id: "t1", name: "red" },
    { id: "t2", name: "blue" },
  ]);
  await driver.link("book", "tags", "b1", ["t1", "t2"]);
  await driver.link("book", "tags", "b3", ["t1"]);
}

/** Returns all stored records, to compare them before and after. */
export async function everything(driver: Driver): Promise<Readonly<Record<string, unknown>>> {
  const all: Record<string, unknown> = {};
  for (const { name } of LIBRARY) all[name] = await driver.findMany(name);
  const books = (all.book as Row[]).map(({ id }) => id as string);
  return { ...all, links: await driver.links("book", "tags", books) };
}
