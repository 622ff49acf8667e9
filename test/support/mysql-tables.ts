import { getDMMF } from "@prisma/get-dmmf";

// Prisma's schema engine in WebAssembly does not support MySQL, and its command downloads an engine. The statements for a
// printed schema are few, so they are generated here from Prisma's own parsing of that schema.

type Datamodel = Extract<ReturnType<typeof getDMMF>, { readonly datamodel: unknown }>["datamodel"];
type Model = Datamodel["models"][number];
type Field = Model["fields"][number];

const TYPES: Readonly<Record<string, string>> = {
  String: "VARCHAR(191)",
  Int: "INT",
  Float: "DOUBLE",
  Boolean: "BOOLEAN",
  DateTime: "DATETIME(3)",
  Json: "JSON",
  BigInt: "BIGINT",
  Bytes: "LONGBLOB",
};

const named = (name: string): string => `\`${name}\``;
const list = (names: readonly string[]): string => names.map(named).join(", ");
const quoted = (value: unknown): string => `'${String(value).replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;

type Enums = Datamodel["enums"];

function typeOf({ type, nativeType, kind }: Field, enums: Enums = []): string {
  if (kind === "enum") return `ENUM(${wordsOf(enums, type).map(quoted).join(", ")})`;
  if (nativeType === null || nativeType === undefined) return TYPES[type] as string;
  const [name, args] = nativeType;
  return args.length === 0 ? name : `${name}(${args.join(", ")})`;
}

/** The values of an enum, and Prisma's names for them. */
function wordsOf(enums: Enums, type: string, by?: unknown): readonly string[] {
  const values = enums.find(({ name }) => name === type)?.values ?? [];
  return values.filter(({ name }) => by === undefined || name === by).map(({ name, dbName }) => dbName ?? name);
}

function defaultOf({ type, kind, default: value }: Field, enums: Enums): string {
  if (kind === "enum" && value !== undefined) return ` DEFAULT ${wordsOf(enums, type, value).map(quoted)}`;
  if (value === undefined) return "";
  if (typeof value === "object" && "name" in value && value.name === "autoincrement") return " AUTO_INCREMENT";
  if (typeof value === "object" && "name" in value && value.name === "dbgenerated")
    return ` DEFAULT ${(value as { readonly args: readonly string[] }).args[0]}`;
  if (typeof value === "object") return " DEFAULT CURRENT_TIMESTAMP(3)";
  if (type === "DateTime")
    return ` DEFAULT ${quoted(new Date(String(value)).toISOString().replace("T", " ").slice(0, 23))}`;
  return ` DEFAULT ${type === "String" ? quoted(value) : String(value)}`;
}

const ACTIONS: Readonly<Record<string, string>> = { Cascade: "CASCADE", SetNull: "SET NULL", NoAction: "NO ACTION" };

function foreignKey(table: string, column: string, target: string, action: string): string {
  return `ALTER TABLE ${named(table)} ADD CONSTRAINT ${named(`${table}_${column}_fkey`)} FOREIGN KEY (${named(column)})
    REFERENCES ${named(target)} (\`id\`) ON DELETE ${action} ON UPDATE CASCADE`;
}

function modelStatements(
  { name, fields, uniqueIndexes, primaryKey }: Model,
  { indexes, enums }: Datamodel,
  collation: string,
): string[] {
  const columns = fields.filter(({ kind }) => kind !== "object");
  const unique = [
    ...columns.filter(({ isUnique }) => isUnique).map((column) => [column.name]),
    ...uniqueIndexes.map((index) => index.fields),
  ];
  const plain = indexes.filter(({ model, type }) => model === name && type === "normal").map((index) => index.fields);
  const lines = [
    ...columns.map(
      (column) =>
        `${named(column.name)} ${typeOf(column, enums)} ${column.isRequired ? "NOT NULL" : "NULL"}${defaultOf(column, enums)}`,
    ),
    ...unique.map(
      (columnNames) => `UNIQUE INDEX ${named(`${name}_${columnNames.join("_")}_key`)} (${list(columnNames)})`,
    ),
    ...plain.map(
      (parts) =>
        `INDEX ${named(`${name}_${parts.map((part) => part.name).join("_")}_idx`)} (${parts
          .map((part) => `${named(part.name)}${"length" in part && part.length ? `(${part.length})` : ""}`)
          .join(", ")})`,
    ),
    `PRIMARY KEY (${list(primaryKey?.fields ?? ["id"])})`,
  ];
  return [`CREATE TABLE ${named(name)} (${lines.join(", ")}) DEFAULT CHARACTER SET utf8mb4 COLLATE ${collation}`];
}

function keyStatements({ name, fields }: Model): string[] {
  return fields
    .filter(({ relationFromFields }) => (relationFromFields ?? []).length > 0)
    .map((field) =>
      foreignKey(
        name,
        field.relationFromFields?.[0] as string,
        field.type,
        ACTIONS[field.relationOnDelete ?? ""] as string,
      ),
    );
}

/** Join tables: Prisma creates one for each relation that is a list on both sides. */
function linkStatements({ models }: Datamodel, collation: string): string[] {
  const sides = models.flatMap(({ name, fields }) =>
    fields.filter(({ kind, isList }) => kind === "object" && isList).map((field) => ({ model: name, field })),
  );
  const seen = new Set<string>();
  const idType = (of: string): string =>
    typeOf(models.find(({ name }) => name === of)?.fields.find(({ isId }) => isId) as Field);
  return sides.flatMap(({ model, field }) => {
    const relation = field.relationName as string;
    const others = sides.filter((side) => side.field.relationName === relation);
    if (others.length < 2 || seen.has(relation)) return [];
    seen.add(relation);
    const table = `_${relation}`;
    const [a, b] = [model, field.type].sort() as [string, string];
    return [
      `CREATE TABLE ${named(table)} (\`A\` ${idType(a)} NOT NULL, \`B\` ${idType(b)} NOT NULL,
        UNIQUE INDEX ${named(`${table}_AB_unique`)} (\`A\`, \`B\`), INDEX ${named(`${table}_B_index`)} (\`B\`))
        DEFAULT CHARACTER SET utf8mb4 COLLATE ${collation}`,
      foreignKey(table, "A", a, "CASCADE"),
      foreignKey(table, "B", b, "CASCADE"),
    ];
  });
}

/**
 * The statements that create the tables of a printed schema in MySQL or MariaDB.
 * @param collation The collation of text @default "utf8mb4_nopad_bin"
 */
export function mysqlTables(schema: string, collation = "utf8mb4_nopad_bin"): readonly string[] {
  const parsed = getDMMF({ datamodel: [["schema.prisma", schema]] });
  if ("error" in parsed) throw parsed.error;
  const { datamodel } = parsed;
  return [
    ...datamodel.models.flatMap((model) => modelStatements(model, datamodel, collation)),
    ...datamodel.models.flatMap(keyStatements),
    ...linkStatements(datamodel, collation),
  ];
}
