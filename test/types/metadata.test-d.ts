import { action, entity, hasMany, int, string } from "keelson";
import type { Metadata } from "keelson/plugin";
import { describe, expectTypeOf, it } from "vitest";

declare module "keelson/plugin" {
  interface Metadata {
    "acme/width": number;
  }
}

describe("metadata", () => {
  it("has the type that its plugin declares, on all definitions", () => {
    expectTypeOf<Metadata["acme/width"]>().toEqualTypeOf<number>();
    const title = string.meta("acme/width", 3);
    expectTypeOf(title).toEqualTypeOf(string);
    expectTypeOf(int.meta("acme/width", 3)).toEqualTypeOf(int);
    const post = entity("post", { title }).meta("acme/width", 1);
    expectTypeOf(post.build().meta?.["acme/width"]).toEqualTypeOf<number | undefined>();
    hasMany(() => post).meta("acme/width", 2);
    action().meta("acme/width", 2).meta({ summary: "s", "acme/width": 2 });
    // @ts-expect-error another type
    string.meta("acme/width", "3");
    // @ts-expect-error no plugin has such a key
    string.meta("acme/widht", 3);
    // @ts-expect-error another type
    action().meta({ "acme/width": "2" });
  });
});
