import {
  type AnyEntity,
  type ColumnDefinition,
  ConfigurationError,
  type EntityModel,
  type ResolvedRelation,
} from "../../entity/index.ts";
import {
  BadRequestError,
  ConflictError,
  DatabaseError,
  EntityNotFoundError,
  NotStoredError,
} from "../../kernel/index.ts";
import { compileWhere } from "../condition/compile-where.ts";
import {
  and,
  type Condition,
  compare,
  type EntityRef,
  isAlways,
  not,
  type Row,
  soleId,
  type Where,
} from "../condition/condition.ts";
import type {
  CreateOptions,
  Driver,
  DriverCapabilities,
  DriverContext,
  DriverPort,
  DriverSchema,
  FindManyQuery,
  FindOptions,
  LinkOptions,
  TransactionOptions,
} from "./driver-port.ts";
import { streamByKeyset } from "./keyset.ts";
import type { Execute, Pair } from "./statement.ts";

/**
 * Makes a driver from a port: adds the methods that code calls.
 * @param model the entities it serves @default those that it is connected with
 */
export function defineDriver(port: DriverPort, model?: () => EntityModel): Driver {
  return new PortDriver(port, model);
}

class PortDriver implements Driver {
  readonly execute: Execute;
  readonly #port: DriverPort;
  readonly #givenModel: (() => EntityModel) | undefined;
  #connectedModel: EntityModel | undefined;

  constructor(port: DriverPort, model?: () => EntityModel) {
    this.#port = port;
    this.#givenModel = model;
    this.execute = (statement) => port.execute(statement);
  }

  get name(): string {
    return this.#port.name;
  }
  get capabilities(): DriverCapabilities {
    return this.#port.capabilities;
  }
  get schema(): DriverSchema | undefined {
    return this.#port.schema;
  }
  get model(): EntityModel {
    const model = this.#givenModel?.() ?? this.#connectedModel;
    if (model !== undefined) return model;
    throw new ConfigurationError(`the ${this.name} driver is not connected; start the app first (await api.ready)`);
  }

  async connect(context: DriverContext): Promise<void> {
    await this.#port.connect(context);
    this.#connectedModel = context?.model;
  }
  disconnect(): Promise<void> {
    return this.#port.disconnect();
  }
  ping(): Promise<void> {
    return this.#port.ping();
  }

  async findOne(ref: EntityRef, where: Where, { select, lock }: FindOptions = {}): Promise<Row | null> {
    const entity = this.#find(ref);
    const condition = this.#compile(entity, where);
    if (lock && isAlways(not(condition))) return null; // not a valid id
    if (lock && soleId(condition) === undefined)
      throw new BadRequestError(`where on ${entity.name}: locking a record takes its id`);
    const rows = await this.#port.execute({ kind: "find", entity, where: condition, select, lock, limit: 1 });
    return rows[0] ?? null;
  }

  async findMany(ref: EntityRef, { where, select, sort, limit, offset }: FindManyQuery = {}): Promise<Row[]> {
    const entity = this.#find(ref);
    const condition = this.#compile(entity, where);
    return this.#port.execute({ kind: "find", entity, where: condition, select, sort, limit, offset });
  }

  async count(ref: EntityRef, where?: Where): Promise<number> {
    const entity = this.#find(ref);
    return this.#port.execute({ kind: "count", entity, where: this.#compile(entity, where) });
  }

