import { describe, expect, it } from "vitest";
import type { AskField, FieldRules } from "../../../src/gate/index.ts";
import {
  ConfigurationError,
  entity,
  fieldSecurity,
  json,
  memoryDriver,
  type PasswordHasher,
  type Row,
  string,
  text,
  verifyPassword,
} from "../../../src/index.ts";
import { createFakeKernel } from "../../../src/testing/index.ts";

const KEY = "33".repeat(32);
const plain = entity("plain", { name: string });
const user = entity("user", { name: string.optional(), password: string.password({ cost: 1 }) });
const note = entity("note", { secret: text.encrypted() });
const ruled = entity("ruled", {
  title: string,
  forSome: string.readable("some").optional(),
  bySome: string.writable("some").optional(),
});

/** Rules with results set by a test, which record their arguments. */
function fieldRules(answer: Awaited<ReturnType<AskField>> | Promise<boolean>) {
  const asked: string[] = [];
  const service: FieldRules = {
    compile: (names, _entity, at) => (question) => {
      asked.push(`${at} ${names.join()} ${question.kind}`);
      return answer;
    },
  };
  return { asked, service };
}
const problemsOf = (error: unknown): readonly string[] => (error as ConfigurationError).problems;

describe("the plugin by itself", () => {
  it("provides services to protect fields in every app", async () => {
    const kernel = await createFakeKernel().withEntities(plain).use(fieldSecurity());
    expect(kernel.seen).toEqual({
      services: [],
      hooks: [],
      routes: [],
      requires: [],
      provides: ["encrypted", "field-rules", "omit", "password"],
      problems: [],
    });
    await kernel.close();
  });

  it("adds a hook and a service for passwords, and hooks for field rules", async () => {
    const { service } = fieldRules(true);
    const kernel = createFakeKernel().withEntities(user, ruled).given("rules.fields", service);
    await kernel.use(fieldSecurity());
    expect(kernel.seen.services).toEqual(["field-security.passwords"]);
    expect(kernel.seen.hooks).toEqual(["access:mask", "operation:protect", "operation:reveal", "operation:validate"]);
    await kernel.close();
  });

  it("reports a missing key and missing rules at start", async () => {
    const kernel = createFakeKernel().withEntities(note, ruled);
    const error = await kernel.use(fieldSecurity()).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(problemsOf(error)).toEqual([
      expect.stringMatching(/^note\.secret: \.encrypted\(\) needs a key/),
      expect.stringContaining("need the plugin rules, listed before field-security"),
    ]);
  });

  it("reports fields that cannot have a blind index", async () => {
    const odd = entity("odd", { data: json.encrypted({ searchable: true }) });
    const error = await createFakeKernel()
      .withEntities(odd)
      .use(fieldSecurity({ encryption: { key: KEY } }))
      .catch((caught: unknown) => caught);
    expect(problemsOf(error)).toEqual(["odd.data: such values cannot be compared; leave { searchable: true } out"]);
  });

  it("hashes what an operation stores", async () => {
    const driver = memoryDriver();
    const kernel = await createFakeKernel().withEntities(user).withDriver(driver).use(fieldSecurity());
    const data = { name: "n", password: "correct horse" };
    const { records, data: stored } = await kernel.operation({ kind: "create", entity: user, data });
    expect(data.password).toBe("correct horse");
    expect(stored.password).toBe(records[0]?.password);
    expect(await verifyPassword("correct horse", String(stored.password))).toBe(true);
    expect(JSON.stringify(records)).not.toContain("pbkdf2");
    const updated = await kernel.operation({
      kind: "update",
      entity: user,
      id: String(records[0]?.id),
      data: { name: "m" },
    });
    expect(updated.records[0]?.password).toBe(stored.password);
    await kernel.close();
  });

  it("encrypts what the driver stores, for operations and for handlers", async () => {
    const driver = memoryDriver();
    const kernel = createFakeKernel().withEntities(note).withDriver(driver);
    await kernel.use(fieldSecurity({ encryption: { key: KEY, bind: true } }));
    const { records } = await kernel.operation({ kind: "create", entity: note, data: { secret: "s" } });
    const id = String(records[0]?.id);
    expect(records[0]?.secret).toBe("s");
    expect((await driver.findOne(note, { id }))?.secret).toMatch(/^v1:/);
    const read = await kernel.scope().driver.findOne(note, { id });
    expect(read?.secret).toBe("s");
    await kernel.close();
  });

  it("refuses more passwords at once than its limit, and hashes them in turn", async () => {
    const kernel = createFakeKernel().withEntities(user).withDriver(memoryDriver());
    await kernel.use(fieldSecurity({ passwords: { concurrency: 1, queue: 1 } }));
    const create = () => kernel.operation({ kind: "create", entity: user, data: { password: "correct horse" } });
    const outcomes = await Promise.allSettled([create(), create(), create()]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect((outcomes[2] as PromiseRejectedResult).reason).toMatchObject({ status: 503 });
    expect((await create()).records).toHaveLength(1);
    await kernel.close();
  });

  it.each([
    ["yes", true],
    ["yes, later", Promise.resolve(true)],
  ])("shows and writes a field that its rules allow: %s", async (_, answer) => {
    const { service, asked } = fieldRules(answer);
    const kernel = createFakeKernel().withEntities(ruled).withDriver(memoryDriver()).given("rules.fields", service);
    await kernel.use(fieldSecurity());
    const data = { title: "t", forSome: "a", bySome: "b" };
    const { records, ignored, scope } = await kernel.operation({ kind: "create", entity: ruled, data });
    expect([records[0], ignored]).toMatchObject([data, []]);
    expect(scope.access.mask(ruled).readable.has("forSome")).toBe(true);
    expect(new Set(asked)).toEqual(
      new Set([
        "ruled.forSome.readable some read",
        "ruled.bySome.writable some create",
        "ruled.bySome.writable some update",
      ]),
    );
    await kernel.close();
  });

  it.each([
    ["no", false],
    ["no, later", Promise.resolve(false)],
  ])("removes a field that its rules deny from masks and writes: %s", async (_, answer) => {
    const kernel = createFakeKernel().withEntities(ruled).withDriver(memoryDriver());
    await kernel.given("rules.fields", fieldRules(answer).service).use(fieldSecurity());
    const data = { title: "t", forSome: "a", bySome: "b" };
    const { records, ignored, scope } = await kernel.operation({ kind: "create", entity: ruled, data });
    expect((records[0] as Row).bySome).toBeNull();
    expect(ignored).toEqual(["bySome"]);
    const { readable, filterable, sortable, writable } = scope.access.mask(ruled);
    expect([readable, filterable, sortable].map((set) => set.has("forSome"))).toEqual([false, false, false]);
    expect(writable.has("bySome")).toBe(false);
    await kernel.close();
  });

  it("keeps a field closed while its rules are pending", async () => {
    let answer: (value: boolean) => void = () => {};
    const waiting = new Promise<boolean>((resolve) => {
      answer = resolve;
    });
    const kernel = createFakeKernel().withEntities(ruled).withDriver(memoryDriver());
    await kernel.given("rules.fields", fieldRules(waiting).service).use(fieldSecurity());
    const scope = kernel.scope();
    expect(scope.access.mask(ruled).readable.has("forSome")).toBe(false);
    const ready = scope.access.maskReady(ruled);
    answer(true);
    await ready;
    expect(scope.access.mask(ruled).readable.has("forSome")).toBe(true);
    expect(scope.access.maskReady(ruled)).toBeUndefined();
    await kernel.close();
  });

  it("provides its hasher as a service", async () => {
    const kernel = await createFakeKernel().withEntities(user).withDriver(memoryDriver()).use(fieldSecurity());
    const hasher = kernel.scope().services.resolve<PasswordHasher>("field-security.passwords");
    expect(await hasher.verify("x", await hasher.hash("x", { cost: 1 }))).toBe(true);
    await kernel.close();
  });
});
