import { describe, expectTypeOf, it } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { action, belongsTo, bool, datetime, entity, int, keelson, string, toggleAction } from "../../src/index.ts";

const person = entity("person", { name: string });
const task = entity("task", {
  title: string,
  points: int.default(1),
  isDone: bool.default(false),
  dueAt: datetime.optional(),
  owner: belongsTo(() => person),
}).actions({
  toggle: toggleAction("isDone"),
  rename: action()
    .onResource()
    .input({ title: string })
    .handler(({ input }) => ({ was: input.title })),
});
const makeApp = () => keelson({ entities: [person, task] });
type App = ReturnType<typeof makeApp>;

/** The client that code needs if it works with a local or a remote API. */
interface Tasks {
  list(query?: {
    readonly where?: { readonly title?: { readonly like?: string }; readonly points?: number | readonly number[] };
    readonly sort?: readonly ("title" | "-points")[];
    readonly limit?: number;
    readonly after?: string;
  }): Promise<{
    readonly data: readonly { readonly id: string; readonly title: string; readonly points: number }[];
    readonly total: number;
    readonly nextCursor: string | null;
  }>;
  get(id: string): Promise<{ readonly id: string; readonly dueAt: Date | string | null }>;
  create(data: {
    readonly title: string;
    readonly ownerId: string;
    readonly dueAt?: Date | null;
  }): Promise<{ readonly id: string }>;
  update(id: string, data: { readonly points?: number }): Promise<{ readonly points: number }>;
  delete(id: string): Promise<void>;
  count(where?: { readonly isDone?: boolean }): Promise<number>;
  toggle(id: string): Promise<{ readonly isDone: boolean }>;
  rename(id: string, input: { readonly title: string }): Promise<{ readonly was: string }>;
}

describe("code for a local or a remote API", () => {
  const app = null as unknown as App;

  it("accepts in-process and HTTP clients alike", () => {
    expectTypeOf(app.as({ id: "ann" }).task).toExtend<Tasks>();
    expectTypeOf(createClient<App>({ baseUrl: "/api" }).task).toExtend<Tasks>();
  });

  it("accepts both with includes and selections", () => {
    const inProcess = app.as({ id: "ann" }).task.list({ include: ["owner"], select: ["title"] });
    const overHttp = createClient<App>({ baseUrl: "/api" }).task.list({ include: ["owner"], select: ["title"] });
    expectTypeOf(inProcess.then(({ data }) => data[0]?.owner?.name)).toEqualTypeOf(
      overHttp.then(({ data }) => data[0]?.owner?.name),
    );
    expectTypeOf<keyof Awaited<typeof inProcess>>().toEqualTypeOf<keyof Awaited<typeof overHttp>>();
  });

  it("differs in datetimes, which are text over HTTP", () => {
    expectTypeOf(
      app
        .as({ id: "ann" })
        .task.get("t1")
        .then(({ dueAt }) => dueAt),
    ).resolves.toEqualTypeOf<Date | null>();
    expectTypeOf(
      createClient<App>({ baseUrl: "/api" })
        .task.get("t1")
        .then(({ dueAt }) => dueAt),
    ).resolves.toEqualTypeOf<string | null>();
  });
});
