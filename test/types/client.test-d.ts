import { describe, expectTypeOf, it } from "vitest";
import { type Client, createClient, type OverTheWire, type Sendable } from "../../src/client/index.ts";
import type { WorkflowRun } from "../../src/client/workflow-runs.ts";
import {
  action,
  bool,
  cloneAction,
  datetime,
  entity,
  exportAction,
  int,
  keelson,
  softDeleteAction,
  string,
  toggleAction,
} from "../../src/index.ts";
import type { RunReport } from "../../src/plugins/workflows/index.ts";
import { type Post, post, profile, tag, type User, user } from "./blog.ts";

const makeApp = () => keelson({ entities: [user, profile, post, tag] });
type App = ReturnType<typeof makeApp>;
const client = () => createClient<App>({ baseUrl: "/api" });

/** Records in their JSON form. */
type Texts<T> = { [K in keyof T]: Date extends T[K] ? string | Exclude<T[K], Date> : T[K] };

describe("the JSON type of a value", () => {
  it("has texts in place of datetimes, at any depth, and no other change", () => {
    expectTypeOf<OverTheWire<Date | null>>().toEqualTypeOf<string | null>();
    expectTypeOf<OverTheWire<{ a: Date; b?: { c: Date[] }; d: unknown; e: "x" | 1 }>>().toEqualTypeOf<{
      a: string;
      b?: { c: string[] };
      d: unknown;
      e: "x" | 1;
    }>();
    expectTypeOf<OverTheWire<void>>().toEqualTypeOf<void>();
    expectTypeOf<OverTheWire<unknown>>().toBeUnknown();
  });

  it("accepts the original type or the text", () => {
    expectTypeOf<Sendable<{ at: Date | null; n?: number }>>().toEqualTypeOf<{ at: Date | string | null; n?: number }>();
  });
});

