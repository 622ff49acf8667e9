import { kebabCase } from "../../kernel/index.ts";
import type { DatabaseShape } from "./database-shape.ts";
import { variableOf } from "./entity-names.ts";
import type { EntityPlan, ImportPlan } from "./import-plan.ts";
import { planEntities } from "./plan-entities.ts";

/** The generated files of a database, by name, and the objects that they omit. */
export interface ImportedFiles extends Pick<ImportPlan, "missing" | "counts"> {
  readonly files: ReadonlyMap<string, string>;
}

/** Writes the entities of a database as readable code: one file each, and one that lists them. */
export function printEntities(database: DatabaseShape): ImportedFiles {
  const { entities, missing, counts } = planEntities(database);
  const files = new Map(entities.map((plan) => [fileOf(plan.name), printEntity(plan)]));
  files.set("index.ts", printIndex(entities));
  return { files, missing, counts };
}

function fileOf(entity: string): string {
  const file = kebabCase(entity);
  return `${file === "index" ? "index-entity" : file}.ts`;
}

/** Maximum length of a line in characters. */
const WIDTH = 110;

function printEntity({ name, table, members, calls, constructors, related }: EntityPlan): string {
  const imports = [...constructors, "entity"].sort((a, b) => a.localeCompare(b));
  const oneLine = `import { ${imports.join(", ")} } from "keelson";`;
  const comment = table.comment?.replaceAll("*/", "* /").split(/\r?\n/);
  return [
    oneLine.length <= WIDTH ? oneLine : `import {\n${imports.map((one) => `  ${one},\n`).join("")}} from "keelson";`,
    ...[...related].sort().map((other) => `import { ${variableOf(other)} } from "./${fileOf(other)}";`),
    "",
    ...(comment === undefined
      ? []
      : [comment.length === 1 ? `/** ${comment[0]} */` : `/**\n${comment.map((line) => ` * ${line}\n`).join("")} */`]),
    `export const ${variableOf(name)} = entity(${JSON.stringify(name)}, {`,
    ...members.map((member) => `  ${member.name}: ${member.code},`),
    "})",
    ...calls.map((call) => `  .${call}`),
    '  // Denies everything: say who may do what, such as { read: ["authenticated"] }.',
    "  .rules({ create: [], read: [], update: [], delete: [] });",
    "",
  ].join("\n");
}

function printIndex(entities: readonly EntityPlan[]): string {
  const sorted = [...entities].sort((a, b) => (a.name < b.name ? -1 : 1));
  return [
    ...sorted.map(({ name }) => `import { ${variableOf(name)} } from "./${fileOf(name)}";`),
    "",
    "/** All entities of the database, for `defineConfig({ entities })`. */",
    "export const entities = [",
    ...sorted.map(({ name }) => `  ${variableOf(name)},`),
    "];",
    "",
  ].join("\n");
}
