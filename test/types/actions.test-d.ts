import { describe, expectTypeOf, it } from "vitest";
import type { PlainActionContext } from "../../src/entity/index.ts";
import {
  type ActionContext,
  action,
  archiveAction,
  bool,
  bulkDeleteAction,
  bulkUpdateAction,
  cloneAction,
  countAction,
  type Driver,
  datetime,
  entity,
  enums,
  existsAction,
  int,
  keelson,
  restoreAction,
  softDeleteAction,
  string,
  toggleAction,
  type User,
} from "../../src/index.ts";
import type { KernelBody } from "../../src/kernel/index.ts";
import type { ActionRecord } from "../../src/plugins/actions/index.ts";

const fields = { title: string, published: bool, archived: bool, deletedAt: datetime.optional() };
const makeApp = () =>
  keelson({
    entities: [
      entity("post", fields).actions({
        softDelete: softDeleteAction,
        restore: restoreAction("deletedAt"),
        archive: archiveAction(),
        clone: cloneAction(["title"]),
        toggle: toggleAction("published"),
        bulkUpdate: bulkUpdateAction,
        bulkDelete: bulkDeleteAction(),
        count: countAction,
        exists: existsAction,
        greet: action()
          .get()
          .query({ name: string.default("you"), n: int.optional() })
          .handler(({ query }) => `${query.name}${query.n}`),
        rename: action()
          .onResource()
          .input({ title: string, at: datetime })
          .handler(async ({ input }) => ({ was: input.title, at: input.at })),
        both: action()
          .query({ dry: bool.default(false) })
          .input({ why: string })
          .handler(({ query }) => query.dry),
        declared: action()
          .output({ total: int, kind: enums("a", "b").optional() })
          .handler(() => ({ total: 1, kind: null, more: true })),
        late: action()
          .handler(() => ({ more: true, total: 1 }))
          .output({ total: int }),
        silent: action().handler(async () => {}),
        plain: {
          method: "POST",
          path: "/:id/plain",
          handler: (context) => context.params.id,
        },
      }),
    ],
  });
const client = () => makeApp().as({ id: "u1" }).post;

describe("a handler's context", () => {
  it("has the input and the query as declared: validated, completed, with nulls", () => {
    action()
      .query({ q: string, page: int.default(1), kind: enums("a", "b").optional() })
      .input({ title: string, at: datetime.optional(), done: bool.default(false) })
      .handler(({ query, input }) => {
        expectTypeOf(query).toEqualTypeOf<{ q: string; page: number; kind: "a" | "b" | null }>();
        expectTypeOf(input).toEqualTypeOf<{ title: string; at: Date | null; done: boolean }>();
      });
  });

  it("has unknown input without a declaration", () => {
    action().handler(({ query, input }) => {
      expectTypeOf(query).toEqualTypeOf<Readonly<Record<string, unknown>>>();
      expectTypeOf(input).toBeUnknown();
    });
  });

  it("has a record in record actions, and null in others, for any order of calls", () => {
    action().handler(({ record }) => expectTypeOf(record).toBeNull());
    action()
      .onResource()
      .handler(({ record }) => {
        expectTypeOf(record).toEqualTypeOf<ActionRecord>();
        expectTypeOf(record.id).toBeString();
      });
    action()
      .input({ a: int })
      .onResource()
      .rules("admin")
      .timeout(5)
      .meta({ summary: "s" })
      .path("/x")
      .put()
      .handler(({ record, input }) => {
        expectTypeOf(record).toEqualTypeOf<ActionRecord>();
        expectTypeOf(input).toEqualTypeOf<{ a: number }>();
      });
  });

  it("has all other parts of the request", () => {
    action().handler((context) => {
      expectTypeOf(context.params).toEqualTypeOf<Readonly<Record<string, string>>>();
      expectTypeOf(context.user).toEqualTypeOf<User | null>();
      expectTypeOf(context.driver).toEqualTypeOf<Driver>();
      expectTypeOf(context.unsafeDriver).toEqualTypeOf<Driver>();
      expectTypeOf(context.signal).toEqualTypeOf<AbortSignal | undefined>();
      expectTypeOf(context.body).toEqualTypeOf<KernelBody | undefined>();
      expectTypeOf(context.resolve<{ a: 1 }>("x")).toEqualTypeOf<{ a: 1 }>();
      expectTypeOf(context.resolveAsync<{ a: 1 }>("x")).resolves.toEqualTypeOf<{ a: 1 }>();
      expectTypeOf(context.headers.get("x")).toEqualTypeOf<string | null>();
    });
  });

  it("is the same in a transaction, which returns the result of the work", () => {
    action()
      .onResource()
      .input({ n: int })
      .handler(async ({ transaction }) => {
        const result = await transaction(async ({ input, record }) => {
          expectTypeOf(input).toEqualTypeOf<{ n: number }>();
          expectTypeOf(record).toEqualTypeOf<ActionRecord>();
          return input.n;
        });
        expectTypeOf(result).toBeNumber();
      });
  });

  it("has typed clients of entities", () => {
    const post = entity("post", fields);
    action().handler(async ({ client: of }) => {
      expectTypeOf((await of(post).get("p1")).title).toBeString();
      // @ts-expect-error there is no such field
      await of(post).update("p1", { titel: "x" });
    });
  });

  it("fits a function that accepts any context", () => {
    const shared = (context: ActionContext): string => context.entity.name;
    action().onResource().handler(shared);
  });
});

