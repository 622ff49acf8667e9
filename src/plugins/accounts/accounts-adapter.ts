import type { CleanedWhere, createAdapterFactory } from "better-auth/adapters";
import { type AnyEntity, withWords } from "../../entity/index.ts";
import type { Driver, Row, Where } from "../../gate/index.ts";

const OPERATORS = {
  eq: "eq",
  ne: "ne",
  lt: "lt",
  lte: "lte",
  gt: "gt",
  gte: "gte",
  in: "in",
  not_in: "nin",
  contains: "like",
  starts_with: "starts",
  ends_with: "ends",
} as const;

/** better-auth combines conditions with AND, and those with the connector OR with OR. */
function toWhere(conditions: readonly CleanedWhere[] = []): Where {
  const one = ({ field, operator = "eq", value }: CleanedWhere): Where => ({
    [field]: { [OPERATORS[operator]]: value },
  });
  const all = conditions.filter(({ connector }) => connector === "AND").map(one);
  const any = conditions.filter(({ connector }) => connector === "OR").map(one);
  return any.length === 0 ? { AND: all } : { AND: [...all, { OR: any }] };
}

interface Found {
  readonly model: string;
  readonly where: CleanedWhere[];
}

interface Listed {
  readonly model: string;
  readonly where?: CleanedWhere[] | undefined;
  readonly limit: number;
  readonly offset?: number | undefined;
  readonly sortBy?: { readonly field: string; readonly direction: "asc" | "desc" } | undefined;
}

/**
 * better-auth's database on a driver. Like every driver it works below the gate: better-auth decides who may do what.
 * @param entityOf the entity of a table, which provides defaults and timestamps of new rows
 */
export function accountsAdapter(
  create: typeof createAdapterFactory,
  driver: Driver,
  entityOf: (model: string) => AnyEntity | undefined,
): ReturnType<typeof createAdapterFactory> {
  const changed = (model: string, data: Row): Row => {
    const entity = entityOf(model);
    return entity === undefined ? data : withWords(entity, data); // the search plugin does not see this driver
  };
  return create({
    config: { adapterId: "keelson", supportsNumericIds: false, supportsJSON: false, supportsArrays: false },
    adapter: () => ({
      create: async <T extends Row>({ model, data }: { model: string; data: T }) =>
        (await driver.create(model, changed(model, complete(entityOf(model), data)))) as T,
      findOne: async <T>({ model, where }: Found) => (await driver.findOne(model, toWhere(where))) as T | null,
      findMany: async <T>({ model, where, limit, offset, sortBy }: Listed) =>
        (await driver.findMany(model, { where: toWhere(where), limit, offset, sort: sortBy && [sortBy] })) as T[],
      count: ({ model, where }) => driver.count(model, toWhere(where)),
      async update<T>({ model, where, update }: Found & { update: T }) {
        const found = await driver.findOne(model, toWhere(where));
        if (found === null) return null;
        const same = { AND: [{ id: found.id }, toWhere(where)] }; // only if the row still matches
        return (await driver.update(model, same, changed(model, update as Row))) as T | null;
      },
      updateMany: ({ model, where, update }) => driver.updateMany(model, toWhere(where), changed(model, update as Row)),
      async delete({ model, where }) {
        const found = await driver.findOne(model, toWhere(where));
        if (found !== null) await driver.delete(model, { id: found.id });
      },
      deleteMany: ({ model, where }) => driver.deleteMany(model, toWhere(where)),
    }),
  });
}

/** Completes a row with values that better-auth does not know: defaults of the app's own fields, and timestamps. */
function complete(entity: AnyEntity | undefined, data: Row): Row {
  const now = new Date();
  const added = Object.values(entity?.columns ?? {}).flatMap(({ name, role, field }): [string, unknown][] => {
    if (data[name] !== undefined) return [];
    if (role === "createdAt" || role === "updatedAt") return [[name, now]];
    if (field?.default === undefined) return [];
    return [[name, "value" in field.default ? structuredClone(field.default.value) : field.default.make()]];
  });
  return { ...data, ...Object.fromEntries(added) };
}
