/** Where the generated file finds what it imports. */
export interface Doors {
  readonly entity: string;
  readonly keelson: string;
  /** Where clients come from; with it, each entity is used over HTTP too. @default no clients */
  readonly client?: string | undefined;
}

const TYPES = ["InferAll", "InferCreateInput", "InferEntityData", "InferUpdateInput", "RelatedData"];
const VALUES = [
  "belongsTo",
  "bool",
  "datetime",
  "entity",
  "enums",
  "float",
  "hasMany",
  "int",
  "json",
  "string",
  "text",
];

function definition(index: number, count: number): string {
  const next = `e${(index + 1) % count}`;
  const previous = `e${(index + count - 1) % count}`;
  return `export const e${index} = entity("e${index}", {
  title: string.trim().min(3).max(100),
  body: text.optional(),
  views: int.default(0).min(0),
  rating: float.optional(),
  open: bool.default(false),
  seenAt: datetime.optional(),
  status: enums("draft", "review", "done").default("draft"),
  meta: json.optional(),
  next: belongsTo(() => ${next}),
  previous: hasMany(() => ${previous}),
}).ownedBy("next").rules({ read: ["everyone"], update: ["owner"] });
`;
}

/** What a page does with one entity: the same over HTTP. */
function usesOverHttp(index: number): string {
  const name = `e${index}`;
  return `export const sent${index} = () => client.${name}.create(input${index});
export const found${index} = () => client.${name}.list({ where: { views: { gte: 1 }, next: { title: { like: "x" } } }, include: ["next", "previous"] }).then(({ data }) => data[0]?.next?.createdAt.slice(0, 4));
`;
}

/** What an app does with one entity: reads it, writes it, follows its relations, by type and through the client. */
function uses(index: number): string {
  const name = `e${index}`;
  return `export const input${index}: InferCreateInput<typeof ${name}> = { title: "x" };
export const change${index}: InferUpdateInput<typeof ${name}> = { views: 1 };
export const show${index} = (data: InferEntityData<typeof ${name}>): string | null => data.body ?? data.nextId;
export const next${index} = (data: RelatedData<typeof ${name}, "next">): string | undefined => data?.title;
export const previous${index} = (data: RelatedData<typeof ${name}, "previous">): string[] => data.map(({ id }) => id);
export const stored${index}: All["Entities"]["${name}"] | undefined = undefined;
export const created${index} = () => api.asSystem().${name}.create(input${index});
export const listed${index} = () => api.asSystem().${name}.list({ include: ["next", "previous"] }).then(({ data }) => data[0]?.next?.title);
`;
}

/**
 * The source of an app with many entities of ten members each, every one related to its two neighbours in a ring, so that
 * the type of each leads to all others.
 * @param count Number of entities; with 0 only the imports are left, for knowing what those cost.
 */
export function generateSource(count: number, doors: Doors): string {
  const indexes = Array.from({ length: count }, (_, index) => index);
  const list = indexes.map((index) => `e${index}`).join(", ");
  return [
    `import { ${VALUES.join(", ")}, ${TYPES.map((name) => `type ${name}`).join(", ")} } from ${JSON.stringify(doors.entity)};`,
    `import { keelson } from ${JSON.stringify(doors.keelson)};`,
    ...(doors.client === undefined ? [] : [`import { createClient } from ${JSON.stringify(doors.client)};`]),
    ...indexes.map((index) => definition(index, count)),
    ...(count === 0
      ? []
      : [
          `export const entities = [${list}] as const;`,
          "export type All = InferAll<typeof entities>;",
          'export const names: All["EntityNames"][] = [];',
          `export const api = keelson({ entities: [${list}] });`,
        ]),
    ...indexes.map(uses),
    ...(doors.client === undefined || count === 0
      ? []
      : ['export const client = createClient<typeof api>({ baseUrl: "/api" });', ...indexes.map(usesOverHttp)]),
  ].join("\n");
}
