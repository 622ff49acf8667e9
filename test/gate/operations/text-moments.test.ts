import { describe, expect, it } from "vitest";
import { createPlugin, datetime, entity, keelson, type Row, string } from "../../../src/index.ts";
import { noopLogger } from "../../../src/kernel/index.ts";
import { SQL_DATABASES } from "../../support/sql-databases.ts";

const AT = "2024-05-31T12:00:00.120Z";

describe.each(SQL_DATABASES)("datetimes of records that become JSON, from %s,", (_name, open) => {
  /** What a hook reads from a record in between, and what the caller gets. */
  async function watched(phase: "operation:redact" | "operation:join", readable?: "everyone") {
    const database = await open();
    const found: unknown[] = [];
    const at = readable === undefined ? datetime : datetime.readable(readable);
    const event = entity("event", { name: string, at }).rules({ read: ["everyone"], create: ["everyone"] });
    const watch = createPlugin({
      id: "watch",
      setup({ hooks }) {
        const note = ({ records }: { readonly records: readonly Row[] }): void => void found.push(records[0]?.at);
        hooks.on(phase, note);
      },
    });
    const { driver } = database;
    const api = keelson({ entities: [event], driver, plugins: [watch], logger: noopLogger });
    const id = "e1";
    await api.asSystem().event.create({ id, name: "launch", at: new Date(AT) });
    found.length = 0;
    const answers: unknown[] = [];
    for (const url of ["/api/events", "/api/events/e1"]) {
      const { body } = await api.handle({ method: "GET", url, headers: {} });
      answers.push([JSON.parse(body as string)].flat()[0].at);
    }
    const inProcess = (await api.asSystem().event.get(id))?.at;
    await api.close();
    await database.drop();
    return { found: found.slice(0, 2), answers, inProcess };
  }

  it("are dates in hooks that read records", async () => {
    const { found, answers, inProcess } = await watched("operation:redact");
    expect(found).toEqual([new Date(AT), new Date(AT)]);
    expect(answers).toEqual([AT, AT]);
    expect(inProcess).toEqual(new Date(AT));
  });

  it("are texts in hooks that join records, and dates for in-process callers", async () => {
    const { found, answers, inProcess } = await watched("operation:join");
    expect(found).toEqual([AT, AT]);
    expect(answers).toEqual([AT, AT]);
    expect(inProcess).toEqual(new Date(AT));
  });

  it("are dates if the rule of a field has to read records", async () => {
    const { found, answers } = await watched("operation:join", "everyone");
    expect(found).toEqual([new Date(AT), new Date(AT)]);
    expect(answers).toEqual([AT, AT]);
  });
});