  async create(ref: EntityRef, data: Row, { where }: CreateOptions = {}): Promise<Row> {
    const entity = this.#writable(ref);
    const condition = where && this.#compile(entity, where);
    const insert = { kind: "insert", entity, rows: [data], where: condition, returning: true } as const;
    const [row] = (await this.#port.execute(insert)).rows;
    if (row === undefined) throw new NotStoredError();
    return row;
  }

  async createMany(ref: EntityRef, rows: readonly Row[]): Promise<number> {
    const entity = this.#writable(ref);
    return (await this.#port.execute({ kind: "insert", entity, rows })).count;
  }

  async update(ref: EntityRef, where: Where, data: Row): Promise<Row | null> {
    const entity = this.#writable(ref);
    let condition: Condition | undefined = this.#compile(entity, where);
    let given = data;
    let id = soleId(condition);
    // When the id is given, nothing is awaited before the statement, so statements of a transaction keep the order of
    // the calls.
    if (id === undefined) {
      given = { ...data };
      condition = await this.#ofOne(entity, condition);
      if (condition === undefined) return null;
      id = soleId(condition);
    }
    const changes = withoutId(entity, given, id);
    const update = { kind: "update", entity, where: condition, data: changes, returning: true } as const;
    return (await this.#port.execute(update)).rows[0] ?? null;
  }

  async updateMany(ref: EntityRef, where: Where, data: Row): Promise<number> {
    const entity = this.#writable(ref);
    const condition = this.#ofSome(entity, where);
    const changes = withoutId(entity, data, undefined);
    return (await this.#port.execute({ kind: "update", entity, where: condition, data: changes })).count;
  }

  async delete(ref: EntityRef, where: Where): Promise<boolean> {
    const entity = this.#writable(ref);
    let condition: Condition | undefined = this.#compile(entity, where);
    if (soleId(condition) === undefined) condition = await this.#ofOne(entity, condition);
    return (
      condition !== undefined && (await this.#port.execute({ kind: "delete", entity, where: condition })).count > 0
    );
  }

  async deleteMany(ref: EntityRef, where: Where): Promise<number> {
    const entity = this.#writable(ref);
    return (await this.#port.execute({ kind: "delete", entity, where: this.#ofSome(entity, where) })).count;
  }

  async *stream(ref: EntityRef, { where, ...query }: FindManyQuery = {}, batchSize?: number): AsyncIterable<Row[]> {
    const entity = this.#find(ref);
    const find = { ...query, kind: "find", entity, where: this.#compile(entity, where) } as const;
    yield* streamByKeyset(this.#port.execute, find, batchSize);
  }

  async links(
    ref: EntityRef,
    relation: string,
    ids: readonly string[],
    { where, limit }: LinkOptions = {},
  ): Promise<Pair[]> {
    const pairs = this.#pairsOf(ref, relation);
    const condition = this.#compile(pairs.target, where);
    return this.#port.execute({ kind: "pairs", relation: pairs, ids, where: condition, limit });
  }

  async link(ref: EntityRef, relation: string, id: string, targets: readonly string[]): Promise<void> {
    const pairs = this.#pairsOf(ref, relation);
    await this.#port.execute({ kind: "link", relation: pairs, id, targets: [...new Set(targets)] });
  }

  async unlink(ref: EntityRef, relation: string, id: string, targets: readonly string[]): Promise<void> {
    const pairs = this.#pairsOf(ref, relation);
    await this.#port.execute({ kind: "unlink", relation: pairs, id, targets: [...new Set(targets)] });
  }

  /** @throws DatabaseError for a read-only entity */
  #writable(ref: EntityRef): AnyEntity {
    const entity = this.#find(ref);
    if (entity.readOnly) throw new DatabaseError(`${entity.name} is read-only`);
    return entity;
  }

  transaction<T>(work: (driver: Driver) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.#port.transaction((execute) => work(this.#inside(execute)), options);
  }

  /** The driver of a transaction; inner transactions join it. */
  #inside(execute: Execute): Driver {
    const { name, capabilities } = this.#port;
    const idle = async (): Promise<void> => {};
    const port: DriverPort = {
      name,
      capabilities,
      connect: idle,
      disconnect: idle,
      ping: idle,
      execute,
      transaction: (work) => work(execute),
    };
    return new PortDriver(port, () => this.model);
  }

  /**
   * The app's own definition, by name: a builder makes a new definition on every `build()`.
   * @throws EntityNotFoundError
   */
  #find(ref: EntityRef): AnyEntity {
    return foundEntity(ref, this.model.get(entityName(ref)));
  }

  #compile(entity: AnyEntity, where: Where | undefined): Condition {
    return compileWhere(this.model, entity, where);
  }

  /**
   * Adds the id to the condition of a change to one record, for code that identifies the record by other columns.
   * @returns undefined when no record matches
   * @throws ConfigurationError for an empty condition, ConflictError when several records match
   */
  async #ofOne(entity: AnyEntity, condition: Condition): Promise<Condition | undefined> {
    if (isAlways(condition))
      throw new ConfigurationError(
        `A change of one record of ${entity.name} needs conditions that say which, such as { id }`,
      );
    const find = { kind: "find", entity, where: condition, select: ["id"], limit: 2 } as const;
    const [first, second] = await this.#port.execute(find);
    if (second !== undefined)
      throw new ConflictError(
        `Several records of ${entity.name} match; use updateMany or deleteMany to change all of them`,
      );
    return first && and([compare(entity.columns.id as ColumnDefinition, "eq", first.id), condition]);
  }

  /** @throws BadRequestError for a condition that holds for every record */
  #ofSome(entity: AnyEntity, where: Where): Condition {
    const condition = this.#compile(entity, where);
    if (isAlways(condition))
      throw new BadRequestError(`where on ${entity.name}: changing several records takes a condition`);
    return condition;
  }

  /** @throws BadRequestError for anything but a manyToMany relation */
  #pairsOf(ref: EntityRef, name: string): ResolvedRelation {
    const entity = this.#find(ref);
    const relation = this.model.relation(entity, name);
    if (relation?.type !== "manyToMany")
      throw new BadRequestError(`${entity.name}.${name} is not a manyToMany relation`);
    return relation;
  }
}

/**
 * Removes the id from changes. An undefined id counts as absent.
 * @throws DatabaseError for a different id
 */
function withoutId({ name }: AnyEntity, data: Row, own: string | undefined): Row {
  if (!("id" in data)) return data;
  const { id, ...changes } = data;
  if (id !== undefined && id !== own) throw new DatabaseError(`the id of ${name} cannot change`);
  return changes;
}

/** The name of an entity. */
export function entityName(entity: EntityRef): string {
  if (typeof entity === "string") return entity;
  return "name" in entity ? entity.name : entity.build().name;
}

/** @throws EntityNotFoundError when nothing was found */
export function foundEntity<T>(entity: EntityRef, found: T | undefined): T {
  if (found === undefined) throw new EntityNotFoundError(`There is no entity "${entityName(entity)}"`);
  return found;
}
