import { belongsTo, type Driver, embedded, entity, importAction, int, postgres, string } from "../../../src/index.ts";

export const category = entity("category", { name: string }).rules({ read: ["everyone"] });

export const product = entity("product", {
  row: int,
  sku: string.upper().unique(),
  category: belongsTo(() => category),
})
  .timestamps(false)
  .rules({ read: ["everyone"], create: ["everyone"] })
  .actions({ import: importAction() });

/** @param target file or connection string */
export function productsDriver(kind: string, target: string): Driver {
  return kind === "sqlite" ? embedded({ file: target }) : postgres(target);
}
