import type { ColumnDefinition, ColumnType, Provider } from "../../../entity/index.ts";
import { columnTypeOf, isScaled } from "../../sql/index.ts";

/** Prisma's type of a column, and the native type if it is not the provider's default. */
export function prismaTypeOf(
  {
    role,
    kind: { column },
  }: { readonly role: ColumnDefinition["role"]; readonly kind: Pick<ColumnDefinition["kind"], "column"> },
  provider: Provider,
): { type: string; native: string | undefined } {
  const { scalar, precision, scale } = column;
  const isSqlite = provider === "sqlite";
  switch (scalar) {
    case "List": {
      if (provider !== "postgresql") return { type: "Json", native: undefined };
      const item = prismaTypeOf({ role, kind: { column: column.items as ColumnType } }, provider);
      return { type: `${item.type}[]`, native: item.native };
    }
    case "Enum":
      return { type: isSqlite ? "String" : scalar, native: undefined };
    case "Decimal":
      if (isSqlite) return { type: isScaled(column) ? "BigInt" : "String", native: undefined };
      if (precision !== undefined) return { type: "Decimal", native: `Decimal(${precision}, ${scale})` };
      return provider === "mysql"
        ? { type: "String", native: columnTypeOf(column, provider).replace("varchar", "VarChar") }
        : { type: "Decimal", native: "Decimal" };
    case "BigInt":
      // SQLite generates numbers only in columns of type INTEGER, which hold 64 bits there; keys have the type of ids.
      return { type: isSqlite && (role === "id" || role === "foreignKey") ? "Int" : scalar, native: undefined };
    case "Date":
      return isSqlite ? { type: "String", native: undefined } : { type: "DateTime", native: "Date" };
    case "Time":
      return isSqlite ? { type: "String", native: undefined } : { type: "DateTime", native: "Time(3)" };
    case "Uuid":
      return { type: "String", native: { sqlite: undefined, postgresql: "Uuid", mysql: "Char(36)" }[provider] };
    case "Bytes":
      return { type: scalar, native: provider === "mysql" ? "LongBlob" : undefined };
    default:
      return { type: scalar, native: column.native?.[provider] };
  }
}

/** Whether MySQL can index only a prefix of a column. */
export function isLongText(column: ColumnDefinition | undefined): boolean {
  return column?.kind.column.native?.mysql?.endsWith("Text") === true;
}