describe("a client of an app", () => {
  it("has the entities of the app, and reports of runs", () => {
    expectTypeOf<keyof Client<App>>().toEqualTypeOf<"user" | "profile" | "post" | "tag" | "$runs" | "$batch">();
    expectTypeOf(client().$runs.get).returns.resolves.toEqualTypeOf<WorkflowRun>();
    // The server's report, without its internal members.
    expectTypeOf<OverTheWire<Pick<RunReport, "id" | "name" | "status" | "startedAt" | "updatedAt">>>().toEqualTypeOf<
      Pick<WorkflowRun, "id" | "name" | "status" | "startedAt" | "updatedAt">
    >();
    expectTypeOf<keyof RunReport>().toEqualTypeOf<keyof WorkflowRun | "userId" | "use">();
  });

  it("returns records with datetimes as text", () => {
    expectTypeOf(client().post.get("p1")).resolves.toEqualTypeOf<Texts<Post>>();
    expectTypeOf(client().post.create).returns.resolves.toEqualTypeOf<Texts<Post>>();
    expectTypeOf(client().post.update).returns.resolves.toEqualTypeOf<Texts<Post>>();
    expectTypeOf(client().post.list()).resolves.toEqualTypeOf<{
      readonly data: Texts<Post>[];
      readonly total: number;
      readonly nextCursor: string | null;
    }>();
    expectTypeOf(client().post.count()).resolves.toBeNumber();
    expectTypeOf(client().post.delete("p1")).resolves.toBeVoid();
  });

  it("returns included records and selected fields", () => {
    const page = client().post.list({ include: ["author"], select: ["title", "createdAt"] });
    expectTypeOf(page.then(({ data }) => data[0]?.author)).resolves.toEqualTypeOf<Texts<User> | null | undefined>();
    expectTypeOf(page.then(({ data }) => data[0]?.createdAt)).resolves.toEqualTypeOf<string | undefined>();
    // @ts-expect-error not selected
    void page.then(({ data }) => data[0]?.views);
    const records = client().post.all({ select: ["title"] });
    expectTypeOf(records.next()).resolves.toExtend<IteratorResult<{ id: string; title: string }, void>>();
    expectTypeOf(client().tag.pages().next()).resolves.toExtend<IteratorResult<{ id: string; name: string }[], void>>();
  });

  it("accepts datetimes as Date and as text", () => {
    void client().post.update("p1", { publishedAt: new Date() });
    void client().post.update("p1", { publishedAt: "2026-01-01T00:00:00Z" });
    void client().post.list({ where: { createdAt: { gte: new Date() }, publishedAt: ["2026-01-01T00:00:00Z"] } });
  });

  it("accepts the conditions of a query string", () => {
    void client().post.list({
      where: {
        title: { like: "node", starts: "a" },
        views: [1, 2],
        rating: null,
        published: true,
        meta: { null: true },
        author: { name: { like: "ann" }, createdAt: { lt: new Date() } },
        tags: { name: "x" },
      },
      sort: ["-createdAt", "title"],
      q: "text",
      after: "cursor",
    });
    void client().post.count({ author: { name: "ann" } });
  });

  it("accepts and, or, not and related records at any level", () => {
    void client().post.list({ where: { or: [{ title: "a" }, { author: { posts: { some: { title: "a" } } } }] } });
    void client().post.count({ not: { title: "a" }, rating: [1, null] });
    void client().post.list({ where: { author: { or: [] }, publishedAt: { in: [new Date(), null] } } });
    // @ts-expect-error a title is text
    void client().post.list({ where: { or: [{ title: 1 }] } });
    // @ts-expect-error a missing related record is expressed by its key
    void client().post.list({ where: { parent: null } });
  });

  it("refuses fields that do not exist, and those that callers never see", () => {
    // @ts-expect-error there is no such field
    void client().post.list({ where: { titel: "a" } });
    // @ts-expect-error omitted
    void client().user.list({ where: { apiToken: "t" } });
    // @ts-expect-error a password
    void client().user.count({ password: { ne: null } });
    // @ts-expect-error omitted there, too
    void client().post.list({ where: { author: { apiToken: "t" } } });
    // @ts-expect-error omitted
    void client().user.get("u1", { select: ["apiToken"] });
    // @ts-expect-error omitted
    void client().user.list({ sort: ["apiToken"] });
    const one = client().user.get("u1");
    // @ts-expect-error omitted
    void one.then(({ apiToken }) => apiToken);
    // @ts-expect-error there is no such entity
    void client().nope.list();
    // @ts-expect-error there is no such relation
    void client().post.list({ include: ["nope"] });
  });

  it("refuses operators and values of another type", () => {
    // @ts-expect-error numbers are not alike
    void client().post.list({ where: { views: { like: "1" } } });
    // @ts-expect-error a number
    void client().post.list({ where: { views: { gte: "1" } } });
    // @ts-expect-error true is not more than false
    void client().post.list({ where: { published: { gt: false } } });
    // @ts-expect-error a datetime
    void client().post.list({ where: { createdAt: { gt: 5 } } });
    // @ts-expect-error one of the words
    void client().user.list({ where: { role: "boss" } });
    // @ts-expect-error JSON is there or not
    void client().post.list({ where: { settings: { eq: "dark" } } });
    // @ts-expect-error a list takes a list
    void client().post.list({ where: { views: { in: 1 } } });
    // @ts-expect-error there is no such operator
    void client().post.list({ where: { title: { contains: "a" } } });
    // @ts-expect-error nor is there one of a related record
    void client().post.list({ where: { author: { name: { contains: "a" } } } });
    void client().post.list({ sort: ["author.name", "-author.name"] });
    // @ts-expect-error there is no such relation
    void client().post.list({ sort: ["nothing.name"] });
    // @ts-expect-error pages of an iteration are not numbered
    void client().post.all({ page: 2 });
  });

  it("refuses invalid input", () => {
    // @ts-expect-error a title is needed
    void client().post.create({ views: 1 });
    // @ts-expect-error readonly
    void client().post.update("p1", { slug: "x" });
    // @ts-expect-error a title is text
    void client().post.update("p1", { title: 5 });
    // @ts-expect-error there is no such field
    void client().post.update("p1", { titel: "x" });
    // @ts-expect-error a password is text
    void client().user.update("u1", { password: null });
    // @ts-expect-error ids are made by the server
    void client().tag.create({ id: "t1", name: "x" });
  });

  it("accepts routes of its entities only", () => {
    createClient<App>({ baseUrl: "/api", routes: { post: { path: "articles" } } });
    // As TypeScript types a JSON file.
    const actions = { publish: { method: "POST", path: "/:id/publish", query: [], filters: false } };
    const routes = { tag: { path: "tags" }, post: { path: "articles", actions } };
    createClient<App>({ baseUrl: "/api", routes });
    // @ts-expect-error there is no such entity
    createClient<App>({ baseUrl: "/api", routes: { nope: { path: "nopes" } } });
  });
});

