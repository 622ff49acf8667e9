import { afterAll, beforeAll, expect, it } from "vitest";
import { createPlugin } from "../../../src/gate/index.ts";
import { belongsTo, bool, entity, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";

const open = { read: ["everyone"], create: ["everyone"] };
const person = entity("person", { name: string }).rules(open);
const note = entity("note", { title: string, open: bool, author: belongsTo(() => person) }).rules(open);
/** A plugin that hides a foreign key, except on open notes. */
const hiding = createPlugin({
  id: "hiding",
  version: "1.0.0",
  setup({ hooks }) {
    hooks.on(
      "access:mask",
      (draft) => {
        if (draft.principal.kind === "system") return;
        const shown = { predicate: { open: true }, guard: undefined };
        draft.mask = { ...draft.mask, readablePerRow: new Map([["authorId", shown]]) };
      },
      { appliesTo: ({ name }) => name === "note" },
    );
  },
});
const app = createTestApp({ entities: [person, note], plugins: (defaults) => defaults.with(hiding) });
beforeAll(async () => {
  await app.api.ready;
  const system = app.api.asSystem();
  await system.person.create({ id: "p", name: "Ann" });
  await system.note.create({ id: "closed", title: "a", open: false, authorId: "p" });
  await system.note.create({ id: "open", title: "b", open: true, authorId: "p" });
});
afterAll(() => app.close());

it.each(["notes?include=author&_sort=id", 'notes?include={"author":{"select":["name"]}}&_sort=id'])(
  "an include follows a foreign key only where it is shown: %s",
  async (path) => {
    const { body } = await app.as({ id: "bob" }).request("GET", `/api/${path}`);
    expect(body).toMatchObject([
      { id: "closed", author: null },
      { id: "open", author: { name: "Ann" } },
    ]);
    expect(JSON.stringify((body as object[])[0])).not.toContain('"p"');
  },
);