describe("plain objects", () => {
  it("get a typed context without an annotation", () => {
    entity("post", fields).actions({
      publish: {
        method: "POST",
        path: "/:id/publish",
        async handler(context) {
          expectTypeOf(context).toEqualTypeOf<PlainActionContext>();
          expectTypeOf(context.params).toEqualTypeOf<Readonly<Record<string, string>>>();
          expectTypeOf(context.input).toBeUnknown();
          // @ts-expect-error there is no such member
          context.nothing;
          return context.driver.findOne(context.entity, { id: context.params.id });
        },
      },
    });
  });
});

describe("methods of the client", () => {
  it("of prebuilt actions have their arguments and results", () => {
    expectTypeOf(client().softDelete).toEqualTypeOf<(id: string) => Promise<{ readonly success: true }>>();
    expectTypeOf(client().restore).toEqualTypeOf<(id: string) => Promise<{ readonly success: true }>>();
    expectTypeOf(client().archive).toEqualTypeOf<(id: string) => Promise<{ readonly success: true }>>();
    expectTypeOf(client().clone).toEqualTypeOf<
      (id: string, given?: Readonly<Record<string, unknown>>) => Promise<ActionRecord>
    >();
    expectTypeOf(client().toggle).toEqualTypeOf<(id: string) => Promise<{ readonly published: boolean }>>();
    expectTypeOf(client().exists).toEqualTypeOf<(id: string) => Promise<{ readonly exists: boolean }>>();
    expectTypeOf(client().bulkDelete).parameter(0).toEqualTypeOf<{ readonly ids: readonly string[] }>();
    expectTypeOf(client().bulkUpdate).returns.resolves.toEqualTypeOf<{ readonly count: number }>();
    // The client's own method means the same.
    expectTypeOf(client().count()).resolves.toBeNumber();
  });

  it("of custom actions take query and input in one object, or nothing", () => {
    expectTypeOf(client().greet).toEqualTypeOf<(given?: { name?: string; n?: number | null }) => Promise<string>>();
    expectTypeOf(client().rename).toEqualTypeOf<
      (id: string, given: { title: string; at: Date }) => Promise<{ was: string; at: Date }>
    >();
    expectTypeOf(client().both).parameter(0).toExtend<{ dry?: boolean; why: string }>();
    expectTypeOf(client().silent).toEqualTypeOf<() => Promise<void>>();
    expectTypeOf(client().plain).returns.resolves.toBeUnknown();
  });

  it("return the declared output, as a promise", () => {
    expectTypeOf(client().declared).returns.resolves.toEqualTypeOf<{ total: number; kind: "a" | "b" | null }>();
    expectTypeOf(client().late).returns.resolves.toEqualTypeOf<{ total: number }>();
  });

  it("belong to the system's client too", () => {
    expectTypeOf(makeApp().asSystem().post.toggle).toEqualTypeOf<
      (id: string) => Promise<{ readonly published: boolean }>
    >();
  });
});

describe("a compile error", () => {
  it("is caused by a wrong use of a client", () => {
    // @ts-expect-error the id is missing
    void client().softDelete();
    // @ts-expect-error the input is missing
    void client().rename("p1");
    // @ts-expect-error a title is text
    void client().rename("p1", { title: 1, at: new Date() });
    // @ts-expect-error there is no such name
    void client().greet({ nam: "x" });
    // @ts-expect-error ids are a list
    void client().bulkDelete({ ids: "a" });
    // @ts-expect-error there is no such action
    void client().nothing();
  });

  it("is caused by a wrong use of the builder", () => {
    // @ts-expect-error `input` has no declared fields
    action().handler(({ input }) => input.title);
    action()
      .input({ title: string })
      // @ts-expect-error there is no such field
      .handler(({ input }) => input.titel);
    // @ts-expect-error there is no record
    action().handler(({ record }) => record.id);
    // @ts-expect-error input has fields
    action().input({ title: "string" });
    // @ts-expect-error rules are names or rules
    action().rules(5);
    // @ts-expect-error a time is a number
    action().timeout("1s");
  });

  it("is caused by a wrong use of a prebuilt action", () => {
    // @ts-expect-error which field?
    toggleAction();
    // @ts-expect-error names of fields
    cloneAction([1]);
  });

  it("is caused by a value that is not an action", () => {
    // @ts-expect-error no handler
    entity("post", fields).actions({ a: { method: "POST", path: "/a" } });
    // @ts-expect-error a number
    entity("post", fields).actions({ a: 5 });
    // @ts-expect-error the path is text
    entity("post", fields).actions({ a: { path: 5, handler: () => 1 } });
  });
});