describe("actions", () => {
  const makeJobs = () =>
    keelson({
      entities: [
        entity("job", { title: string, isDone: bool, deletedAt: datetime.optional() }).actions({
          softDelete: softDeleteAction,
          toggle: toggleAction("isDone"),
          clone: cloneAction(),
          export: exportAction,
          rename: action()
            .onResource()
            .input({ title: string, at: datetime })
            .handler(({ input }) => ({ was: input.title, at: input.at })),
          greet: action()
            .get()
            .query({ name: string.default("you"), n: int.optional() })
            .handler(({ query }) => query.name),
          silent: action().handler(async () => {}),
          plain: { handler: () => 1 },
          all: action().handler(() => 1),
        }),
      ],
    });
  const jobs = () => createClient<ReturnType<typeof makeJobs>>({ baseUrl: "/api" }).job;

  it("are methods with their arguments, and options", () => {
    expectTypeOf(jobs().softDelete("j1")).resolves.toEqualTypeOf<{ readonly success: true }>();
    expectTypeOf(jobs().toggle("j1", undefined, {})).resolves.toEqualTypeOf<{ readonly isDone: boolean }>();
    expectTypeOf(jobs().rename("j1", { title: "x", at: "2026-01-01T00:00:00Z" })).resolves.toEqualTypeOf<{
      was: string;
      at: string;
    }>();
    expectTypeOf(jobs().greet()).resolves.toBeString();
    expectTypeOf(jobs().greet({ n: 1 }, { headers: { a: "b" } })).resolves.toBeString();
    expectTypeOf(jobs().silent()).resolves.toBeVoid();
    expectTypeOf(jobs().plain("j1", 5)).resolves.toBeUnknown();
    void jobs().export({ sort: ["-title"] });
  });

  it("can be started", () => {
    const started = jobs().rename.start("j1", { title: "x", at: new Date() });
    expectTypeOf(started).resolves.toEqualTypeOf<
      | { readonly status: "running"; readonly runId: string }
      | { readonly status: "ended"; readonly result: { was: string; at: string } }
    >();
    // @ts-expect-error the id is missing
    void jobs().rename.start({ title: "x", at: new Date() });
  });

  it("refuse other arguments", () => {
    // @ts-expect-error the id is missing
    void jobs().softDelete();
    // @ts-expect-error the input is missing
    void jobs().rename("j1");
    // @ts-expect-error a datetime is not a number
    void jobs().rename("j1", { title: "x", at: 5 });
    // @ts-expect-error there is no such name
    void jobs().greet({ nam: "x" });
    // @ts-expect-error there is no such action
    void jobs().nothing();
  });

  it("do not replace the client's own methods", () => {
    expectTypeOf(jobs().all().next()).resolves.toExtend<IteratorResult<{ title: string }, void>>();
  });
});
