import { createRequire } from "node:module";
import { ConfigurationError, type Provider } from "../../entity/index.ts";
import type { DatabaseShape, Reference, TableColumn, TableIndex, TableShape } from "./database-shape.ts";

/** The part of Prisma's parsed schema that is used. */
interface Field {
  readonly name: string;
  readonly dbName?: string | null;
  readonly kind: "scalar" | "object" | "enum" | "unsupported";
  readonly type: string;
  readonly isList: boolean;
  readonly isRequired: boolean;
  readonly isUnique: boolean;
  readonly isId: boolean;
  readonly isUpdatedAt?: boolean;
  readonly nativeType?: readonly [string, readonly string[]] | null;
  readonly default?: unknown;
  readonly documentation?: string;
  readonly relationName?: string;
  readonly relationFromFields?: readonly string[];
  readonly relationToFields?: readonly string[];
  readonly relationOnDelete?: string;
}

interface Model {
  readonly name: string;
  readonly dbName: string | null;
  readonly schema: string | null;
  readonly documentation?: string;
  readonly fields: readonly Field[];
  readonly primaryKey: { readonly fields: readonly string[] } | null;
  readonly uniqueFields: readonly (readonly string[])[];
}

interface Datamodel {
  readonly models: readonly Model[];
  readonly enums: readonly {
    readonly name: string;
    readonly dbName?: string | null;
    readonly values: readonly { readonly name: string; readonly dbName: string | null }[];
  }[];
  readonly indexes: readonly {
    readonly model: string;
    readonly type: string;
    readonly dbName?: string;
    readonly fields: readonly { readonly name: string }[];
  }[];
}

const PROVIDERS: Readonly<Record<string, Provider>> = {
  postgresql: "postgresql",
  postgres: "postgresql",
  cockroachdb: "postgresql",
  mysql: "mysql",
  sqlite: "sqlite",
};

/** Reads the tables of a Prisma schema. @throws ConfigurationError for a schema that Prisma refuses */
export async function readPrismaSchema(text: string): Promise<DatabaseShape> {
  const said = /provider\s*=\s*"(\w+)"/.exec(/datasource\s+\w+\s*\{[^}]*\}/.exec(text)?.[0] ?? "")?.[1] ?? "postgresql";
  const provider = PROVIDERS[said];
  if (provider === undefined)
    throw new ConfigurationError(`The Prisma schema is for ${said}, which Keelson has no driver for`);
  const { models, enums, indexes } = await parse(text);
  const byName = new Map(models.map((model) => [model.name, model]));
  return {
    provider,
    enums: enums.map(({ name, dbName, values }) => ({
      name: dbName ?? name,
      words: values.map((value) => value.dbName ?? value.name),
    })),
    tables: [...models.map((model) => tableOf(model, byName, enums, indexes)), ...pairTables(models)],
  };
}

async function parse(text: string): Promise<Datamodel> {
  let getDMMF: (options: { datamodel: string }) => unknown;
  try {
    ({ getDMMF } = createRequire(import.meta.url)("@prisma/get-dmmf") as { getDMMF: typeof getDMMF });
  } catch (error) {
    throw new ConfigurationError("keelson import --prisma needs @prisma/get-dmmf. Run: npm i @prisma/get-dmmf", {
      cause: error,
    });
  }
  try {
    const parsed = (await getDMMF({ datamodel: text })) as { readonly datamodel?: Datamodel; readonly error?: Error };
    if (parsed.datamodel === undefined) throw parsed.error;
    return parsed.datamodel;
  } catch (error) {
    throw new ConfigurationError(`Prisma refuses the schema: ${reasonOf(error as Error)}`, { cause: error });
  }
}

