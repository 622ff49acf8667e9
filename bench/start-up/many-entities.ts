import type * as Keelson from "keelson";

/**
 * Entities of ten members each, every one related to its two neighbours in a ring.
 * @param keelson What makes them, which may be a build of its own
 */
export function manyEntities(
  { belongsTo, bool, datetime, entity, enums, float, hasMany, int, json, string, text }: typeof Keelson,
  count: number,
): readonly Keelson.EntityLike[] {
  const entities: Keelson.EntityLike[] = [];
  const at = (index: number) => (): Keelson.EntityLike => entities[(index + count) % count] as Keelson.EntityLike;
  for (let index = 0; index < count; index++) {
    const fields = {
      title: string.trim().min(3).max(100),
      body: text.optional(),
      views: int.default(0).min(0),
      rating: float.optional(),
      open: bool.default(false),
      seenAt: datetime.optional(),
      status: enums("draft", "review", "done").default("draft"),
      meta: json.optional(),
    };
    const ring = { next: belongsTo(at(index + 1)).optional(), previous: hasMany(at(index - 1)) };
    const name = `item${index}`;
    const rules = { read: ["everyone"], create: ["everyone"] };
    const built = count < 3 ? entity(name, fields).rules(rules) : entity(name, { ...fields, ...ring }).rules(rules);
    entities.push(built as unknown as Keelson.EntityLike);
  }
  return entities;
}
