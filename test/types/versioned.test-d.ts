import { describe, expectTypeOf, it } from "vitest";
import type { Client } from "../../src/client/index.ts";
import {
  entity,
  type InferCreateInput,
  type InferEntityData,
  type InferUpdateInput,
  string,
} from "../../src/entity/index.ts";
import type { Keelson } from "../../src/index.ts";

const draft = entity("draft", { text: string }).timestamps(false).versioned({ required: true }).plural("drafts");
const note = entity("note", { text: string }).timestamps(false);
type Api = Keelson<readonly [typeof draft, typeof note]>;
declare const client: Client<Api>;
declare const api: Api;

describe("an entity with versions", () => {
  it("has a version in its records, and in no input", () => {
    expectTypeOf<InferEntityData<typeof draft>>().toEqualTypeOf<{ id: string; text: string; version: number }>();
    expectTypeOf<InferCreateInput<typeof draft>>().toEqualTypeOf<{ text: string }>();
    expectTypeOf<InferUpdateInput<typeof draft>>().toEqualTypeOf<{ text?: string }>();
    const built = draft.build();
    expectTypeOf<InferEntityData<typeof built>>().toEqualTypeOf<InferEntityData<typeof draft>>();
    expectTypeOf<InferEntityData<typeof note>>().toEqualTypeOf<{ id: string; text: string }>();
  });

  it("may be queried by version, and updated as read", () => {
    const listed = () => api.as({ id: "u" }).draft.list({ where: { version: { gte: 2 } }, sort: ["-version"] });
    const updated = () => api.as({ id: "u" }).draft.update("d", { text: "x" }, { ifVersion: 1 });
    expectTypeOf(listed).returns.resolves.toHaveProperty("data");
    expectTypeOf(updated).returns.resolves.toEqualTypeOf<{ id: string; text: string; version: number }>();
    const modified = () =>
      client.draft.modify("d", ({ text, version }) => ({ text: `${text} ${version.toFixed()}` }), { attempts: 2 });
    expectTypeOf(modified).returns.resolves.toEqualTypeOf<{ id: string; text: string; version: number }>();
    expectTypeOf(client.note.modify).toEqualTypeOf<never>();
  });
});
