import { describe, expectTypeOf, it } from "vitest";
import { type Client, createClient } from "../../src/client/index.ts";
import type { RelatedData } from "../../src/entity/index.ts";
import {
  belongsTo,
  datetime,
  type EntityOf,
  entity,
  hasMany,
  type InferCreateInput,
  type InferEntityData,
  type InferRecord,
  int,
  keelson,
  string,
} from "../../src/index.ts";

const person = entity("person", {
  name: string,
  salary: int.readable("admin").optional(),
  born: datetime.readable("owner"),
  pin: string.readable("admin").password(),
  tasks: hasMany(() => task),
})
  .ownedBy("id")
  .timestamps(false)
  .versioned();

const task = entity("task", { title: string, person: belongsTo(() => person) }).timestamps(false);

interface Stored {
  id: string;
  name: string;
  salary: number | null;
  born: Date;
  version: number;
}
interface Seen {
  id: string;
  name: string;
  salary?: number | null;
  born?: Date;
  version: number;
}
interface Sent {
  id: string;
  name: string;
  salary?: number | null;
  born?: string;
  version: number;
}
interface Task {
  id: string;
  title: string;
  personId: string;
}

const makeApp = () => keelson({ entities: [person, task] });
type App = ReturnType<typeof makeApp>;
declare const api: App;
declare const ann: { id: string };

describe("fields with .readable()", () => {
  it("are optional in records that callers read, and nowhere else", () => {
    expectTypeOf<InferRecord<typeof person>>().toEqualTypeOf<Seen>();
    expectTypeOf<EntityOf<App, "person">>().toEqualTypeOf<Seen>();
    expectTypeOf<App["$Infer"]["Entities"]["person"]>().toEqualTypeOf<Seen>();
    expectTypeOf<InferEntityData<typeof person>>().toEqualTypeOf<Stored>();
    expectTypeOf<keyof InferCreateInput<typeof person>>().toEqualTypeOf<"name" | "salary" | "born" | "pin">();
    expectTypeOf<InferCreateInput<typeof person>["born"]>().toEqualTypeOf<Date>();
  });

  it("are optional in the results of a caller's client", () => {
    const { person: people, task: tasks } = api.as(ann);
    expectTypeOf(people.get("p")).resolves.toEqualTypeOf<Seen>();
    expectTypeOf(people.list().then(({ data }) => data)).resolves.toEqualTypeOf<Seen[]>();
    expectTypeOf(people.create).returns.resolves.toEqualTypeOf<Seen>();
    expectTypeOf(people.update).returns.resolves.toEqualTypeOf<Seen>();
    expectTypeOf(people.get("p", { select: ["salary"] })).resolves.toEqualTypeOf<Pick<Seen, "id" | "salary">>();
    const withPerson = tasks.get("t", { include: ["person"] });
    expectTypeOf(withPerson.then((one) => one.person)).resolves.toEqualTypeOf<Seen | null>();
    // @ts-expect-error it may be absent
    void people.get("p").then(({ born }) => born.getTime());
  });

  it("are optional in the results of the HTTP client", () => {
    const { person: people, task: tasks }: Client<App> = createClient<App>({ baseUrl: "/api" });
    expectTypeOf(people.get("p")).resolves.toEqualTypeOf<Sent>();
    expectTypeOf(people.create).returns.resolves.toEqualTypeOf<Sent>();
    expectTypeOf(people.update).returns.resolves.toEqualTypeOf<Sent>();
    expectTypeOf(people.list().then(({ data }) => data)).resolves.toEqualTypeOf<Sent[]>();
    expectTypeOf(people.all().next()).resolves.toEqualTypeOf<IteratorResult<Sent, void>>();
    expectTypeOf(people.modify).returns.resolves.toEqualTypeOf<Sent>();
    void people.modify("p", (current) => {
      expectTypeOf(current).toEqualTypeOf<Sent>();
      return { name: "x" };
    });
    const withPerson = tasks.get("t", { include: ["person"] });
    expectTypeOf(withPerson.then((one) => one.person)).resolves.toEqualTypeOf<Sent | null>();
  });

  it("are always present for the system", () => {
    const { person: people, task: tasks } = api.asSystem();
    expectTypeOf(people.get("p")).resolves.toEqualTypeOf<Stored>();
    expectTypeOf(people.create).returns.resolves.toEqualTypeOf<Stored>();
    expectTypeOf(people.update).returns.resolves.toEqualTypeOf<Stored>();
    expectTypeOf(people.list().then(({ data }) => data)).resolves.toEqualTypeOf<Stored[]>();
    const withPerson = tasks.get("t", { include: ["person"] });
    expectTypeOf(withPerson.then((one) => one.person)).resolves.toEqualTypeOf<Stored | null>();
  });

  it("are optional in callers' included records, without effect on other entities", () => {
    expectTypeOf<RelatedData<typeof task, "person">>().toEqualTypeOf<Seen | null>();
    expectTypeOf<RelatedData<typeof task, "person", true>>().toEqualTypeOf<Stored | null>();
    expectTypeOf<RelatedData<typeof person, "tasks">>().toEqualTypeOf<Task[]>();
    expectTypeOf<EntityOf<App, "task">>().toEqualTypeOf<InferEntityData<typeof task>>();
  });

  it("may still be used in conditions", () => {
    void api.as(ann).person.list({ where: { salary: { gte: 1 } }, sort: ["-born"], select: ["born"] });
    void api.as(ann).task.count({ person: { salary: null } });
  });
});
