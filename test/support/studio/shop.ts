import {
  action,
  archiveAction,
  belongsTo,
  bool,
  bulkDeleteAction,
  bulkUpdateAction,
  conflictError,
  countAction,
  datetime,
  decimal,
  entity,
  enums,
  exportAction,
  hasMany,
  importAction,
  int,
  json,
  keelson,
  manyToMany,
  memoryDriver,
  noopLogger,
  restoreAction,
  softDeleteAction,
  string,
  text,
  workflow,
} from "keelson";
import { audit } from "keelson/audit";
import { type StudioOptions, studio } from "keelson/studio";

const maker = entity("maker", {
  name: string.min(2).unique(),
  phone: string.optional().readable("admin").writable("admin"),
  products: hasMany(() => product),
}).rules({ read: ["everyone"], create: ["authenticated"], update: ["authenticated"], delete: ["admin"] });

const tag = entity("tag", { word: string.unique(), products: manyToMany(() => product) }).rules({
  read: ["everyone"],
  update: ["authenticated"],
});

const stock = workflow<{ readonly count: number }>("order-stock")
  .step(
    "reserve",
    ({ input }) => input.count,
    () => {},
  )
  .step("order", ({ input }) => {
    if (input.count > 10) throw conflictError("The maker has no more than ten");
    return { ordered: input.count };
  })
  .build();

const product = entity("product", {
  name: string.min(3).max(60),
  state: enums("draft", "sold", "gone").default("draft"),
  price: decimal(8, 2).optional(),
  weight: int.min(1).optional().describe("Grams"),
  about: text.optional(),
  facts: json.optional(),
  archived: bool.default(false),
  since: datetime.optional(),
  deletedAt: datetime.optional().readonly(),
  purchase: decimal(8, 2).optional().readable("admin").writable("admin"),
  secret: string.encrypted().readable("admin").writable("admin").optional(),
  internal: string.omit().optional(),
  maker: belongsTo(() => maker).optional(),
  tags: manyToMany(() => tag),
})
  .versioned()
  .softDelete()
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["authenticated"], delete: ["admin"] })
  .actions({
    archive: archiveAction,
    softDelete: softDeleteAction().rules("authenticated"),
    restore: restoreAction,
    bulkUpdate: bulkUpdateAction,
    bulkDelete: bulkDeleteAction,
    count: countAction,
    export: exportAction,
    import: importAction({ upsertBy: undefined }),
    rename: action()
      .onResource()
      .rules("authenticated")
      .input({ name: string.min(3) })
      .meta({ summary: "Gives it another name" })
      .handler(({ record, input, client, entity: own }) => client(own).update(record.id, { name: input.name })),
    touch: action()
      .onResource()
      .method("GET")
      .rules("authenticated")
      .handler(({ record, client, entity: own }) => client(own).update(record.id, { about: "touched" })),
    order: action()
      .rules("authenticated")
      .input({ count: int.min(1) })
      .output({ ordered: int })
      .workflow(stock),
  });

/** Records that no caller but the system may see. */
const vault = entity("vault", { code: string }).rules({ read: [] });

/** Canaries: values that an anonymous caller may never see, one per field. */
export const CANARIES = [
  "canary-phone",
  "991199.11",
  "canary-secret",
  "canary-internal",
  "canary-vault",
  "canary-deleted",
];

const PRODUCTS = Array.from({ length: 45 }, (_, index) => ({
  id: `p${index + 10}`,
  name: `Product ${index + 10}`,
  state: (["draft", "sold", "gone"] as const)[index % 3] ?? "draft",
  price: `${index + 1}.50`,
  weight: index + 1,
  about: index === 0 ? "An old lamp" : null,
  makerId: index % 2 === 0 ? "m1" : "m2",
  since: new Date(Date.UTC(2026, index % 6, 1)),
  purchase: "991199.11",
  secret: "canary-secret",
  internal: "canary-internal",
}));

/** Callers by their token, which is their id. */
export const people = new Map([
  ["ann", { id: "ann", role: "clerk" }],
  ["root", { id: "root", role: "admin" }],
]);

const entities = [maker, tag, product, vault] as const;
const OLD_KEY = "5a".repeat(32);

/** A shop with an example of everything that the studio shows. A caller's token is their name. */
export async function createShop(options: StudioOptions = {}, { production = false } = {}) {
  const driver = memoryDriver();
  // The first secrets were encrypted with an earlier key.
  const before = keelson({
    entities,
    driver,
    encryption: { key: OLD_KEY, keyId: "v1" },
    logger: noopLogger,
    plugins: [audit()],
  });
  await before.ready;
  await addRecords(before.asSystem());
  const api = keelson({
    entities,
    driver,
    production,
    encryption: { key: "6b".repeat(32), keyId: "v2", keys: [{ key: OLD_KEY, keyId: "v1" }] },
    logger: noopLogger,
    plugins: [
      audit({ read: ["admin"] }),
      studio({
        title: "Shop",
        charts: [{ entity: "product", group: "month(since)", measure: "sum=price" }],
        ...options,
      }),
    ],
    getUser: ({ headers }) => people.get(headers.get("authorization")?.replace("Bearer ", "") ?? "") ?? null,
  });
  await api.ready;
  return api;
}

async function addRecords(system: ReturnType<Shop["asSystem"]>): Promise<void> {
  await system.maker.create({ id: "m1", name: "Lumen", phone: "canary-phone" });
  await system.maker.create({ id: "m2", name: "Ferrum", phone: "canary-phone" });
  for (const word of ["new", "old", "rare"]) await system.tag.create({ id: word, word });
  for (const one of PRODUCTS) await system.product.create(one);
  await system.product.create({ id: "gone", name: "canary-deleted" });
  await system.product.softDelete("gone");
  await system.vault.create({ code: "canary-vault" });
}

export type Shop = Awaited<ReturnType<typeof createShop>>;
