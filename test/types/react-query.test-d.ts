import { QueryClient, useInfiniteQuery, useMutation, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { describe, expectTypeOf, it } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { createQueries, type Queries } from "../../src/client/react-query/index.ts";
import { action, belongsTo, bool, datetime, entity, int, keelson, string } from "../../src/index.ts";

const person = entity("person", { name: string });
const task = entity("task", {
  title: string,
  points: int.default(1),
  isDone: bool.default(false),
  dueAt: datetime.optional(),
  owner: belongsTo(() => person),
}).actions({
  rename: action()
    .onResource()
    .input({ title: string })
    .handler(({ input }) => ({ was: input.title })),
  finish: action()
    .onResource()
    .handler(() => ({ done: true })),
  stats: action()
    .get()
    .query({ top: int.default(3) })
    .handler(() => ({ count: 1 })),
  clear: action().handler(() => ({ cleared: 2 })),
  invite: action()
    .input({ id: string })
    .handler(({ input }) => ({ id: input.id })),
});
const makeApp = () => keelson({ entities: [person, task] });
type App = ReturnType<typeof makeApp>;

const tasks = createQueries(createClient<App>({ baseUrl: "/api" }));

describe("queries of an app", () => {
  it("take the app's type from the client", () => {
    expectTypeOf(tasks).toEqualTypeOf<Queries<App>>();
    expectTypeOf<keyof typeof tasks>().toEqualTypeOf<"person" | "task" | "$runs">();
  });

  it("pass included records and selected fields to hooks", () => {
    const { data } = useQuery(tasks.task.list.queryOptions({ include: ["owner"], select: ["title", "dueAt"] }));
    expectTypeOf(data?.data[0]?.title).toEqualTypeOf<string | undefined>();
    expectTypeOf(data?.data[0]?.dueAt).toEqualTypeOf<string | null | undefined>();
    expectTypeOf(data?.data[0]?.owner?.name).toEqualTypeOf<string | undefined>();
    // @ts-expect-error the points were not selected
    data?.data[0]?.points;
    const one = useSuspenseQuery(tasks.task.get.queryOptions("t1"));
    expectTypeOf(one.data.points).toEqualTypeOf<number>();
    expectTypeOf(useQuery(tasks.task.count.queryOptions({ isDone: true })).data).toEqualTypeOf<number | undefined>();
    expectTypeOf(useQuery(tasks.task.stats.queryOptions({ top: 2 })).data).toEqualTypeOf<
      { count: number } | undefined
    >();
  });

  it("may be customised by the page, and keep their types", () => {
    const { data } = useQuery({
      ...tasks.task.list.queryOptions({ limit: 5 }),
      enabled: true,
      select: (page) => page.data.map(({ title }) => title),
    });
    expectTypeOf(data).toEqualTypeOf<string[] | undefined>();
  });

  it("return pages", () => {
    const { data } = useInfiniteQuery(tasks.task.list.infiniteQueryOptions({ limit: 10 }));
    expectTypeOf(data?.pages[0]?.data[0]?.title).toEqualTypeOf<string | undefined>();
    // @ts-expect-error pages are requested by cursor
    tasks.task.list.infiniteQueryOptions({ page: 2 });
  });

  it("type the cache by key", () => {
    const cache = new QueryClient();
    expectTypeOf(cache.getQueryData(tasks.task.get.queryOptions("t1").queryKey)?.title).toEqualTypeOf<
      string | undefined
    >();
  });

  it("refuse fields, relations and entities that do not exist", () => {
    // @ts-expect-error no such field
    tasks.task.list.queryOptions({ where: { headline: "x" } });
    // @ts-expect-error no such relation
    tasks.task.get.queryOptions("t1", { include: ["author"] });
    // @ts-expect-error no such entity
    tasks.note;
    // @ts-expect-error no such query
    tasks.task.stats.queryOptions({ bottom: 1 });
  });
});

describe("mutations of an app", () => {
  it("accept ids, data and inputs, and return records and outputs", () => {
    const create = useMutation(tasks.task.create.mutationOptions());
    expectTypeOf(create.mutateAsync({ data: { title: "x", ownerId: "ann" } })).resolves.toExtend<{ title: string }>();
    // @ts-expect-error the title is missing
    create.mutate({ data: { ownerId: "ann" } });
    const update = useMutation(tasks.task.update.mutationOptions());
    update.mutate({ id: "t1", data: { dueAt: new Date() }, options: { ifVersion: 3 } });
    const rename = useMutation(tasks.task.rename.mutationOptions());
    expectTypeOf(rename.mutateAsync({ id: "t1", input: { title: "y" } })).resolves.toEqualTypeOf<{ was: string }>();
    // @ts-expect-error the input is missing
    rename.mutate({ id: "t1" });
    useMutation(tasks.task.finish.mutationOptions()).mutate({ id: "t1" });
    useMutation(tasks.task.clear.mutationOptions()).mutate();
    useMutation(tasks.task.invite.mutationOptions()).mutate({ input: { id: "ann" } });
    useMutation(tasks.task.delete.mutationOptions()).mutate({ id: "t1" });
  });

  it("keep the types of a page's additions", () => {
    const options = tasks.task.update.mutationOptions({
      onMutate: ({ id }) => ({ before: id }),
      onError: (_error, _variables, result) => expectTypeOf(result?.before).toEqualTypeOf<string | undefined>(),
      onSuccess: (record) => expectTypeOf(record.title).toEqualTypeOf<string>(),
      invalidates: ["person"],
    });
    expectTypeOf(options.mutationFn).not.toBeAny();
  });
});
