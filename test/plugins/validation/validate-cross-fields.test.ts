import { afterEach, describe, expect, it } from "vitest";
import { belongsTo, ConfigurationError, entity, int, string } from "../../../src/entity/index.ts";
import { tagRecord } from "../../../src/gate/index.ts";
import { consoleLogger, setLogger, validationError } from "../../../src/kernel/index.ts";
import { validateCrossFields } from "../../../src/plugins/validation/index.ts";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";

const account = entity("account", { name: string });
const span = entity("span", {
  from: int,
  to: int,
  cost: int.optional().readable("admin").writable("admin"),
  token: string.optional().omit(),
  secret: string.optional().password(),
  serial: string.optional().omit().readonly(),
  author: belongsTo(() => account).optional(),
});
const ordered = span.validate(({ from = 0, to = 0 }) => from <= to, "must not end before it begins", {
  fields: ["to", "from"],
});
const issue = (message: string, ...path: string[]) => ({ path, code: "custom", message });
const late = issue("must not end before it begins", "to");

afterEach(() => setLogger(consoleLogger));

describe("validateCrossFields", () => {
  it("resolves to the issues of failed validators, or to an empty list", async () => {
    const { validators } = ordered.build();
    expect(await validateCrossFields({ from: 1, to: 2 }, validators)).toEqual([]);
    const issues = await validateCrossFields({ from: 3, to: 2 }, [
      ...validators,
      { test: async () => false, message: "is late" },
      { test: () => 1, message: "is no answer", fields: ["from"] },
    ]);
    expect(issues).toEqual([late, issue("is late"), issue("is no answer", "from")]);
    expect(validationError(issues).errors).toEqual({
      to: "must not end before it begins",
      _: "is late",
      from: "is no answer",
    });
  });

  it("calls every validator of a list, each as an operation of its own", async () => {
    const seen: unknown[] = [];
    const note = (_: unknown, context: unknown) => seen.push(context) > 0;
    const { validators } = span
      .validate(note, "first")
      .validate(note, "second", { operations: ["update"] })
      .build();
    expect(await validateCrossFields({}, validators)).toEqual([]);
    expect(seen).toEqual([
      { operation: "create", user: null },
      { operation: "update", user: null },
    ]);
  });

  it("calls the entity's validators for the operation, and passes the user", async () => {
    const seen: unknown[] = [];
    const definition = span
      .validate((data, context) => seen.push({ ...data }, context) > 0, "is seen", { operations: ["update"] })
      .validate(() => false, "cannot be created", { operations: ["create"] });
    const user = { id: "ann" };
    expect(await validateCrossFields({ from: 1 }, definition, "create", { user })).toEqual([
      issue("cannot be created"),
    ]);
    expect(seen).toEqual([]);
    expect(await validateCrossFields({ to: 2 }, definition.build(), "update", { existing: { from: 1 }, user })).toEqual(
      [],
    );
    expect(seen).toEqual([
      { from: 1, to: 2 },
      { operation: "update", user },
    ]);
  });

  it("shows validators the stored record with the changes in it", async () => {
    const existing = { id: "s1", from: 1, to: 5 };
    expect(await validateCrossFields({ from: 6 }, ordered, "update", { existing })).toEqual([late]);
    expect(await validateCrossFields({ from: 6, to: 7 }, ordered, "update", { existing })).toEqual([]);
    expect(await validateCrossFields({ to: undefined }, ordered, "update", { existing })).toEqual([]);
    expect(existing).toEqual({ id: "s1", from: 1, to: 5 });
  });

  it("shows validators omitted fields of the stored record, and no stored password", async () => {
    const existing = tagRecord(span.build(), { id: "s1", from: 1, to: 2, token: "t", secret: "$hash$" });
    const seen: unknown[] = [];
    const spy = span.validate((data) => seen.push(Object.fromEntries(Object.entries(data))) > 0, "is seen");
    await validateCrossFields({ to: 3 }, spy, "update", { existing });
    await validateCrossFields({ secret: "new" }, spy, "update", { existing });
    expect(seen).toEqual([
      { id: "s1", from: 1, to: 3, token: "t" },
      { id: "s1", from: 1, to: 2, token: "t", secret: "new" },
    ]);
  });

  it("refuses an update without the stored record, and an unknown operation", async () => {
    await expect(validateCrossFields({ to: 3 }, ordered, "update")).rejects.toThrow(ConfigurationError);
    await expect(validateCrossFields({ to: 3 }, ordered, "update", { existing: null })).rejects.toThrow(/existing/);
    await expect(validateCrossFields({ to: 3 }, ordered, "delete" as never)).rejects.toThrow(ConfigurationError);
    await expect(validateCrossFields({ to: 3 }, ordered as never)).rejects.toThrow(ConfigurationError);
    await expect(validateCrossFields(null as never, ordered, "create")).rejects.toThrow(ConfigurationError);
  });

  it("counts a validator that throws, or changes the record, as failed, without a log", async () => {
    const log = recordingLogger();
    setLogger(log);
    const broken = span
      .validate(() => {
        throw new TypeError("value 47114711");
      }, "must not break")
      .validate((data) => {
        (data as { to: number }).to = 9;
        return true;
      }, "must not change");
    const data = { from: 1, to: 2 };
    expect(await validateCrossFields(data, broken, "create")).toEqual([
      issue("must not break"),
      issue("must not change"),
    ]);
    expect(data).toEqual({ from: 1, to: 2 });
    expect(log.lines).toHaveLength(2);
    expect(log.lines.join()).not.toContain("47114711");
  });

  it("does not name a guarded field that the data does not mention", async () => {
    const names = async (field: string, data: Record<string, unknown> = {}) => {
      const refusing = span.validate(() => false, "is refused", { fields: [field] });
      return (await validateCrossFields(data, refusing, "create")).map(({ path }) => path.join());
    };
    expect(await names("cost")).toEqual([""]);
    expect(await names("cost", { cost: 3 })).toEqual(["cost"]);
    expect(await names("serial")).toEqual([""]);
    expect(await names("from")).toEqual(["from"]);
    expect(await names("token")).toEqual(["token"]); // callers write it, so they know it
    expect(await names("authorId")).toEqual(["authorId"]);
    expect(await names("nothing")).toEqual([""]);
  });
});
