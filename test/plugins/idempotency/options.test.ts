import { entity, keelson, memoryDriver, noopLogger, string } from "keelson";
import { type IdempotencyOptions, idempotency } from "keelson/idempotency";
import { openapiDocument } from "keelson/openapi";
import { describe, expect, it } from "vitest";

const note = entity("note", { text: string }).rules({
  read: ["everyone"],
  create: ["everyone"],
  update: ["everyone"],
  delete: ["everyone"],
});

const boot = (keys: Parameters<typeof idempotency>[0], plugins: "all" | "no rules" = "all") =>
  keelson({
    entities: [note],
    driver: memoryDriver(),
    logger: noopLogger,
    plugins: (defaults) =>
      (plugins === "all" ? defaults : defaults.without("rules").without("crud")).with(idempotency(keys)),
  });

interface Parameter {
  readonly $ref?: string;
  readonly name?: string;
  readonly required?: boolean;
}

/** Whether an app's document says that an operation requires a key. */
async function requiresKey(api: ReturnType<typeof boot>, path: string, method: string): Promise<boolean> {
  const { paths, components } = (await openapiDocument(api)) as unknown as {
    readonly paths: Record<string, Record<string, { readonly parameters?: readonly Parameter[] }>>;
    readonly components: { readonly parameters?: Record<string, Parameter> };
  };
  const parameters = (paths[path]?.[method]?.parameters ?? []).map((given) =>
    given.$ref === undefined ? given : components.parameters?.[given.$ref.split("/").at(-1) as string],
  );
  const header = parameters.find((parameter) => parameter?.name === "Idempotency-Key");
  expect(header).toBeDefined();
  return header?.required === true;
}

describe("idempotency()", () => {
  it.each(["ttlMs", "answerBytes", "leaseMs"])("refuses a %s below 1", (name) => {
    for (const value of [0, -1, 1.5, Number.NaN])
      expect(() => idempotency({ [name]: value })).toThrow(`idempotency: ${name} must be a whole number from 1`);
  });

  it("accepts all of its options", async () => {
    const all: Required<IdempotencyOptions> = {
      required: true,
      withoutTransaction: ["note.create"],
      guestOf: () => "guest",
      encrypted: false,
      ttlMs: 60_000,
      answerBytes: 1_000,
      transactions: 3,
      leaseMs: 1_000,
    };
    const api = boot(all);
    await api.ready;
    await api.close();
  });

  it.each(["required", "withoutTransaction"])("refuses a name in %s that no route has", async (name) => {
    const api = boot({ [name]: ["note.creat"] });
    await expect(api.ready).rejects.toThrow(
      `idempotency: ${name} has "note.creat", and no route is called so. Did you mean "note.create"?`,
    );
    await api.close();
  });

  it("accepts methods, actions of entities, and all", async () => {
    for (const required of [["POST", "note.update"], true] as const) {
      const api = boot({ required });
      await api.ready;
      expect(await requiresKey(api, "/api/notes", "post")).toBe(true);
      expect(await requiresKey(api, "/api/notes/{id}", "patch")).toBe(true);
      expect(await requiresKey(api, "/api/notes/{id}", "delete")).toBe(required === true);
      await api.close();
    }
  });

  it("does not start without rules", () => {
    expect(() => boot({}, "no rules")).toThrow(/idempotency.*requires.*rules/);
  });

  it("documents which requests accept a key, and their responses", async () => {
    const api = boot({});
    await api.ready;
    const { paths } = await openapiDocument(api);
    const { get, post } = paths["/api/notes"] as unknown as Readonly<Record<string, { readonly responses: object }>>;
    expect(JSON.stringify(get)).not.toContain("Idempotency");
    expect(Object.keys(post?.responses ?? {})).toEqual(expect.arrayContaining(["201", "409", "422"]));
    expect(JSON.stringify(post)).toContain("Idempotency-Key");
    await api.close();
  });
});
