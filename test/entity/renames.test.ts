import { describe, expect, it } from "vitest";
import {
  belongsTo,
  ConfigurationError,
  createModel,
  type EntityLike,
  entity,
  int,
  string,
} from "../../src/entity/index.ts";

function problemsOf(build: () => unknown): readonly string[] {
  try {
    build();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.problems;
  }
}

const user = entity("user", { name: string });

describe(".renamedFrom()", () => {
  it("is kept with the definition through other method calls", () => {
    const note = entity("note", {
      title: string.renamedFrom("name").min(3).optional(),
      words: int.default(1).renamedFrom("size"),
      author: belongsTo(() => user)
        .renamedFrom("writer")
        .optional(),
    })
      .renamedFrom("memo")
      .timestamps(false)
      .build();
    expect(note.renamedFrom).toBe("memo");
    expect(note.fields.title?.renamedFrom).toBe("name");
    expect(note.fields.words?.renamedFrom).toBe("size");
    expect(note.relations.author?.renamedFrom).toBe("writer");
    expect(Object.keys(note.columns)).toEqual(["id", "title", "words", "authorId"]);
  });

  it("accepts former names, each once", () => {
    const note = entity("note", {
      title: string.renamedFrom("body"),
      body: string.renamedFrom("lost"),
      text: string.renamedFrom("lost"),
      odd: string.renamedFrom("a; DROP TABLE x"),
      by: belongsTo(() => user).renamedFrom("by"),
    }).renamedFrom("note");
    expect(problemsOf(() => note.build())).toEqual([
      'note: .renamedFrom("note") is its current name',
      'note.title.renamedFrom("body"): note still has "body"; only a name that is gone can be renamed',
      'note.text.renamedFrom("lost"): note.body is renamed from it already',
      'note.odd.renamedFrom("a; DROP TABLE x"): a name is letters, digits and single underscores',
      'note.by.renamedFrom("by"): note still has "by"; only a name that is gone can be renamed',
    ]);
  });

  it("refuses the name of an existing entity, and invalid names", () => {
    const note = entity("note", { title: string }).renamedFrom("user");
    expect(createModel([user, note] as unknown as EntityLike[]).problems).toEqual([
      'note.renamedFrom("user"): there still is an entity "user"',
    ]);
    const odd = entity("note", { title: string }).renamedFrom('x" RENAME TO "y');
    expect(problemsOf(() => odd.build())).toEqual([
      'note.renamedFrom("x" RENAME TO "y"): a name is letters, digits and single underscores',
    ]);
  });
});
