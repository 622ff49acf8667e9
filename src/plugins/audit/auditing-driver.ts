import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import {
  allOf,
  BadRequestError,
  compileWhere,
  type Driver,
  type EntityRef,
  entityName,
  isAlways,
  overlayDriver,
  type Row,
  soleId,
  type Where,
} from "../../kernel/index.ts";
import { followDeletion } from "./follow-deletion.ts";
import { type Actor, keepEntries } from "./keep-entries.ts";
import { recordChange } from "./record-change.ts";

/** Rows of one statement. */
const PAGE = 500;

/** What entries are made of. */
export interface Auditing {
  readonly model: EntityModel;
  readonly audited: ReadonlySet<AnyEntity>;
  readonly actor: Actor;
}

/**
 * A driver for handlers, hooks and rules that keeps what is written past operations: each write and its entries are one
 * transaction. Statements on several records become one for each, because what each of them replaces is to be known.
 */
export function auditingDriver(inner: Driver, auditing: Auditing): Driver {
  const { model, audited, actor } = auditing;

  function auditedEntity(ref: EntityRef): AnyEntity | undefined {
    const entity = model.get(entityName(ref));
    return entity !== undefined && audited.has(entity) ? entity : undefined;
  }
  async function change(driver: Driver, entity: AnyEntity, where: Where, data: Row): Promise<Row | null> {
    const id = soleId(compileWhere(model, entity, where));
    const before = await driver.update(entity, where, { id });
    if (before === null) return null;
    const old = { ...before };
    const after = await driver.update(entity, where, data);
    await keepEntries(driver, actor, recordChange("update", entity, old, after));
    return after;
  }
  async function remove(driver: Driver, entity: AnyEntity, where: Where): Promise<boolean> {
    const id = soleId(compileWhere(model, entity, where));
    const before = await driver.update(entity, where, { id });
    if (before === null) return false;
    await followDeletion({ model, audited, driver, actor }, entity, before.id as string);
    await keepEntries(driver, actor, recordChange("delete", entity, before, null));
    return driver.delete(entity, where);
  }
  async function each(
    entity: AnyEntity,
    where: Where,
    write: (driver: Driver, own: Where) => Promise<boolean>,
  ): Promise<number> {
    if (isAlways(compileWhere(model, entity, where)))
      throw new BadRequestError(`where on ${entity.name}: changing several records takes a condition`);
    return inner.transaction(async (driver) => {
      let count = 0;
      for (let after: Where | undefined; ; ) {
        const rows = await driver.findMany(entity, { where: allOf(where, after), select: ["id"], limit: PAGE });
        for (const { id } of rows) if (await write(driver, allOf({ id }, where))) count += 1;
        if (rows.length < PAGE) return count;
        after = { id: { gt: rows.at(-1)?.id } };
      }
    });
  }
  /** Pairs that were not there, or were: of the side that writes them. */
  async function pairs(
    operation: "link" | "unlink",
    ref: EntityRef,
    relation: string,
    id: string,
    targets: readonly string[],
  ): Promise<void> {
    const entity = auditedEntity(ref);
    if (entity === undefined) return inner[operation](ref, relation, id, targets);
    await inner.transaction(async (driver) => {
      await driver.update(entity, { id }, { id }); // others who write its pairs wait
      const there = new Set((await driver.links(entity, relation, [id])).map(({ target }) => target));
      await driver[operation](entity, relation, id, targets);
      const moved = [...new Set(targets)].filter((target) => there.has(target) === (operation === "unlink"));
      if (moved.length === 0) return;
      const side = { [relation]: moved };
      const [before, after] = operation === "link" ? [null, side] : [side, null];
      const made = { changed: [relation], before, after };
      await keepEntries(driver, actor, [{ operation, entity: entity.name, recordId: id, change: made }]);
    });
  }

  return overlayDriver(inner, {
    async create(ref, data, options) {
      const entity = auditedEntity(ref);
      if (entity === undefined) return inner.create(ref, data, options);
      return inner.transaction(async (driver) => {
        const row = await driver.create(entity, data, options);
        await keepEntries(driver, actor, recordChange("create", entity, null, row));
        return row;
      });
    },
    async createMany(ref, rows) {
      const entity = auditedEntity(ref);
      if (entity === undefined) return inner.createMany(ref, rows);
      return inner.transaction(async (driver) => {
        const count = await driver.createMany(entity, rows);
        for (let start = 0; start < rows.length; start += PAGE) {
          const made = rows.slice(start, start + PAGE);
          const changes = made.flatMap((row) => recordChange("create", entity, null, row));
          await keepEntries(driver, actor, changes);
        }
        return count;
      });
    },
    async update(ref, where, data) {
      const entity = auditedEntity(ref);
      const isWrite = Object.keys(data).some((name) => name !== "id");
      if (entity === undefined || !isWrite) return inner.update(ref, where, data);
      return inner.transaction((driver) => change(driver, entity, where, data));
    },
    async updateMany(ref, where, data) {
      const entity = auditedEntity(ref);
      if (entity === undefined) return inner.updateMany(ref, where, data);
      return each(entity, where, async (driver, own) => (await change(driver, entity, own, data)) !== null);
    },
    async delete(ref, where) {
      const entity = auditedEntity(ref);
      if (entity === undefined) return inner.delete(ref, where);
      return inner.transaction((driver) => remove(driver, entity, where));
    },
    async deleteMany(ref, where) {
      const entity = auditedEntity(ref);
      if (entity === undefined) return inner.deleteMany(ref, where);
      return each(entity, where, (driver, own) => remove(driver, entity, own));
    },
    link: (...given) => pairs("link", ...given),
    unlink: (...given) => pairs("unlink", ...given),
    transaction: (work, options) => inner.transaction((driver) => work(auditingDriver(driver, auditing)), options),
  });
}