/** The message of Prisma's report, which may be JSON. */
function reasonOf({ message }: Error): string {
  try {
    return (JSON.parse(message) as { readonly message: string }).message;
  } catch {
    return message;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  String: "text",
  Int: "integer",
  BigInt: "bigint",
  Float: "double precision",
  Decimal: "numeric(65,30)",
  Boolean: "boolean",
  DateTime: "timestamp(3)",
  Json: "jsonb",
  Bytes: "bytea",
};
/** Native types whose names differ from the database's. */
const NATIVE: Readonly<Record<string, string>> = {
  Uuid: "uuid",
  Date: "date",
  Time: "time",
  Timestamptz: "timestamp",
  Decimal: "numeric",
  SmallInt: "smallint",
};

function typeOf({ type, nativeType }: Field): string {
  if (nativeType === undefined || nativeType === null) return TYPES[type] ?? type;
  const [name, args] = nativeType;
  return `${NATIVE[name] ?? name.toLowerCase()}${args.length === 0 ? "" : `(${args.join(",")})`}`;
}

const stored = ({ name, dbName }: Field): string => dbName ?? name;

function storedNames({ fields }: Model, names: readonly string[]): string[] {
  return names.map((name) => stored(fields.find((field) => field.name === name) as Field));
}

function tableOf(
  model: Model,
  models: ReadonlyMap<string, Model>,
  enums: Datamodel["enums"],
  indexes: Datamodel["indexes"],
): TableShape {
  const columns = model.fields.filter(({ kind }) => kind !== "object");
  const id = columns.find(({ isId }) => isId);
  const named = (names: readonly string[], suffix: string): TableIndex => {
    const list = storedNames(model, names);
    return { name: `${model.dbName ?? model.name}_${list.join("_")}_${suffix}`, columns: list };
  };
  return {
    schema: model.schema ?? undefined,
    name: model.dbName ?? model.name,
    isView: false,
    comment: model.documentation,
    columns: columns.map((field) => columnOf(field, enums)),
    key: id !== undefined ? [stored(id)] : storedNames(model, model.primaryKey?.fields ?? []),
    uniques: [
      ...columns.filter(({ isUnique }) => isUnique).map(({ name }) => named([name], "key")),
      ...model.uniqueFields.map((names) => named(names, "key")),
    ],
    indexes: indexes
      .filter((index) => index.model === model.name && index.type === "normal")
      .map((index) =>
        named(
          index.fields.map(({ name }) => name),
          "idx",
        ),
      ),
    references: model.fields
      .filter(({ relationFromFields }) => (relationFromFields ?? []).length > 0)
      .map((field) => referenceOf(model, field, models.get(field.type) as Model)),
    others: [],
  };
}

/** Prisma's functions that generate ids in the app. */
const APP_MADE: ReadonlySet<string> = new Set(["cuid", "uuid", "ulid", "nanoid"]);

function columnOf(field: Field, enums: Datamodel["enums"]): TableColumn {
  const made = field.default as { readonly name?: string } | string | number | boolean | undefined;
  const call = typeof made === "object" ? made.name : undefined;
  const declared = field.kind === "enum" ? enums.find(({ name }) => name === field.type) : undefined;
  const isAppMade = call !== undefined && APP_MADE.has(call);
  const word = declared?.values.find(({ name }) => name === made)?.dbName ?? made;
  return {
    name: stored(field),
    type: declared === undefined ? typeOf(field) : "enum",
    isArray: field.isList,
    enum: declared === undefined ? undefined : (declared.dbName ?? declared.name),
    required: field.isRequired,
    default: made === undefined || isAppMade ? undefined : call === undefined ? literal(word) : `${call}()`,
    isAppMade,
    isCounted: call === "autoincrement",
    isComputed: false,
    comment: field.documentation,
  };
}

function literal(value: unknown): string {
  return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);
}

function referenceOf(model: Model, field: Field, target: Model): Reference {
  const actions: Readonly<Record<string, Reference["onDelete"]>> = { Cascade: "cascade", SetNull: "setNull" };
  const columns = storedNames(model, field.relationFromFields ?? []);
  return {
    name: `${model.dbName ?? model.name}_${columns.join("_")}_fkey`,
    columns,
    schema: target.schema ?? undefined,
    table: target.dbName ?? target.name,
    targets: storedNames(target, field.relationToFields ?? []),
    onDelete: actions[field.relationOnDelete ?? ""] ?? (field.isRequired ? "restrict" : "setNull"),
    others: [],
  };
}

/** The tables of relations that are lists on both sides, which a Prisma schema does not contain. */
function pairTables(models: readonly Model[]): TableShape[] {
  const sides = models.flatMap((model) =>
    model.fields
      .filter(
        ({ kind, isList, relationFromFields }) =>
          kind === "object" && isList && (relationFromFields ?? []).length === 0,
      )
      .map((field) => ({ model, field })),
  );
  const names = [...new Set(sides.map(({ field }) => field.relationName as string))];
  return names.flatMap((name) => {
    const own = sides.filter(({ field }) => field.relationName === name);
    if (own.length !== 2) return [];
    const [a, b] = own.map(({ model }) => model).sort((one, other) => (one.name < other.name ? -1 : 1)) as [
      Model,
      Model,
    ];
    const column = (letter: string, { fields }: Model): TableColumn => ({
      ...columnOf(fields.find(({ isId }) => isId) as Field, []),
      name: letter,
      required: true,
      default: undefined,
      isCounted: false,
    });
    const reference = (letter: string, target: Model): Reference => ({
      name: `_${name}_${letter}_fkey`,
      columns: [letter],
      schema: target.schema ?? undefined,
      table: target.dbName ?? target.name,
      targets: [stored(target.fields.find(({ isId }) => isId) as Field)],
      onDelete: "cascade",
      others: [],
    });
    return [
      {
        name: `_${name}`,
        isView: false,
        columns: [column("A", a), column("B", b)],
        key: ["A", "B"],
        uniques: [],
        indexes: [],
        references: [reference("A", a), reference("B", b)],
        others: [],
      },
    ];
  });
}
