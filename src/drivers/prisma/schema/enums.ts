import { type AnyEntity, type ColumnDefinition, ConfigurationError } from "../../../entity/index.ts";

/** An enum of a Prisma schema, which is a type in PostgreSQL. */
export interface PrintedEnum {
  readonly name: string;
  readonly words: readonly string[];
}

/** The name of a native enum's type. */
export function enumTypeOf({ name }: AnyEntity, column: ColumnDefinition): string {
  return (column.kind.column.items ?? column.kind.column).type ?? `${name}_${column.name}`;
}

/** The native enums of entities. @throws ConfigurationError when one name is used for different values */
export function enumsOf(entities: readonly AnyEntity[]): readonly PrintedEnum[] {
  const found = new Map<string, readonly string[]>();
  for (const entity of entities)
    for (const column of Object.values(entity.columns)) {
      const { words } = column.kind.column.items ?? column.kind.column;
      if (words === undefined) continue;
      const name = enumTypeOf(entity, column);
      const known = found.get(name);
      if (known !== undefined && known.join() !== words.join())
        throw new ConfigurationError(
          `${entity.name}.${column.name}: the enum "${name}" has other words elsewhere; give one of the two another name: .native("…")`,
        );
      found.set(name, words);
    }
  return [...found].map(([name, words]) => ({ name, words }));
}

/** Names that a Prisma schema accepts; other names are mapped. */
const IDENTIFIER = /^[A-Za-z]\w*$/;

/** The names of enum values and types in a Prisma schema. */
export function prismaNames(words: readonly string[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set(words.filter((word) => IDENTIFIER.test(word)));
  for (const word of words) {
    let name = word;
    if (!IDENTIFIER.test(word)) {
      const plain = `x${word.replaceAll(/\W/g, "_")}`;
      name = plain;
      for (let number = 2; taken.has(name); number++) name = `${plain}_${number}`;
      taken.add(name);
    }
    names.set(word, name);
  }
  return names;
}

/** Prints the block of an enum in a Prisma schema. */
export function printEnum({ name, words }: PrintedEnum): string {
  const called = prismaEnumName(name);
  const width = Math.max(...[...prismaNames(words).values()].map(({ length }) => length));
  const lines = [...prismaNames(words)].map(([word, own]) =>
    word === own ? `  ${own}` : `  ${own.padEnd(width)} @map(${JSON.stringify(word)})`,
  );
  return `enum ${called} {\n${lines.join("\n")}\n${called === name ? "" : `\n  @@map(${JSON.stringify(name)})\n`}}\n`;
}

/** The name of an enum in a Prisma schema. */
export function prismaEnumName(name: string): string {
  return prismaNames([name]).get(name) as string;
}
