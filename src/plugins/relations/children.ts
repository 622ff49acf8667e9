import type { AnyEntity, ResolvedRelation } from "../../entity/index.ts";
import {
  allOf,
  findsRecord,
  inOrderOfIds,
  type Operation,
  type OperationInput,
  type OperationScope,
  type Where,
} from "../../gate/index.ts";
import { ConflictError, EntityNotFoundError, RecordChangedError } from "../../kernel/index.ts";
import { idText, type NestedWrite, readCondition, wrong } from "./nested-input.ts";
import { at, type ByKey, findNested, type Path, runNested } from "./run-nested.ts";

type Data = Readonly<Record<string, unknown>>;

/** The records of one relation that refer to one parent record. */
export class Children {
  readonly #operation: Operation;
  readonly #relation: ResolvedRelation;
  readonly #key: string;
  readonly #parent: string;

  constructor(operation: Operation, relation: ResolvedRelation, parent: string) {
    this.#operation = operation;
    this.#relation = relation;
    this.#key = relation.foreignKey as string;
    this.#parent = parent;
  }

  async write(verb: NestedWrite["verb"], item: unknown, path: Path): Promise<void> {
    const { many } = this.#relation;
    switch (verb) {
      case "create":
        return this.#create(item as Data, path);
      case "connect":
        await this.#connect(item, path);
        return;
      case "connectOrCreate":
        return this.#connectOrCreate(item as ByKey, path);
      case "upsert":
        return this.#upsert(item as { readonly where: Data; readonly create: Data; readonly update: Data }, path);
      default: {
        const { id: given, ...changes } =
          many && verb === "update" ? (item as Data) : { ...(item as object), id: item };
        const id = many ? idText(this.#relation.target, given) : await this.#only(path);
        if (verb === "delete") return this.#own({ kind: "delete", id }, path);
        const data = verb === "disconnect" ? { [this.#key]: null } : many ? changes : (item as Data);
        return this.#own({ kind: "update", id, data }, path);
      }
    }
  }

  async set(items: readonly unknown[]): Promise<void> {
    const { name, target } = this.#relation;
    const indexes = new Map(items.map((item, index) => [idText(target, item), index]));
    const present = new Set(await this.#find({}, this.#operation.scope.app.limits.bulk, [name, "set"]));
    for (const id of inOrderOfIds(target, [...new Set([...present, ...indexes.keys()])], (one) => one)) {
      const index = indexes.get(id);
      if (index === undefined) await this.#own({ kind: "update", id, data: { [this.#key]: null } }, [name, "set"]);
      else if (!present.has(id)) await this.#connect(id, [name, "set", index]);
    }
  }

  async #create(data: Data, path: Path, needed: readonly string[] = []): Promise<void> {
    this.#refuseKey(data, path);
    await this.#run({ kind: "create", data: { ...data, [this.#key]: this.#parent }, idOnly: true }, path, needed);
  }

  /** @returns whether the record met the condition */
  async #connect(item: unknown, path: Path, when?: Where): Promise<boolean> {
    const id = idText(this.#relation.target, item);
    return (await this.#run({ kind: "update", id, data: { [this.#key]: this.#parent }, when }, path)).applied;
  }

  async #connectOrCreate(byKey: ByKey, path: Path): Promise<void> {
    const found = await findNested(this.#operation, path, this.#relation.target, byKey);
    if (found === undefined) await this.#create(byKey.create, [...path, "create"], Object.keys(byKey.where));
    else if (!(await this.#connect(found.id, path, found.where))) throw new RecordChangedError();
  }

  async #upsert({ where: given, create, update }: { where: Data; create: Data; update: Data }, path: Path) {
    const where = readCondition(this.#operation.scope.app.model, this.#relation.target, given);
    const found = await this.#find(where, 1, [...path, "where"]);
    const [id] = found;
    if (id === undefined) return this.#create(create, [...path, "create"]);
    return this.#own({ kind: "update", id, data: update }, [...path, "update"], where);
  }

  /** Ids of the children that the caller may read. */
  async #find(where: Data, most: number, path: Path): Promise<readonly string[]> {
    const query = { where: allOf({ [this.#key]: this.#parent }, where), select: ["id"], limit: most + 1 };
    const { records } = await runNested(this.#operation, path, { kind: "list", entity: this.#relation.target, query });
    if (records.length > most) throw at(path, new ConflictError(`There are more than ${most} such records`));
    return records.map(({ id }) => String(id));
  }

  /** The id of the only child of a hasOne relation. */
  async #only(path: Path): Promise<string> {
    const [id] = await this.#find({}, 1, path);
    if (id === undefined) throw at(path, new EntityNotFoundError());
    return id;
  }

  /**
   * Changes a child, if it refers to this parent and the caller may read it: the response reveals that it does.
   * @param where what the caller also asks of the child; checked like each query of theirs, with the child locked
   */
  async #own(input: Omit<OperationInput, "entity">, path: Path, where?: Data): Promise<void> {
    const { target } = this.#relation;
    if (input.data !== undefined) this.#refuseKey(input.data as Data, path);
    const { scope } = this.#operation;
    const isSystem = scope.principal.kind === "system";
    const when = { [this.#key]: this.#parent };
    if (!isSystem || where !== undefined) {
      const query = { where: allOf(when, where), select: ["id"] };
      const isFound = (): Promise<boolean> => findsRecord(scope, { kind: "read", entity: target, id: input.id, query });
      const isConcurrent = scope.driver.capabilities.concurrentTransactions;
      const mayWait = isConcurrent && (where !== undefined || (await mayEnd(scope, target)));
      if (mayWait && (await isFound())) await lock(scope, target, input);
      if (!(await isFound()))
        throw where === undefined ? at(path, new EntityNotFoundError()) : new RecordChangedError();
    }
    const { applied } = await this.#run({ ...input, when }, path);
    if (!applied) throw isSystem ? at(path, new EntityNotFoundError()) : new RecordChangedError();
  }

  /** A child moves to another parent by a nested write of that parent. */
  #refuseKey(data: Data, path: Path): void {
    const given = data[this.#key] ?? null;
    if (given !== null && idText(this.#operation.entity, given) !== this.#parent)
      throw wrong([...path, this.#key], "is the id of the record around it");
  }

  #run(input: Omit<OperationInput, "entity">, path: Path, needed: readonly string[] = []): Promise<Operation> {
    const isLinked = input.data !== undefined && Object.hasOwn(input.data, this.#key);
    const { target } = this.#relation;
    return runNested(this.#operation, path, { ...input, entity: target }, isLinked ? [...needed, this.#key] : needed);
  }
}

/** Whether the right to read a record may end while a write waits for it. */
async function mayEnd({ access }: OperationScope, entity: AnyEntity): Promise<boolean> {
  const { allowed, predicate, guard } = await access.readDecision(entity);
  return !allowed || predicate !== undefined || guard !== undefined; // not allowed: rules that look at each record
}

async function lock(
  { driver }: OperationScope,
  entity: AnyEntity,
  { id, kind }: Omit<OperationInput, "entity">,
): Promise<void> {
  if (id === undefined) return;
  await driver.findOne(entity, { id }, { select: ["id"], lock: kind === "delete" ? "delete" : true });
}
